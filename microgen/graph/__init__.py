"""A network as data: the typed graph, the semantics of its ops, and the arithmetic of quantized
numbers.
"""
