"""The operators and patterns that dnnl takes. Of the patterns, the first that fits is used.

Source of the patterns and their order: TVM v0.14, ``python/tvm/relay/op/contrib/dnnl.py``,
pattern_table.
"""

from __future__ import annotations

from collections.abc import Iterator

from microgen.relay.pattern import Pattern, is_op, wildcard
from microgen.relay.transform.support import CompositePattern, Match, Support
from microgen.tvm.codegens.dnnl.composites import ACTIVATIONS, LAST, ROOTS, Composite, parse
from microgen.tvm.codegens.dnnl.patterns import refusal
from microgen.tvm.codegens.dnnl.support import OPERATORS


def _names() -> Iterator[str]:
    yield from ("dnnl.dense_bias_sum", "dnnl.conv2d_bias_sum_relu", "dnnl.conv2d_bias_sum")
    for bias in ("_bias", ""):
        for activation in (*(f"_{name}" for name in ACTIVATIONS), *(("",) if bias else ())):
            yield from (f"dnnl.{root}{bias}{activation}" for root in ROOTS)


def _pattern(made: Composite) -> Pattern:
    """The pattern. Additions match in both orders; a bias may also be an ``nn.bias_add``."""
    found: Pattern = is_op(made.root)(wildcard(), wildcard())
    if made.bias:
        bias = wildcard()
        found = is_op("add")(found, bias) | is_op("nn.bias_add")(found, bias)
    if made.sum:
        found = is_op("add")(found, wildcard())
    if made.activation == "swish":
        return is_op("multiply")(found, is_op("sigmoid")(found))
    return is_op(LAST.get(made.activation, made.activation))(found) if made.activation else found


def _composite(name: str) -> CompositePattern:
    made = parse(name)
    assert made is not None, "composites.py reads the names of this table"

    def check(match: Match) -> str | None:
        return refusal(name, match.root, match.types, match.inputs)

    return CompositePattern(name, _pattern(made), check)


SUPPORT = Support("dnnl", OPERATORS, tuple(map(_composite, _names())))
