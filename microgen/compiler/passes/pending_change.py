"""A change of layout that no node has made yet."""

from __future__ import annotations

from dataclasses import dataclass

from microgen.compiler.passes.arrangement import Arrangement
from microgen.compiler.passes.wanted_layouts import TRANSFORM
from microgen.graph.ir.graph import Node
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs, TransposeAttrs

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # names of axes that have none


@dataclass(frozen=True, slots=True)
class PendingChange:
    """A tensor that equals another one in another layout, and that no node has computed yet.

    It is ``arranged`` from ``source``, whose axes are named ``letters``. ``node`` is the node that
    the change of layout belongs to, and ``op`` its kind.
    """

    source: str
    arranged: Arrangement
    letters: str
    node: Node
    op: str

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for changes of a tensor that move its elements in the same way."""
        return (self.source, *self.arranged.key[:2], self.node.place)

    @property
    def attrs(self) -> LayoutTransformAttrs | TransposeAttrs:
        """The attributes of a transpose if the change was one, otherwise those of a change of named
        axes."""
        order = self.arranged.order
        if self.op != TRANSFORM:
            return TransposeAttrs(order)
        letters = self.letters[: len(order)]
        return LayoutTransformAttrs(letters, "".join(letters[k] for k in order))
