"""What the vector unit can compute: predicates of operators, and a pattern of two.

A predicate returns None if the unit can compute a call. Otherwise it returns the reason, as a
sentence that ``microgen partition`` shows.
"""

from __future__ import annotations

import math

from microgen.relay.expr import TensorType
from microgen.relay.pattern import is_op, wildcard
from microgen.relay.transform import CompositePattern, Match, OperatorCall, Predicate, Support

LANES = 4
MAX_ELEMENTS = 4096
MULTIPLY_ADD = "vecunit.multiply_add"

# Relay's operators, and the library's functions for them.
FUNCTIONS = {"add": "vecunit_add", "multiply": "vecunit_multiply", "nn.relu": "vecunit_relu"}


def predicate(max_elements: int) -> Predicate:
    """The predicate for each operator of a unit that allows ``max_elements`` in a tensor."""

    def refusal(call: OperatorCall) -> str | None:
        result = call.result
        if not isinstance(result, TensorType) or result.dtype != "float32":
            return f"its result is {result}, and the unit computes float32"
        if any(argument != result for argument in call.args):
            shapes = ", ".join(str(argument) for argument in call.args)
            return f"it broadcasts {shapes} to {result}, which the unit cannot do"
        elements = math.prod(result.shape)
        if elements % LANES or elements > max_elements:
            return f"it has {elements} elements, expected multiples of {LANES} up to {max_elements}"
        return None

    return refusal


def support(max_elements: int) -> Support:
    """The operators and the pattern that the library can compute."""
    refusal = predicate(max_elements)

    def refusal_of_match(match: Match) -> str | None:
        return next(filter(None, map(refusal, match.calls)), None)

    product = is_op("multiply")(wildcard(), wildcard())
    pattern = is_op("add")(product, wildcard())  # in either order: add commutes
    return Support(
        "vecunit",
        dict.fromkeys(FUNCTIONS, refusal),
        (CompositePattern(MULTIPLY_ADD, pattern, refusal_of_match),),
    )
