"""How the time of each command grows with the network: ``python -m scripts.scale``."""
