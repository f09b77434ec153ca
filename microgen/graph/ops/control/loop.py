"""loop: a graph that is computed round after round, with values that one round leaves for the next.

The graph's variables are these values, so everything that updates the state of a network from one
inference to the next updates the values of a loop from one round to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from microgen.graph.ir import beside, interpreter
from microgen.graph.ir.beside import Expected, Kept, Slack
from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Graph, Node, Types
from microgen.graph.ir.rounds import in_loop, inner_name, of_round, plain
from microgen.graph.ops import control
from microgen.graph.ops.base import Bound, Inexact, OpDefinition, Operands, Shapes, StatusError
from microgen.graph.ops.cost import ReferenceCost

MOST_ROUNDS = 2**31 - 1  # generated C counts them with int32_t
_INVALID_ARG = 0x0803


@dataclass(frozen=True, slots=True, eq=False)
class LoopAttrs(Attrs):
    """Inputs: the first value of each variable of ``body``, in order, then as many tensors as
    ``body`` has inputs. Outputs: the variables' values after the last round.

    ``body`` has no outputs; its ``updates`` are the values of the next round. Without a
    ``condition`` there are ``rounds`` rounds. With one, a round takes place if it is true before
    the round, and ``rounds`` is the greatest number of rounds. A condition has names of variables
    and inputs of ``body`` as its inputs, and one output, a bool of one element.
    """

    body: Graph
    rounds: int
    condition: Graph | None = None


def infer(attrs: LoopAttrs, inputs: Types) -> Shapes:
    """The shapes of the variables."""
    body = attrs.body
    wanted = len(body.variables) + len(body.inputs)
    if len(inputs) != wanted or not body.variables:
        raise ValueError(
            f"there are {len(inputs)} inputs; {len(body.variables)} variables and "
            f"{len(body.inputs)} other tensors are expected"
        )
    return tuple(tensor.shape for tensor in body.type_of(body.variables))


def check(attrs: LoopAttrs, inputs: Types, outputs: Types) -> str | None:
    """A variable and its values outside have one type."""
    body, condition = attrs.body, attrs.condition
    if not 0 <= attrs.rounds <= MOST_ROUNDS:
        return f"it has {attrs.rounds} rounds; 0 to {MOST_ROUNDS} are expected"
    if body.outputs:
        return f"its body has the outputs {list(body.outputs)}; none are expected"
    if condition is not None:
        given = {*body.variables, *body.inputs}
        if unknown := [name for name in condition.inputs if name not in given]:
            return f"its condition reads {unknown[0]!r}, which its body does not have"
        found = condition.type_of(condition.outputs)
        if [(tensor.dtype, tensor.size) for tensor in found] != [(DType.BOOL, 1)]:
            return f"its condition is {', '.join(map(str, found))}; one bool is expected"
        own = body.type_of(condition.inputs)
        if wrong := control.mismatch(condition, condition.inputs, own, "the condition's"):
            return wrong
    names = (*body.variables, *body.inputs)
    return control.mismatch(body, names, inputs, "the body's") or control.mismatch(
        body, body.variables, outputs, "the body's"
    )


def reference(attrs: LoopAttrs, operands: Operands) -> Arrays:
    """The variables after all rounds. StatusError if there would be more rounds than the most."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    body, ops = attrs.body, registry()
    count = len(body.variables)
    state = dict(zip(body.variables, operands.inputs[:count], strict=True))
    given = dict(zip(body.inputs, operands.inputs[count:], strict=True))
    for _ in range(attrs.rounds):
        if not goes(attrs, {**state, **given}):
            break
        interpreter.evaluate(body, given, ops, state)
    else:
        if attrs.condition is not None and goes(attrs, {**state, **given}):
            raise _too_many(attrs, operands)
    return tuple(state[name] for name in body.variables)


def goes(attrs: LoopAttrs, values: dict[str, Array]) -> bool:
    """Whether the condition is true of the values of variables and inputs."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    if attrs.condition is None:
        return True
    found = interpreter.evaluate(attrs.condition, values, registry())
    return bool(found[attrs.condition.outputs[0]].ravel()[0])


def _too_many(attrs: LoopAttrs, operands: Operands) -> StatusError:
    return StatusError(
        f"the condition is still true after {attrs.rounds} rounds",
        _INVALID_ARG,
        position=0,
        among=np.atleast_1d(operands.inputs[0]),
        wrong=np.ones(np.atleast_1d(operands.inputs[0]).shape, bool),
        allowed=f"such that there are at most {attrs.rounds} rounds",
    )


def _bound(attrs: LoopAttrs, given: Inexact) -> Arrays:
    """The errors of the nodes inside, computed round after round. If the inputs of a condition are
    not exact, it may end the loop after any round."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    body, ops = attrs.body, registry()
    count = len(body.variables)
    kept = Kept(
        dict(zip(body.variables, given.operands.inputs[:count], strict=True)),
        dict(zip(body.variables, given.errors[:count], strict=True)),
    )
    inputs = dict(zip(body.inputs, given.operands.inputs[count:], strict=True))
    off = dict(zip(body.inputs, given.errors[count:], strict=True))
    for _ in range(attrs.rounds):
        if attrs.condition is not None and any(
            np.any(({**kept.errors, **off}).get(name, 0) != 0) for name in attrs.condition.inputs
        ):
            return tuple(np.full(array.shape, np.inf) for array in given.expected)
        if not goes(attrs, {**kept.values, **inputs}):
            break
        for _one in beside.walk(body, inputs, ops, {}, kept, off):
            pass
    return tuple(
        np.broadcast_to(kept.errors.get(name, 0.0), array.shape).astype(np.float64)
        for name, array in zip(body.variables, given.expected, strict=True)
    )


def _inside(
    node: Node, operands: Operands, errors: Arrays, found: Mapping[str, Array], slack: Slack
) -> Iterator[Expected]:
    """The tensors of each round, with the inputs that they have in the implementation, as far as
    they are known, then the values after the last round."""
    from microgen.graph.ops import (
        registry,  # not at the top, because the registry imports this module
    )

    attrs = node.attrs
    assert isinstance(attrs, LoopAttrs), "it is the op's function"
    body, count = attrs.body, len(attrs.body.variables)
    kept = Kept(
        dict(zip(body.variables, operands.inputs[:count], strict=True)),
        dict(zip(body.variables, errors[:count], strict=True)),
    )
    inputs = dict(zip(body.inputs, operands.inputs[count:], strict=True))
    off = dict(zip(body.inputs, errors[count:], strict=True))
    lead = inner_name(node.outputs[0], 0 if attrs.condition is None else 1, "")
    rules: dict[str, tuple[str, ...]] = {}
    for number in range(attrs.rounds):
        known = _fitting(body, of_round(found, lead, number))
        for one in beside.walk(body, inputs, registry(), known, kept, off, slack=slack):
            rules[one.tensor] = one.rules
            yield _in_round(one, lead, number, attrs.rounds)
    for name, variable in zip(node.outputs, body.variables, strict=True):
        values = kept.values[variable]
        bound = np.broadcast_to(kept.errors.get(variable, 0.0), values.shape)
        since = rules.get(body.updates.get(variable, variable), ())
        yield Expected(node, name, values, bound, since, None)


def _fitting(body: Graph, found: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays that have the size of the tensor of that name, in its shape. The names of tensors
    in rounds of further loops are not in the graph."""
    fitting = {}
    for name, array in found.items():
        kind = body.types.get(name)
        if kind is None:
            fitting[name] = array
        elif kind.nbytes == array.nbytes:
            own = np.ascontiguousarray(array).view(kind.dtype.numpy)
            fitting[name] = own.reshape(kind.shape)
    return fitting


def _in_round(one: Expected, lead: str, number: int, rounds: int) -> Expected:
    """What is expected of a tensor in a round, with its names outside of the loop."""
    layer = f"{one.node.origin.layer}, round {number + 1} of {rounds}"
    node = replace(one.node, origin=replace(one.node.origin, layer=layer))
    name = in_loop(lead, one.tensor, number)
    return replace(one, node=node, tensor=name, name=plain(name))


def _cost(attrs: LoopAttrs, _inputs: Types, _outputs: Types) -> ReferenceCost:
    each = control.cost(attrs.body)
    own = control.cost(attrs.condition) if attrs.condition is not None else ReferenceCost(0, 0)
    return ReferenceCost(each.nbytes + own.nbytes, attrs.rounds * (each.steps + own.steps))


OP = OpDefinition(
    "loop",
    LoopAttrs,
    infer,
    check,
    reference,
    bound=Bound("those of the layers inside, round after round", _bound),
    cost=_cost,
    inside=_inside,
)
