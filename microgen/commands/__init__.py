"""The commands, one module each: arguments in, one call of the API, a result to print."""
