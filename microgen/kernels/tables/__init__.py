"""Functions by table."""
