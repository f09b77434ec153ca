"""Layers that are computed some rows at a time, with line buffers between them.

A tensor between two of these layers never exists as a whole. Its last rows are in a line buffer,
from which the next layer takes its windows, and nothing is computed twice. This room has only
geometry, without passes, kernels or C. The schedule search, the emitted code and tests use it.

- ``windows``: on which rows of an input a row of a result depends (receptive field, stride, halo).
- ``geometry``: how many rows each layer computes in each step, and what the line buffers hold.
- ``tiles``: the nodes that kernels compute in one step.
- ``overlap``: how far before an input the output must begin to take the input's bytes (its lag).

``compiler/schedule/certificate.py`` and ``row_demand.py`` bound RAM independently: they must not
import this.
"""
