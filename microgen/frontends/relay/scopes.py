"""The functions that are being converted, and the values of their expressions so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from microgen.frontends.operators import Moved
from microgen.frontends.relay.types import NodePlace
from microgen.frontends.sums import PendingSums
from microgen.graph.builder import Value
from microgen.relay.expr import Call, Expr, Function, Let, Op, Var
from microgen.relay.visit import children, post_order


@dataclass(slots=True)
class EarlierResults:
    """The results of earlier calls that later calls may use."""

    # Each convolution that has one reader, by the name of its result.
    sums: dict[str, PendingSums] = field(default_factory=dict)
    moved: Moved = field(default_factory=dict)  # constants in other layouts


@dataclass(frozen=True, slots=True)
class Closure:
    """A function as a value, with the scope whose variables it can read."""

    function: Function
    scope: RelayScope


@dataclass(slots=True)
class RelayScope:
    """A function's body during one call of the function."""

    function: Function
    place: NodePlace
    prefix: str  # makes names unique: empty for main only
    depth: int  # functions around this one
    names: Mapping[Expr, str]  # the printer's names of temporaries
    parent: RelayScope | None = None
    memory: EarlierResults = field(default_factory=EarlierResults)
    values: dict[Expr, Value | Closure] = field(default_factory=dict)
    bound: dict[Expr, Expr] = field(default_factory=dict)  # variable -> the value in its let
    devices: dict[Expr, Call] = field(default_factory=dict)  # expression -> its on_device
    _uses: Counter[Expr] = field(default_factory=Counter)
    _binders: dict[Expr, Var] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for expr in post_order(self.function):
            # The variable of a let is not read by it.
            self._uses.update((expr.value, expr.body) if isinstance(expr, Let) else children(expr))
            if isinstance(expr, Let):
                self._binders[expr.value] = expr.var
                self.bound[expr.var] = expr.value
            elif isinstance(expr, Call) and expr.op == Op("on_device"):
                self.devices[expr.args[0]] = expr
        # A variable's annotation is for the call that computes its value.
        for var, value in self.bound.items():
            if var in self.devices:
                self.devices[value] = self.devices[var]

    def __contains__(self, expr: Expr) -> bool:
        return expr in self.values or (self.parent is not None and expr in self.parent)

    def __getitem__(self, expr: Expr) -> Value | Closure:
        scope: RelayScope = self
        while expr not in scope.values:
            assert scope.parent is not None, "converted before it is read"
            scope = scope.parent
        return scope.values[expr]

    def bind(self, values: Sequence[Value | Closure]) -> None:
        """Bind the parameters to the values of the arguments."""
        self.values.update(zip(self.function.params, values, strict=True))

    def name(self, expr: Expr) -> str:
        """The name of a value: its variable's, or the printer's number."""
        binder = self._binders.get(expr)
        return self.prefix + (f"%{binder.name_hint}" if binder else self.names[expr])

    def is_read_once(self, expr: Expr) -> bool:
        """Whether exactly one expression reads it, directly or through its variable."""
        binder = self._binders.get(expr)
        return self._uses[expr] == 1 and (binder is None or self._uses[binder] == 1)
