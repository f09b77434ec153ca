"""Loops (WHILE): their subgraphs as graphs, the number of rounds, and bodies that are recurrent
cells.
"""
