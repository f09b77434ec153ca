"""Relay: the graph language of TVM as data, as text, and as a Python builder."""
