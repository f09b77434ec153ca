"""Dense layers and products of matrices."""
