"""The commands, one module each: they parse arguments, call the API once, and print the result."""
