"""Pools and reductions. The mean over a whole image is a pool in Relay."""

from __future__ import annotations

from microgen.compiler.partition.in_relay.said import NoFormError, Said, activated, call
from microgen.graph.ops.geometry import explicit
from microgen.relay.expr import Expr

_IMAGE = (1, 2)  # the axes of height and width


def _pool(said: Said) -> Expr:
    """A pool that ignores padding, as Relay's pools do by default."""
    attrs = said.attrs
    found = call(
        said.op,
        said.operands[0],
        pool_size=attrs.pool_size,
        strides=attrs.strides,
        padding=explicit(attrs.padding),
        layout="NHWC",
    )
    return activated(found, attrs.activation)


def _reduction(said: Said) -> Expr:
    if not said.attrs.axes:
        raise NoFormError("it has no axes, which means all of them in Relay")
    if getattr(said.attrs, "from_infinity", False):
        raise NoFormError("Relay's begins at a finite value")
    axes, keeps = said.attrs.axes, said.attrs.keep_dims
    return call(said.op, said.operands[0], axis=axes, keepdims=keeps)


def _mean(said: Said) -> Expr:
    is_image = len(said.types[0].shape) == 4 and said.attrs.axes == _IMAGE
    if is_image and said.attrs.keep_dims:
        return call("nn.global_avg_pool2d", said.operands[0], layout="NHWC")
    return _reduction(said)


FORMS = {
    "nn.max_pool2d": _pool,
    "nn.avg_pool2d": _pool,
    "mean": _mean,
    **dict.fromkeys(("sum", "max", "min"), _reduction),
}
