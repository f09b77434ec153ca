"""Loops and branches: graphs inside of nodes, which become graphs of their own, recurrent layers,
or nodes in the place of the node."""
