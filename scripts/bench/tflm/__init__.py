"""TensorFlow Lite Micro with CMSIS-NN as firmware, to measure it in QEMU: built here from its
sources, because its package is for the host only."""
