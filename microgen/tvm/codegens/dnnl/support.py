"""The operators that the runtime takes, each with reasons for refusals. The list is TVM's for DNNL,
without operators that microgen's Relay lacks, and without nn.bias_add, which only composite
functions have.

Source of the list: TVM v0.14, ``python/tvm/relay/op/contrib/dnnl.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from microgen.relay.expr import TensorType, TupleType
from microgen.relay.op import relations
from microgen.relay.transform.support import OperatorCall, Predicate

MAX_RANK = 6  # the runtime's shapes
MAX_BROADCAST_RANK = 4  # of add and multiply
DATA_LAYOUTS = ("NCHW", "NHWC")
KERNEL_LAYOUTS = ("OIHW", "HWIO", "OHWI", "HWOI")


def tensors(call: OperatorCall) -> list[TensorType]:
    """The types of operands and results."""
    result = call.result.fields if isinstance(call.result, TupleType) else (call.result,)
    return [part for part in (*call.args, *result) if isinstance(part, TensorType)]


def _values(call: OperatorCall) -> str | None:
    """Refusal for every operator unless all tensors are float32, not empty, and of low rank."""
    for tensor in tensors(call):
        if tensor.dtype != "float32":
            return f"a tensor is {tensor}; the runtime computes in float32 only"
        if len(tensor.shape) > MAX_RANK:
            return f"a tensor has {len(tensor.shape)} axes; the runtime takes up to {MAX_RANK}"
        # A dimension of 0 is malformed for the runtime.
        if 0 in tensor.shape:
            return f"a tensor, {tensor}, is empty"
    return None


def _one_of(call: OperatorCall, name: str, accepted: Sequence[str]) -> str | None:
    if call.attrs[name] in accepted:
        return None
    known = " or ".join(text or "none" for text in dict.fromkeys(accepted))
    return f"{name} is {call.attrs[name]}; the runtime takes {known}"


def _out_layout(call: OperatorCall, of: str) -> str | None:
    return _one_of(call, "out_layout", ("", call.attrs[of]))


def _conv2d(call: OperatorCall) -> str | None:
    return (
        _one_of(call, "data_layout", DATA_LAYOUTS)
        or _one_of(call, "kernel_layout", KERNEL_LAYOUTS)
        or _out_layout(call, "data_layout")
        or _multiplier(call)
    )


def _multiplier(call: OperatorCall) -> str | None:
    """The channel multiplier, which Relay calls "I" if each channel is a group."""
    data, weight = tensors(call)[:2]
    channels = data.shape[call.attrs["data_layout"].index("C")]
    inner = weight.shape[call.attrs["kernel_layout"].index("I")]
    # For a grouped convolution "I" is the number of input channels of a group.
    if inner * call.attrs["groups"] == channels:
        return None
    return f"the weight, {weight}, has a channel multiplier of {inner}; DNNL has none"


def _dense(call: OperatorCall) -> str | None:
    data = tensors(call)[0]
    if len(data.shape) != 2:
        return f"the data is {data}; the runtime takes a matrix"
    return None


def _pool(call: OperatorCall) -> str | None:
    return _layouts(call) or _window(call)


def _layouts(call: OperatorCall) -> str | None:
    return _one_of(call, "layout", DATA_LAYOUTS) or _out_layout(call, "layout")


def _window(call: OperatorCall) -> str | None:
    if call.attrs["ceil_mode"]:
        return "ceil_mode is set; DNNL rounds down"
    if tuple(call.attrs["dilation"]) != (1, 1):
        return f"the dilation is {list(call.attrs['dilation'])}; the runtime takes none"
    pads, size = relations.pads(call.attrs["padding"]), call.attrs["pool_size"]
    # Otherwise a window could lie in the padding alone.
    if max(pads[0], pads[2]) >= size[0] or max(pads[1], pads[3]) >= size[1]:
        return f"the padding {list(pads)} is not smaller than the pool of {list(size)}"
    return None


def _broadcast(call: OperatorCall) -> str | None:
    rank = len(tensors(call)[-1].shape)
    if rank > MAX_BROADCAST_RANK:
        return f"the result has {rank} axes; the runtime broadcasts up to {MAX_BROADCAST_RANK}"
    return None


def _predicate(constraint: Predicate | None) -> Predicate:
    return lambda call: _values(call) or (constraint(call) if constraint else None)


_CONSTRAINTS: Mapping[str, Predicate] = {
    "nn.conv2d": _conv2d,
    "nn.dense": _dense,
    "nn.max_pool2d": _pool,
    "nn.avg_pool2d": _pool,
    "nn.global_avg_pool2d": _layouts,
    "add": _broadcast,
    "multiply": _broadcast,
}
# Any attributes and shapes.
_UNCONSTRAINED = (
    *("nn.batch_norm", "nn.softmax", "nn.relu", "nn.leaky_relu", "nn.batch_matmul"),
    *("abs", "clip", "exp", "log", "sqrt", "tanh", "sigmoid"),
)

OPERATORS: Mapping[str, Predicate] = MappingProxyType(
    {name: _predicate(_CONSTRAINTS.get(name)) for name in (*_CONSTRAINTS, *_UNCONSTRAINED)}
)
