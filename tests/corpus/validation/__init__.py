"""Programs that were held out until rules had been learned from `train_2`."""
