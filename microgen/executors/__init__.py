"""What runs a program on the board: the graph executor's description of it. The ahead-of-time
executor needs none: its runner is C (``microgen/emit/runner.py``)."""
