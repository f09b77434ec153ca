"""How large the bounds for oracles are, and how close the oracles come to them, by op.

    python -m tests.running.comparing.nearness    # measures again and writes nearness.json

Read the difference: a bound may become larger only if its docstring derives why.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microgen.frontends.model_format import OracleError
from microgen.graph.ir import beside
from microgen.graph.ir.beside import Expected
from microgen.graph.ops.balls import UNIT
from tests.frontends.onnx.models import written
from tests.running.comparing import standins
from tests.running.comparing.oracle_networks import recurrent, transformed
from tests.running.comparing.standins import KINDS, Standin

TABLE = Path(__file__).with_name("nearness.json")
FEW, MANY = 13, 150  # networks of each kind


@dataclass(slots=True)
class Nearness:
    """The bounds of an op's results. ``size`` is the mean of a tensor's bounds, summed over
    ``tensors``: of integers in steps, and of floats as a share of the tensor's greatest magnitude,
    in units of 2**-24. ``times`` is the bound of the element that came closest to it, divided by
    the element's difference."""

    tensors: int = 0
    size: float = 0.0
    times: float = np.inf

    def add(self, one: Expected) -> None:
        """Add a tensor whose bounds are finite."""
        assert one.found is not None
        largest = UNIT * float(np.abs(one.values).max(initial=0))
        whole = one.values.dtype.kind != "f"
        if not np.isfinite(one.bound).all() or not (whole or 0 < largest < np.inf):
            return
        self.tensors += 1
        self.size += float(one.bound.mean()) / (1 if whole else largest)
        apart = beside.distance(one.found, one.values)
        at = apart > 0
        self.times = min([self.times, *(one.bound[at] / apart[at])])


def special(folder: Path) -> Iterator[tuple[str, Standin]]:
    """Networks of Fourier transforms and recurrent layers, with the operator of each."""
    pairs = [(proto, [sample]) for length in (15, 32) for proto, sample in transformed(length)]
    for k, (proto, samples) in enumerate([*pairs, *recurrent(range(9))]):
        path = written(proto, folder, f"special{k}.onnx")
        (node,) = proto.graph.node
        functions = [each.decode() for a in node.attribute for each in a.strings]
        name = ", ".join((node.op_type, *functions))
        yield name, Standin(path, tuple((sample,) for sample in samples))


def measured(networks: Iterable[tuple[str, Standin]]) -> dict[str, dict[str, Nearness]]:
    """Oracle -> op -> the bounds of the networks' known tensors. A network of one operator has its
    name; for others it is empty."""
    found: dict[str, dict[str, Nearness]] = {}
    for name, network in networks:
        try:
            layers = network.known
        except OracleError:
            continue
        of = found.setdefault(network.oracle.name, {})
        for one in network.walked(network.source, layers, network.slack):
            op = name or one.node.op
            op = op if one.values.dtype.kind == "f" else f"{op} of integers"
            of.setdefault(op, Nearness()).add(one)
    return found


def rows(found: Mapping[str, Mapping[str, Nearness]]) -> dict[str, dict[str, list[float | None]]]:
    """The table as data: mean size, and times (None: no element differed)."""
    return {
        oracle: {
            op: [_round(each.size / each.tensors), _round(each.times)]
            for op, each in sorted(of.items())
            if each.tensors
        }
        for oracle, of in sorted(found.items())
    }


def _round(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None


def main() -> None:
    """Write the table."""
    data = {}
    for name, count in (("few", FEW), ("many", MANY)):
        with tempfile.TemporaryDirectory() as folder:
            pairs = [(kind, seed) for kind in KINDS for seed in range(count)]
            networks = (("", standins.made(*pair, Path(folder))) for pair in pairs)
            data[name] = rows(measured([*networks, *special(Path(folder))]))
    lines = json.dumps(data, indent=1).replace("[\n    ", "[").replace("\n   ]", "]")
    TABLE.write_text(lines.replace(",\n    ", ", ") + "\n")


if __name__ == "__main__":
    main()
