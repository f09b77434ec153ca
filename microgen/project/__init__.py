"""The files that are generated: the model's C, the firmware project around it, components."""
