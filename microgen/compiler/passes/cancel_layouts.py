"""Moves changes of layout past nodes that compute in any layout, so that the changes cancel.

A change moves past a node only if the node still computes each element from the same elements in
the same order, or if the order is that of a layer's products. So integers do not change at all, and
floats are rounded as before, except by such layers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from microgen.compiler.passes.any_layout import (
    ELEMENTWISE,
    Moved,
    in_layout,
    letters_left,
    moved,
    padded,
)
from microgen.compiler.passes.arrangement import Arrangement
from microgen.compiler.passes.changes import Changes
from microgen.compiler.passes.channel_orders import ChannelOrders, Reordered
from microgen.compiler.passes.pending_change import LETTERS, PendingChange
from microgen.compiler.passes.views import without_unread
from microgen.compiler.passes.wanted_layouts import (
    CHANGES,
    TRANSFORM,
    Wanted,
    after,
    joined,
    sought,
    wanted,
)
from microgen.graph.ir import layouts
from microgen.graph.ir.graph import ArrayType, Attrs, Graph, Node
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs, TransposeAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

_MOST_LEADS = 4  # layouts that are tried for a node of many inputs


def cancel_layouts(graph: Graph) -> Graph:
    """The graph in which no change of layout undoes another, and each comes as late as possible.

    A change that moves only axes of size 1 becomes a reshape. Layers with constant weights read and
    compute their channels in the order that saves a change. Nothing crosses from one target or
    external function to another. Graphs without changes of layout are not changed.
    """
    if not any(node.op in CHANGES for node in graph.nodes):
        return graph
    return _Rewriting(graph, Changes(graph)).rewritten()


@dataclass(slots=True)
class _Rewriting:
    """The graph as it is rewritten, node by node, in order."""

    graph: Graph
    changes: Changes
    nodes: list[Node] = field(default_factory=list)
    pending: dict[str, PendingChange] = field(default_factory=dict)
    known: dict[tuple[object, ...], str] = field(default_factory=dict)  # tensors moved already
    views: dict[str, Node] = field(default_factory=dict)  # the reshapes by their results
    sought: set[str] = field(init=False)  # tensors that are read by changes of layout
    wanted: Wanted = field(init=False)
    orders: ChannelOrders = field(init=False)

    def __post_init__(self) -> None:
        self.sought, self.wanted = sought(self.graph), wanted(self.graph)
        self.orders = ChannelOrders(self.changes, self.graph.uses_of())

    def rewritten(self) -> Graph:
        """The graph after the pass."""
        before: Node | None = None
        for node in self.graph.nodes:
            # The nodes of an external function must remain next to each other: it is compiled in
            # one step.
            if before is not None and before.function and before.function != node.function:
                self._leave(before.function)
            before = node
            if not self._postpone(node):
                self._add(node)
        outputs = tuple(self._computed(name) for name in self.graph.outputs)
        updates = {v: self._computed(name) for v, name in self.graph.updates.items()}
        int4, stored = self.graph.int4 | self.orders.int4, {**self.graph.stored}
        stored.update(self.orders.stored)
        read = {*outputs, *updates.values(), *self.graph.results}
        nodes = without_unread(self.nodes, read)
        own = {"outputs": outputs, "updates": updates, "int4": int4, "stored": stored}
        return self.changes.made(nodes=nodes, **own)

    def _leave(self, function: str) -> None:
        """Compute the pending results of an external function at its end, so that its nodes stay
        next to each other."""
        for name, change in list(self.pending.items()):
            if change.node.function == function:
                self._computed(name)

    def _postpone(self, node: Node) -> bool:
        """Whether the node is a change of layout, or a reshape after one. It becomes pending."""
        first = self._seen(node.inputs[0], node) if node.inputs else None
        if node.op not in CHANGES and not (isinstance(node.attrs, ReshapeAttrs) and first):
            return False
        whole = after(first.arranged, node) if first else None
        if first is None or whole is None:
            first = self._begun(node)
            whole = after(first.arranged, node)
        if whole is None:  # a tensor without elements
            return False
        if whole.is_view and whole.shape == whole.source:
            whole = Arrangement.same(whole.shape)
        self.pending[node.outputs[0]] = dataclasses.replace(first, arranged=whole, node=node)
        return True

    def _begun(self, node: Node) -> PendingChange:
        """The tensor that a change of layout reads, as its own source. A reshape before the change
        is part of it."""
        name, attrs = self._computed(node.inputs[0]), node.attrs
        view, shape = self.views.get(name), self.changes.types[name].shape
        if view is not None and view.place == node.place:
            source = self.changes.types[view.inputs[0]].shape
            whole = Arrangement.same(source).reshaped(shape)
            if after(whole, node) is not None:
                letters = LETTERS[: len(source)]
                return PendingChange(view.inputs[0], whole, letters, node, node.op)
        letters = LETTERS[: len(shape)]
        if isinstance(attrs, LayoutTransformAttrs):
            letters = attrs.src_layout
        return PendingChange(name, Arrangement.same(shape), letters, node, node.op)

    def _seen(self, name: str, reader: Node) -> PendingChange | None:
        """The pending change of layout that makes a tensor, if it may move past the reader."""
        found = self.pending.get(name)
        return found if found and found.node.place == reader.place else None

    def _add(self, node: Node) -> None:
        """Add a node that is not a change of layout, in the layout of its inputs if that needs no
        more changes than its own layout does."""
        lead, whole = self._lead(node)
        if lead is None or whole is None:
            lead, whole = self._hoisted(node)
        if lead is not None and whole is not None:
            self._add_moved(node, lead, whole)
            return
        result = self._reordered(node)
        if result is None:
            inputs = tuple(map(self._computed, node.inputs))
            result = dataclasses.replace(node, inputs=inputs)
        self._append_node(result)

    def _append_node(self, node: Node) -> None:
        self.nodes.append(node)
        if isinstance(node.attrs, ReshapeAttrs):
            self.views[node.outputs[0]] = node

    def _lead(self, node: Node) -> tuple[PendingChange | None, Moved | None]:
        """The change of layout to move past the node, and the node after the move, or None."""
        changes = {name: self._seen(name, node) for name in in_layout(node)}
        if not any(changes.values()) or not self._gains(node, changes.values()):
            return None, None
        # The move must remove more changes of inputs than it adds. It removes an input's change if
        # the change is made for this node alone, and always if another change may follow the node.
        saved = [
            name
            for name, change in changes.items()
            if change is not None
            and (node.outputs[0] in self.sought or not self._is_made(name, change))
        ]
        leads = {one.arranged.key: one for one in changes.values() if one is not None}
        for lead in [one for one in leads.values() if not one.arranged.is_view][:_MOST_LEADS]:
            whole = moved(node, self.graph, lead.arranged)
            if whole is None:
                continue
            lacking = [name for name in changes if self._costs(name, lead, whole, node)]
            if len(lacking) < len(saved):
                return lead, whole
        return None, None

    def _gains(self, node: Node, changes: Collection[PendingChange | None]) -> bool:
        """Whether a change after the node may cost less than one before it."""
        if len(changes) != 1 or node.outputs[0] in self.sought:
            return True
        (change,) = changes
        before, now = self.graph.types[node.inputs[0]], self.graph.types[node.outputs[0]]
        # A pad may become the padding of the layer after it, a clamp part of the layer before it.
        if node.op == "nn.pad" or (change and change.source in self.graph.inputs):
            return now.nbytes < before.nbytes
        return now.dtype.nbytes <= before.dtype.nbytes or node.outputs[0] not in self.graph.results

    def _hoisted(self, node: Node) -> tuple[PendingChange | None, Moved | None]:
        """The same if changes of layout move from the node's readers to its input."""
        change = self.wanted.inputs.get(node.outputs[0]) if node.outputs else None
        if change is None:
            return None, None
        name = self.wanted.data(node, self.graph)
        own = self._seen(name, node)
        shape = self.changes.types[name].shape
        before = own or PendingChange(
            name, Arrangement.same(shape), LETTERS[: len(shape)], node, ""
        )
        whole, back = joined(before.arranged, change.arranged), change.arranged.inverse()
        if whole is None or back is None or whole.is_view:
            return None, None
        laid = dataclasses.replace(before, arranged=whole, node=change.node, op=change.node.op)
        if own is None:
            laid = dataclasses.replace(laid, source=self._computed(name))
        result = moved(node, self.graph, back)
        if result is None:
            return None, None
        wanted_name = layouts.fresh(self.graph, f"{name}#moved", more=self.changes.types)
        made = self._changed(laid, wanted_name)
        self._show(made, name, back)
        letters = LETTERS[: len(back.parts)]
        return PendingChange(made, back, letters, change.node, change.node.op), result

    def _show(self, made: str, name: str, back: Arrangement) -> None:
        """Note that a new tensor, and the one of which it is a view, are ``name`` in another
        layout."""
        if made in self.graph.types:
            return
        self.changes.laid_out[made] = layouts.rearranged(self.graph, name, back.moves())
        if made in self.views and self.views[made].inputs[0] not in self.graph.types:
            first = (back.source, tuple(range(len(back.source))))
            moves = (first, *back.moves())
            source = self.views[made].inputs[0]
            self.changes.laid_out[source] = layouts.rearranged(self.graph, name, moves)

    def _reordered(self, node: Node) -> Node | None:
        """The layer with its weights in the order of its data, or in that of its readers."""
        own = self._seen(node.inputs[0], node) if node.inputs else None
        if own is not None and not own.arranged.is_view:
            layer = self.orders.reading(node, own.arranged)
            if layer is not None:
                data = self._shaped(own.source, layer.data, node)
                return self._with_data(layer, data, node, own.op)
        change = self.wanted.outputs.get(node.outputs[0]) if node.outputs else None
        layer = self.orders.writing(node, change.arranged) if change else None
        if layer is None or change is None:
            return None
        return self._with_data(layer, self._computed(node.inputs[0]), node, change.node.op)

    def _with_data(self, layer: Reordered, data: str, node: Node, op: str) -> Node:
        inputs = (data, *map(self._computed, layer.node.inputs[1:]))
        result = dataclasses.replace(layer.node, inputs=inputs)
        if layer.arranged is None:
            return result
        return self._renamed(result, node, layer.arranged, "", op)

    def _is_made(self, name: str, change: PendingChange) -> bool:
        """Whether a tensor is computed in any case, in the layout that it has in the graph."""
        return change.key in self.known or name in self.graph.results

    def _costs(self, name: str, lead: PendingChange, whole: Moved, node: Node) -> bool:
        """Whether a node would have to move the tensor's elements to the other layout."""
        like = self._like(name, lead, whole, node)
        seen = self._seen(name, node)
        if like is None or (seen is not None and seen.arranged.key == like.key):
            return like is None
        back = like.inverse()
        if back is None or back.is_view or name in self.graph.constants:
            return back is None
        change = PendingChange(name, back, "", node, "")
        return change.key not in self.known

    def _like(self, name: str, lead: PendingChange, whole: Moved, node: Node) -> Arrangement | None:
        """The arrangement that makes an input of a node of its tensor in the lead's layout."""
        base = whole.arranged if node.op in ELEMENTWISE else lead.arranged
        kind = self.changes.types[name]
        return base.like(padded(kind, len(base.shape)))

    def _add_moved(self, node: Node, lead: PendingChange, whole: Moved) -> None:
        others = node.inputs[len(in_layout(node)) :]
        inputs = (
            *(self._laid_out(name, lead, whole, node) for name in in_layout(node)),
            *map(self._computed, others),
        )
        result = dataclasses.replace(node, attrs=whole.attrs, inputs=inputs)
        if not (whole.arranged.is_view and whole.arranged.shape == whole.arranged.source):
            result = self._renamed(result, node, whole.arranged, lead.letters, lead.op)
        self._append_node(result)

    def _renamed(self, now: Node, node: Node, arranged: Arrangement, letters: str, op: str) -> Node:
        """A node that computes a source of its output, which becomes pending. ``letters`` are the
        names of its input's axes, if they have any, and ``op`` is the kind of change."""
        output, rank = node.outputs[0], len(arranged.parts)
        letters = letters_left(letters, now, rank)
        kind = dataclasses.replace(self.changes.types[output], shape=arranged.source)
        if arranged.axes is not None and len(letters) == rank:
            name = self.changes.tensor(f"{output}#{letters}", kind)
        else:
            letters = LETTERS[:rank]
            name = self.changes.tensor(output, kind, kind.shape)
        self.changes.laid_out[name] = layouts.rearranged(self.graph, output, arranged.moves())
        self.pending[output] = PendingChange(name, arranged, letters, node, op)
        return dataclasses.replace(now, outputs=(name,))

    def _laid_out(self, name: str, lead: PendingChange, whole: Moved, node: Node) -> str:
        """A tensor in the layout of ``lead.source``."""
        seen = self._seen(name, node)
        if seen is not None and seen.arranged.key == lead.arranged.key:
            return seen.source
        like = self._like(name, lead, whole, node)
        assert like is not None, "the lead has been tried"
        if seen is not None and seen.arranged.key == like.key:
            return self._shaped(seen.source, like.source, node)
        kind = self.changes.types[name]
        back = like.inverse()
        assert back is not None, "the arrangement has runs of factors"
        # One element is the same in every layout.
        if kind.size == 1 and node.op in ELEMENTWISE and len(kind.shape) <= len(like.source):
            return self._computed(name)
        if back.is_view:
            return self._shaped(self._computed(name), like.source, node)
        change = self._changing(name, like, back, lead, node)
        own = lead.letters if like.axes is not None else "x".join(map(str, like.source))
        wanted_name = layouts.fresh(self.graph, f"{name}#{own}", more=self.changes.types)
        found = self._changed(change, wanted_name)
        if found == wanted_name and like.shape == kind.shape:
            self.changes.laid_out[found] = layouts.rearranged(self.graph, name, like.moves())
        return found

    def _changing(
        self, name: str, like: Arrangement, back: Arrangement, lead: PendingChange, node: Node
    ) -> PendingChange:
        """The change of a tensor to the layout of ``lead.source``: ``like`` makes the tensor, and
        ``back`` the layout."""
        seen = self._seen(name, node)
        if seen is not None and not self._is_made(name, seen):
            # Two changes, one after the other, are one.
            both = joined(seen.arranged.reshaped(like.shape), back)
            if both is not None:
                return dataclasses.replace(seen, arranged=both, node=node)
        letters = LETTERS[: len(like.shape)]
        if like.axes is not None and len(lead.letters) == len(like.axes):
            letters = "".join(lead.letters[k] for k in like.axes)
        source = self._shaped(self._computed(name), like.shape, node)
        return PendingChange(source, back, letters, node, lead.op)

    def _shaped(self, name: str, shape: tuple[int, ...], node: Node, result: str = "") -> str:
        """A tensor with another shape, with the name ``result`` if that is free."""
        if self.changes.types[name].shape == shape:
            return name
        key = (name, ReshapeAttrs(shape), node.place)
        if key not in self.known:
            result = result or layouts.fresh(self.graph, f"{name}#reshape", more=self.changes.types)
            self.known[key] = self._named(result, name, shape)
            self._append("reshape", ReshapeAttrs(shape), name, self.known[key], node)
        return self.known[key]

    def _named(self, wanted_name: str, like: str, shape: Sequence[int]) -> str:
        """The name of a new tensor, which may be one of the graph's."""
        if wanted_name in self.changes.types:
            return wanted_name
        return self._new(wanted_name, self.changes.types[like], shape)

    def _computed(self, name: str) -> str:
        """The tensor itself, or an equal one that is already computed."""
        change = self.pending.get(name)
        return name if change is None else self._changed(change, name)

    def _changed(self, change: PendingChange, wanted_name: str) -> str:
        """The result of a change of layout, with the wanted name if it is the first to make it."""
        whole, node = change.arranged, change.node
        if whole.is_view:
            return self._shaped(change.source, whole.shape, node, wanted_name)
        key = change.key
        if key in self.known:
            return self._shaped(self.known[key], whole.shape, node, wanted_name)
        source, shape = change.source, whole.shape
        if whole.axes is None:
            order = whole.coalesced()
            change = dataclasses.replace(change, arranged=order, letters=LETTERS)
            source = self._shaped(source, order.sizes, node)
            shape = tuple(order.sizes[k] for k in order.order)
        own = wanted_name
        if shape != whole.shape:
            own = layouts.fresh(self.graph, f"{own}#transpose", more=self.changes.types)
            if wanted_name in self.graph.types:
                self.changes.laid_out[own] = layouts.reshaped(self.graph, wanted_name)
        self.known[key] = self._named(own, source, shape)
        attrs = change.attrs
        op = "transpose" if isinstance(attrs, TransposeAttrs) else TRANSFORM
        self._append(op, attrs, source, self.known[key], node)
        return self._shaped(self.known[key], whole.shape, node, wanted_name)

    def _append(self, op: str, attrs: Attrs, source: str, output: str, node: Node) -> None:
        self._append_node(
            dataclasses.replace(node, op=op, attrs=attrs, inputs=(source,), outputs=(output,))
        )

    def _new(self, wanted_name: str, like: ArrayType, shape: Sequence[int]) -> str:
        return self.changes.tensor(wanted_name, dataclasses.replace(like, shape=tuple(shape)))
