"""How the times of microgen's commands grow with a network: ``python -m scripts.scale``."""
