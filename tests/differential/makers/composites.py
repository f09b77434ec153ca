"""STABLEHLO_COMPOSITE: another layer as the decomposition of a composite."""

from __future__ import annotations

from tests.differential import makers
from tests.differential.makers import EVERY, Maker
from tests.differential.network import Decomposed, Network
from tests.support.tflite_builder import SubgraphSpec

_EMPTY_MAP = bytes((0, 0, 1, 0, 0, 36, 1))  # a flexbuffer: the composite's own attributes
_PARTS = ("ADD", "CONCATENATION", "CONV_2D", "FULLY_CONNECTED", "MUL", "SELECT_V2", "TRANSPOSE")


def _composite(net: Network, code: str, dtype: str) -> None:
    known = makers.registry()
    part = net.one_of([part for part in _PARTS if (part, dtype) in known])
    known[part, dtype].make(net, part, dtype)
    op = net.operators.pop()
    used = dict.fromkeys(str(ref) for ref in (*op.inputs, *op.outputs) if ref != -1)
    fed = net.fed(op)
    net.operators.append(
        Decomposed(
            code,
            fed,
            op.outputs,
            "StableHLOCompositeOptions",
            {"name": "test.part", "compositeAttributes": _EMPTY_MAP},
            part=SubgraphSpec([net.tensors[n] for n in used], [op], fed, op.outputs),
        )
    )


MAKERS = (Maker(("STABLEHLO_COMPOSITE",), EVERY, _composite),)
