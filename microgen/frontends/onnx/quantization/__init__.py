"""Quantized networks: what DequantizeLinear, an operator and QuantizeLinear say together becomes a
node of integers.

Importers see floats: QuantizeLinear and DequantizeLinear are nodes, and what is between them is
computed in float32. ``recognised`` then replaces what it finds by nodes that compute the stored
integers, under the numerics profile ``onnx``.
"""
