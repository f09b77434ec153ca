"""Scales, zero points and stored integers, as importers read them and add them to the graph.

Importers see floats: QuantizeLinear and DequantizeLinear are nodes, and what is between them is
computed in float32. When the graph is complete, ``graph/qdq`` makes integers of it.
"""
