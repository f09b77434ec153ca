"""Rolling rows: nodes that follow one another are computed a few rows at a time.

A tensor between two of them never exists whole. Its last rows are in a buffer, from which the next
node takes its windows, and nothing is computed twice. ``windows`` says which rows of an input a row
of a result depends on, ``geometry`` how many rows each node computes in each step and what the
buffers must hold, ``bands`` makes the nodes that kernels compute in one step, and ``lags`` says how
far before an input the output must begin to take the input's bytes.
"""
