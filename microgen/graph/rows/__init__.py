"""Layers that are computed some rows at a time, with line buffers between them.

A tensor between two of these layers never exists as a whole. Its last rows are in a line buffer,
from which the next layer takes its windows, and nothing is computed twice. Nothing here knows
passes, kernels or C: this is geometry, which the search, the code of such functions, and tests use.

- ``windows``: on which rows of an input a row of a result depends (receptive field, stride, halo).
- ``geometry``: how many rows each layer computes in each step, and what the line buffers hold.
- ``tiles``: the nodes that kernels compute in one step.
- ``overlap``: how far before an input the output must begin to take the input's bytes (its lag).

``compiler/schedule/certificate.py`` and ``row_demand.py`` bound RAM independently: they must not
import this.
"""
