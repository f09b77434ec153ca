"""Measures what kernels cost: layers of many shapes, each computed by the kernel asked for."""
