"""Kernels for nn.conv2d_transpose_hybrid."""

from microgen.kernels import hybrid

OP_NAME = "nn.conv2d_transpose_hybrid"
IMPLEMENTATIONS = (
    hybrid.kernel("mg_conv2d_transpose_hybrid_f32", hybrid.window_params, hybrid.image_bytes),
)
