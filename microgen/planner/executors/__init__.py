"""Descriptions of a program for executors on the board. Only the graph executor needs one: the
ahead-of-time executor's runner is C (``microgen/project/emit/runner.py``)."""
