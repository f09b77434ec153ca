"""The interfaces for users: the Python API, and the command line with its reports."""
