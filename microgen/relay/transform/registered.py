"""The operators that a codegen takes, from functions that were registered one by one as in TVM."""

from __future__ import annotations

from microgen.base.errors import MicrogenError
from microgen.graph.ir.op_attrs import Taker, takers
from microgen.relay.transform.support import CompositePattern, OperatorCall, Predicate, Support


def registered(name: str, patterns: tuple[CompositePattern, ...] = ()) -> Support:
    """The Support of the codegen ``name`` with the operators that have the attribute
    ``target.<name>`` (``microgen.graph.ir.register_op_attr``) at this time.

    Raises MicrogenError if no operator has it.
    """
    found = takers(name)
    if not found:
        raise MicrogenError(
            f"no operator has the attribute 'target.{name}'",
            where=f"the codegen {name!r}",
            hint=f'register one with register_op_attr("nn.conv2d", "target.{name}"), or pass the '
            "codegen's Support instead of its name",
        )
    return Support(name, {op: _predicate(op, name, taker) for op, taker in found.items()}, patterns)


def _predicate(op: str, name: str, taker: Taker) -> Predicate:
    """A function that answers with a truth value, as a predicate."""

    def answered(call: OperatorCall) -> str | None:
        return None if taker(call) else f"the function registered for target.{name} refused {op}"

    return answered
