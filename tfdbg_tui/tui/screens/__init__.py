"""The screens: `main` with the panes, and boxes over it with text (`box`) or a choice (`choice`)."""
