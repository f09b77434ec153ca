"""Detection of objects and sampling of images."""
