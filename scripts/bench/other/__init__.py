"""``python -m scripts.bench other``: networks that nobody tuned for, next to TensorFlow Lite Micro
with CMSIS-NN."""
