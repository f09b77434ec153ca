"""The arithmetic of quantization, bit for bit as the kernels compute it."""
