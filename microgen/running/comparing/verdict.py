"""The result of comparing the firmware with one source of truth, as text and as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from microgen.base.errors import short
from microgen.running.runner.compare import EQUAL, Comparison, Difference, number

_SHOWN = 3  # reasons why layers could not be read, and layers for each


@dataclass(frozen=True, slots=True)
class Verdict:
    """The firmware against one source of truth.

    ``name`` names the source. Outputs are compared on all ``samples``. ``off`` is the largest
    difference of an output, divided by the output's largest element. ``nearest`` is the largest
    ratio of a difference to its bound from end to end. Layers are compared on the samples that
    ``Ends.chosen`` names. If layers could not be read, ``layers`` is None and ``why_no_layers``
    says why. ``other`` compares the source's own layers, if the source has layers, with the
    reference. On ``explained`` samples the outputs differ, but the bounds of layers explain it. On
    ``unjudged`` samples the outputs differ, the bounds from end to end allow any value, and no
    layers judge them. ``is_skipped``: nothing was compared, for the reason in ``why_no_layers``.
    """

    name: str
    samples: int
    equal_samples: int
    layers: Comparison | None
    why_no_layers: str = ""
    is_skipped: bool = False
    off: float = 0.0
    nearest: float = 0.0
    other: Comparison | None = None
    explained: int = 0
    unjudged: int = 0

    @property
    def ok(self) -> bool:
        """Whether something was compared, and no compared value differs without an explanation."""
        # No verdict without evidence: samples that nothing judged do not make a comparison succeed.
        judged = self.equal_samples + self.explained
        is_all = judged + self.unjudged == self.samples
        return self.difference is None and is_all and (judged > 0 or self.samples == 0)

    @property
    def difference(self) -> Difference | None:
        """The first layer and element that differs, if one was found."""
        # The firmware's own difference comes first, because an oracle's says nothing of the
        # firmware.
        for layers in (self.layers, self.other):
            if layers and layers.first:
                return layers.first
        return None

    def __str__(self) -> str:
        if self.is_skipped:
            return f"{self.name}: not compared: {self.why_no_layers}"
        text = f"{self.name}: outputs equal on {self.equal_samples} of {self.samples} samples"
        # If no sample is right, this distance says nothing.
        if self.off and (self.equal_samples or self.explained):
            text += f" to {self.off:.2g} of the largest element"
        text += self._explanation()
        if self.layers is None:
            return f"{text}; layers not read: {self.why_no_layers}"
        unseen = _unseen(self.layers) + _misnamed(self.layers)
        if self.layers.first:
            return f"{text}; first difference: {self.layers.first}{unseen}"
        if self.other and self.other.first:
            return f"{text}; its own layers are not the reference's: {self.other.first}"
        unknown = f", {len(self.layers.absent)} unknown to it" if self.layers.absent else ""
        if not self.layers.held:
            return f"{text}; no layer could be read{unknown}{unseen}"
        several = f" of {self.layers.samples} samples" if self.layers.samples > 1 else ""
        count = self.layers.compared
        hidden = len(self.layers.unseen) + len(self.layers.misnamed)
        among = f"{count} of {count + hidden}" if hidden else f"all {count}"
        return f"{text}; {among} layers{several} {_nearness(self.layers)}{unknown}{unseen}"

    def _explanation(self) -> str:
        """The reason why outputs may differ, and the number of samples without such a reason."""
        text = ""
        if self.explained:
            text += f"; within the bounds of layers on {self.explained} more"
        if self.unjudged:
            text += f"; not judged on {self.unjudged}, where only layers could tell"
        others = self.samples - self.equal_samples - self.explained - self.unjudged
        if others and self.difference is None:
            # With a difference of a layer the reason is known, so this sentence would be wrong.
            text += f"; no layer explains the difference on {others}"
        departures = self.other.departures if self.other else ()
        return text + "".join(f"; {departure}" for departure in departures)

    def to_json(self) -> dict[str, Any]:
        """Plain data. ``bounds`` has each layer's bound and its nearness to it; see ``Held``.
        ``unseen`` has the layers that could not be read, ``misnamed`` the tensors that do not have
        the model's value after the passes."""
        return {
            "name": self.name,
            "status": "n/a" if self.is_skipped else "ok" if self.ok else "failed",
            "samples": self.samples,
            "equal_samples": self.equal_samples,
            "explained_samples": self.explained,
            "unjudged_samples": self.unjudged,
            "outputs_off": number(self.off),
            "outputs_ratio": number(self.nearest),
            "layers": self.layers.compared if self.layers else 0,
            "layers_samples": self.layers.samples if self.layers else 0,
            "bounds": [held.to_json() for held in self.layers.held] if self.layers else [],
            "unseen": [asdict(one) for one in self.layers.unseen] if self.layers else [],
            "misnamed": list(self.layers.misnamed) if self.layers else [],
            "detail": str(self),
        }


def _unseen(layers: Comparison) -> str:
    """The layers that could not be read, and the reasons, as text."""
    reasons = dict.fromkeys(one.why for one in layers.unseen)
    named = [[one.layer for one in layers.unseen if one.why == why] for why in reasons]
    each = [_listed(names, why) for names, why in zip(named[:_SHOWN], reasons, strict=False)]
    others = sum(map(len, named[_SHOWN:]))
    more = f" and {others} more" if others else ""
    return f"; not seen: {', '.join(each)}{more}" if each else ""


def _misnamed(layers: Comparison) -> str:
    """The tensors to which the passes have given other values."""
    if not layers.misnamed:
        return ""
    first, *others = layers.misnamed
    more = f" and {len(others)} more" if others else ""
    return f"; a defect of microgen, not of the firmware: its passes change {first}{more}"


def _listed(names: Sequence[str], why: str) -> str:
    shown = ", ".join(f'layer "{short(name)}"' for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{shown}{more} ({why})"


def _nearness(layers: Comparison) -> str:
    if layers.is_exact:
        return "equal"
    rules = dict.fromkeys(held.rule for held in layers.held)
    return f"within their bounds: {'; '.join(_by_rule(layers, rule) for rule in rules)}"


def _by_rule(layers: Comparison, rule: str) -> str:
    """The number of layers with the rule, and the layer that came nearest to its bound."""
    held_by_rule = [held for held in layers.held if held.rule == rule]
    # A layer of several samples is counted once.
    count = len({held.name for held in held_by_rule})
    if rule == EQUAL:
        return f"{count} equal"
    nearest = max(held_by_rule, key=lambda held: held.ratio)
    near = f'at most {nearest.ratio:.2g} of it, layer "{short(nearest.layer)}"'
    return f"{count} by {rule} ({near if nearest.ratio else 'equal, too'})"
