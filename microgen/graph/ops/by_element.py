"""The ops whose results have an element for each element of their inputs."""

from __future__ import annotations

BY_ELEMENT = (
    *("add", "clip", "maximum", "minimum", "multiply", "nn.leaky_relu", "nn.prelu"),
    *("qnn.requantize", "subtract"),
)
"""These compute each channel by itself, too. Functions that are tables are not among them."""
