"""What users call: the Python API and the command line, with the reports that it prints."""
