"""The screens: `main` with the panes; boxes over it with text (`box`) or a choice (`choice`)."""
