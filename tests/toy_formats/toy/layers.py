"""What an importer of a toy operator gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from microgen.frontends.operators import Moved, Operator
from microgen.graph.builder import BuiltTensor, GraphBuilder
from microgen.graph.ir.graph import Origin


class Layer(Operator):
    """One layer with its operands."""

    def __init__(
        self,
        record: Mapping[str, Any],
        operands: Sequence[BuiltTensor],
        file: str,
        graph: GraphBuilder,
        moved: Moved,
    ) -> None:
        name = record["name"]
        super().__init__(record["operator"], name, Origin(file, name), graph=graph, moved=moved)
        self.record = record
        self.operands = operands

    def finished(self, value: BuiltTensor) -> BuiltTensor:
        """Gives the result the layer's name."""
        found = self.named(value, {value.name: self.name})
        assert isinstance(found, BuiltTensor)
        return found
