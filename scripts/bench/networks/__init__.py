"""Networks with random weights, as .tflite files, that ``python -m scripts.bench other`` measures.

Each is a row of ``table.ROWS``: a builder, its sizes, and a kind. Their shapes are no published
ones, so that kernels which were tuned for other networks cannot have been tuned for these.
"""
