"""A network as data: the typed graph, what its ops mean, and the arithmetic of quantized
numbers."""
