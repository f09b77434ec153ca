"""PartitionGraph: turns every region into a function, and calls it in the place of the region.

Source: TVM v0.14, ``partition_graph.cc``. A function is named
``tvmgen_<module>_<compiler>_<function>_<region>``, and a parameter
``<compiler>_<region>_i<index>``. The index counts the region's ``compiler_begin`` calls. A value
that enters a region in several places is one parameter; constants are bound. If several values
leave a region, the function returns a flat tuple of them. Regions that only make and read tuples
are not changed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from microgen.relay.expr import Call, Constant, Expr, Function, GlobalVar, Tuple, Var
from microgen.relay.module import IRModule
from microgen.relay.transform.annotate_target import without_defaults
from microgen.relay.transform.annotated_regions import (
    AnnotatedRegion,
    AnnotatedRegions,
    bare,
    compiler,
    end,
    is_begin,
    is_end,
    is_mark,
)
from microgen.relay.transform.rewriting import Rewriter, graph_normal_form
from microgen.relay.visit import depth_first, operands


class PartitionGraph:
    """The pass. The names of the functions begin with ``mod_name``, the name of the model."""

    def __init__(self, mod_name: str = "default", bind_constants: bool = True) -> None:
        self._prefix = f"tvmgen_{mod_name}" if mod_name else "tvmgen"
        self._binds = bind_constants

    def __call__(self, module: IRModule) -> IRModule:
        """The module, with its regions' functions after its own, in the order of first use.

        Raises ModelError for annotations that fit no region, and for regions that are not convex.
        """
        rewriter = Rewriter(module)
        functions = dict(module.functions)
        for name, function in module.functions.items():
            if "Compiler" in function.attrs:
                continue
            body = _prepared(rewriter, function)
            partitioner = _Partitioner(rewriter, functions, self._binds)
            body = partitioner.partitioned(body, f"{self._prefix}_{{}}_{name}_{{}}")
            functions[name] = rewriter.with_body(function, body)
        return rewriter.module(functions)


def _prepared(rewriter: Rewriter, function: Function) -> Expr:
    body = graph_normal_form(rewriter, function.body)
    body = rewriter.rewrite(body, lambda _, new: _flattened(rewriter, new))
    return without_defaults(rewriter, body)


def _flattened(rewriter: Rewriter, expr: Expr) -> Expr:
    """``expr``; if it is a tuple that leaves a region, a tuple of values that each leave it."""
    if not is_end(expr) or not isinstance(expr.args[0], Tuple):
        return expr
    leaving = expr.args[0]
    ends = [_flattened(rewriter, _end(rewriter, f, compiler(expr))) for f in leaving.fields]
    return rewriter.typed(Tuple(ends, leaving.span), rewriter.types[leaving])


def _end(rewriter: Rewriter, value: Expr, target: str) -> Expr:
    return rewriter.typed(end(value, target), rewriter.types[value])


@dataclass(eq=False)
class _External:
    """The function for a region. ``outs`` are the values that leave the region, in order;
    ``results`` replace them outside. ``params`` has the parameter of each expression that enters
    the region, without its annotation, and ``arguments`` the argument of each parameter."""

    outs: list[Expr]
    params: dict[Expr, Var] = field(default_factory=dict)
    arguments: dict[Var, Expr] = field(default_factory=dict)
    results: dict[Expr, Expr] = field(default_factory=dict)


@dataclass(eq=False)
class _Partitioner:
    """Partitions one function of the module. Adds the functions of its regions to ``functions``,
    which has all functions of the module."""

    rewriter: Rewriter
    functions: dict[str, Function]
    binds: bool

    def partitioned(self, body: Expr, name: str) -> Expr:
        """The body with calls in the place of regions. ``name`` is the template of their names."""
        self._regions = AnnotatedRegions(body)
        self._externals: dict[AnnotatedRegion, _External] = {}
        self._known: dict[Expr, Expr] = {}
        # Only for its error: a region that is not convex cannot be one function.
        self._regions.ordered(body)
        for region in dict.fromkeys(self._regions.of.values()):
            if region.computes:
                outs = dict.fromkeys(e.args[0] for e in region.outs if not is_begin(e.args[0]))
                self._externals[region] = _External(list(outs))
        for expr in depth_first(body, self._below):
            self._known[expr] = self._replaced(expr, name)
        return self._known[body]

    def _external(self, mark: Expr) -> _External | None:
        """The function for an annotation's region. None if the region is kept as it is, or returns
        only its inputs."""
        if is_end(mark) and is_begin(mark.args[0]):
            return None
        return self._externals.get(self._regions.of[mark])

    def _below(self, expr: Expr) -> Sequence[Expr]:
        """The expressions needed before ``expr``. Before a region's first use, these are all values
        that leave it."""
        if not is_end(expr):
            return operands(expr)
        external = self._external(expr)
        if external is None:
            return (_source(expr),)
        return (*expr.args, *external.outs)

    def _replaced(self, expr: Expr, name: str) -> Expr:
        if not is_mark(expr):
            return self.rewriter.rebuilt(expr, self._known)
        external = self._external(expr)
        if external is None:
            return self._known[_source(expr)]
        region = self._regions.of[expr]
        if is_begin(expr):
            return self._param(region, external, expr)
        # At its first use, when all its arguments are known.
        if not external.results:
            self._create(external, region.target, name.format(region.target, region.number))
        return external.results[expr.args[0]]

    def _param(self, region: AnnotatedRegion, external: _External, begin: Call) -> Var:
        # A value that enters several times is one parameter.
        source = bare(begin)
        if source not in external.params:
            index = region.ins.index(begin)
            type_ = self.rewriter.types[begin]
            var = Var(f"{region.target}_{region.number}_i{index}", type_)
            external.params[source] = self.rewriter.typed(var, type_)
            external.arguments[var] = self._known[begin.args[0]]
        return external.params[source]

    def _create(self, external: _External, target: str, name: str) -> None:
        """Add the region's function to the module, and build its call."""
        arguments = external.arguments
        bound: dict[Expr, Expr] = {
            v: e for v, e in arguments.items() if self.binds and _is_constant(e)
        }
        # Compilers may have names with other characters than C allows.
        symbol = self._fresh(re.sub(r"\W", "_", name, flags=re.ASCII))
        body = self.rewriter.rewrite(self._body(external), lambda _, new: bound.get(new, new))
        self.functions[symbol] = self.rewriter.function(
            [v for v in arguments if v not in bound],
            body,
            # TVM's attributes of a function for another compiler.
            Inline=1,
            Compiler=target,
            global_symbol=symbol,
            Primitive=1,
        )
        args = [e for v, e in arguments.items() if v not in bound]
        span = getattr(external.outs[0], "span", None)
        call = Call(GlobalVar(symbol), args, span=span)
        self._read(external, self.rewriter.typed(call, self.rewriter.types[body]))

    def _fresh(self, name: str) -> str:
        names = itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1)))
        return next(n for n in names if n not in self.functions)

    def _body(self, external: _External) -> Expr:
        outs = [self._known[out] for out in external.outs]
        if len(outs) == 1:
            return outs[0]
        fields = [part for out in outs for part in self.rewriter.parts(out)]
        return self.rewriter.tuple(fields)

    def _read(self, external: _External, call: Call) -> None:
        """Build the replacements for values that leave: the call, or fields of its tuple."""
        if len(external.outs) == 1:
            external.results[external.outs[0]] = call
            return
        parts = iter(self.rewriter.parts(call))
        for out in external.outs:
            external.results[out] = self.rewriter.gathered(self.rewriter.types[out], parts)


def _source(mark: Call) -> Expr:
    """The operand of an annotation. If a region only passes a value on, it is the value that enters
    the region."""
    value = mark.args[0]
    return value.args[0] if is_end(mark) and is_begin(value) else value


def _is_constant(expr: Expr) -> bool:
    if isinstance(expr, Tuple):
        return all(isinstance(f, Constant) for f in expr.fields)
    return isinstance(expr, Constant)
