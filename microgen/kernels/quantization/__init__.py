"""Changes of scale, zero point and dtype."""
