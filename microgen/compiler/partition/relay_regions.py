"""Regions of the kernel graph for a code generator that takes Relay: the nodes that it takes, and
each region as the Relay function that it compiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from microgen.compiler.partition import in_relay
from microgen.graph.ir.graph import Graph, Node
from microgen.graph.ir.refusal import Refusal
from microgen.relay.expr import Expr, Function, Type, Var
from microgen.relay.module import IRModule
from microgen.relay.transform import (
    AnnotateTarget,
    CompositePattern,
    MergeComposite,
    Support,
)
from microgen.relay.transform.rewriting import Rewriter
from microgen.relay.visit import post_order

Typed = tuple[Function, Mapping[Expr, Type]]  # a function, and the types of its expressions


@dataclass(frozen=True, slots=True)
class RelayRegions:
    """Asks about nodes, and makes regions, for a generator with this ``support``. With
    ``composite`` its patterns are tried, too: within one node, and in a region across several."""

    support: Support
    composite: bool

    def refusal(self, node: Node, graph: Graph) -> str | None:
        """Why the generator does not take all of the node's Relay operators; None if it does."""
        try:
            module = in_relay.module(node, graph)
        except in_relay.NoFormError as error:
            return str(error)
        _, refusals = self._composed(module)
        return refusals[0].why if refusals else None

    def function(self, graph: Graph, params: Mapping[str, Var], symbol: str) -> Typed:
        """The function of a region whose nodes are all taken: ``graph``, with ``params`` as inputs.
        Patterns match across nodes unless a call would then belong to no generator."""
        modules = {node.outputs[0]: in_relay.module(node, graph) for node in graph.nodes}
        whole, refusals = self._composed(_joined(graph, params, modules))
        # A pattern across nodes would leave a call to no generator, so patterns match within nodes.
        if refusals:
            apart = {name: self._composed(module)[0] for name, module in modules.items()}
            whole = _joined(graph, params, apart)
        main = whole["main"]
        rewriter = Rewriter(whole)
        # TVM marks external functions with these attributes.
        function = rewriter.function(
            main.params,
            main.body,
            Inline=1,
            Compiler=self.support.name,
            global_symbol=symbol,
            Primitive=1,
        )
        return function, {e: rewriter.types[e] for e in post_order(function)}

    def _composed(self, module: IRModule) -> tuple[IRModule, tuple[Refusal[Expr], ...]]:
        """The module with composite functions, and the reasons if the generator then does not take
        all calls."""
        merged = MergeComposite(self._patterns()).run(module)
        annotated = AnnotateTarget([self.support]).run(merged.module)
        refusals = (*merged.refusals, *annotated.refusals) if annotated.refusals else ()
        return merged.module, refusals

    def _patterns(self) -> list[CompositePattern]:
        """The patterns whose functions AnnotateTarget recognises as the generator's."""
        own = f"{self.support.name}."
        return [p for p in self.support.patterns if self.composite and p.name.startswith(own)]


def _joined(graph: Graph, params: Mapping[str, Var], modules: Mapping[str, IRModule]) -> IRModule:
    """A module whose @main is the graph: each node is the @main of its module, by its output."""
    values: dict[str, Expr] = dict(params)
    types: dict[Expr, Type] = {
        v: in_relay.tensor_type(graph.types[name]) for name, v in params.items()
    }
    rewriter = Rewriter(IRModule(MappingProxyType({}), MappingProxyType(types)))
    for node in graph.nodes:
        module = modules[node.outputs[0]]
        rewriter.types.update(module.types or {})
        values[node.outputs[0]] = _inlined(rewriter, module["main"], values)
    outputs = [values[name] for name in graph.outputs]
    body = outputs[0] if len(outputs) == 1 else rewriter.tuple(outputs)
    return rewriter.module({"main": rewriter.function(list(params.values()), body)})


def _inlined(rewriter: Rewriter, function: Function, values: Mapping[str, Expr]) -> Expr:
    """The body with parameters replaced by ``values``."""
    given: dict[Expr, Expr] = {param: values[param.name_hint] for param in function.params}
    return rewriter.rewrite(function.body, lambda _, new: given.get(new, new))
