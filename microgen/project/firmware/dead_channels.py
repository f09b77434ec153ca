"""The computations that a firmware saves because of dead channels, for people and programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from microgen.base.manifest import ModuleRecord

_MIXING = ("nn.conv2d", "nn.dense")  # other ops have the channels of their inputs


@dataclass(frozen=True, slots=True)
class Saved:
    """The channels of convolutions and dense layers that one model's firmware does not compute, and
    the weights and the products of an inference that all layers do not need."""

    channels: int
    weights: int
    products: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for the console, or none if nothing is saved."""
        if not (self.channels or self.weights):
            return ()
        return (
            f"dead channels: {self.channels:,} removed, which saves {self.weights:,} weights and "
            f"{self.products:,} products in each inference",
        )


def saved(module: ModuleRecord) -> Saved:
    """The savings of one model."""
    every = module.dead_channels
    return Saved(
        sum(record.removed for record in every if record.op in _MIXING),
        sum(record.weights for record in every),
        sum(record.products for record in every),
    )
