"""Random nodes of every operator of the C runtime, and their values in float64.

Texts may come from elsewhere, so the nodes vary more than those that microgen's serializer writes.
For example, a layout may be any permutation, and padding may be larger than a window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array
from microgen.tvm.codegens.json_graph import JSONGraph, JSONNode

Rng = np.random.Generator
ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "": lambda x: x,
    "_relu": lambda x: np.maximum(x, 0),
    "_tanh": np.tanh,
    "_sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "_clip": lambda x: np.clip(x, -0.75, 0.5),
    "_swish": lambda x: x / (1 + np.exp(-x)),
}
CLIPPED = {"a_min": ("-0.75",), "a_max": ("0.5",)}


@dataclass(frozen=True)
class Drawn:
    """A single node: its operands, its attributes and its value."""

    name: str
    operands: Sequence[Array]
    attrs: Mapping[str, tuple[str, ...]]
    value: Array

    def graph(self, constants: int = 0) -> JSONGraph:
        """The node's graph. The last ``constants`` operands are constants, the others inputs."""
        inputs = len(self.operands) - constants
        leaves = tuple(
            JSONNode("const", f"dnnl_f_const_{i - inputs}", (x.shape,), ("float32",))
            if i >= inputs
            else JSONNode("input", f"i{i}", (x.shape,), ("float32",))
            for i, x in enumerate(self.operands)
        )
        entries = tuple((i, 0, 0) for i in range(len(leaves)))
        outputs = 3 if self.name == "nn.batch_norm" else 1
        shapes = (self.value.shape, *(x.shape for x in self.operands[3:5]))[:outputs]
        dtypes = ("float32",) * outputs
        kernel = JSONNode("kernel", self.name, shapes, dtypes, entries, self.attrs)
        return JSONGraph("dnnl_f", (*leaves, kernel), ((len(leaves), 0, 0),))


def drawn(name: str, seed: int) -> Drawn:
    rng = np.random.default_rng((seed, *name.encode()))
    return DRAWS[name](name, rng)


def _values(rng: Rng, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def _texts(*numbers: object) -> tuple[str, ...]:
    return tuple(map(str, numbers))


def _some(rng: Rng, low: int, high: int, count: int) -> list[int]:
    return [int(n) for n in rng.integers(low, high, count)]


def _layout(rng: Rng, letters: str) -> str:
    return letters if rng.integers(2) else "".join(rng.permutation(list(letters)))


def _stored(x: Array, letters: str, layout: str) -> Array:
    return np.ascontiguousarray(x.transpose([letters.index(axis) for axis in layout]))


def _out_layout(rng: Rng, layout: str) -> tuple[str, str]:
    """The attribute's text, and the layout that it means."""
    written = str(rng.choice(["", layout, _layout(rng, "NCHW")]))
    return written, written or layout


def _padding(rng: Rng, high: int) -> tuple[tuple[str, ...], list[int]]:
    """The attribute's texts, and the padding at the top, left, bottom and right."""
    numbers = _some(rng, 0, high, int(rng.choice([1, 2, 4, 4])))
    return _texts(*numbers), (numbers * 4)[:4]


def _windows(x: Array, pads: Sequence[int], taps: Sequence[int], steps: Sequence[int]) -> Array:
    """The windows [N, C, OH, OW, KH, KW] of an NCHW image, with NaN for padding.

    ``steps`` are the strides, then the dilation.
    """
    top, left, bottom, right = pads
    padded = np.pad(
        x.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=np.nan
    )
    spans = [(k - 1) * d + 1 for k, d in zip(taps, steps[2:], strict=True)]
    seen = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))  # type: ignore[call-overload]
    found: Array = seen[:, :, :: steps[0], :: steps[1], :: steps[2], :: steps[3]]
    return found


def _sizes(
    rng: Rng, pads: Sequence[int], taps: Sequence[int], dilation: Sequence[int]
) -> list[int]:
    """The height and width of an image that has at least one window."""
    least = [
        (k - 1) * d + 1 - pads[i] - pads[i + 2]
        for i, (k, d) in enumerate(zip(taps, dilation, strict=True))
    ]
    return [max(1, n) + int(rng.integers(0, 6)) for n in least]


def _fused(rng: Rng, root: str, out: Array, axis: int) -> tuple[str, list[Array], Array]:
    """A composite's name, its other operands, and its value, for the root's value ``out``."""
    name, operands = root.replace("nn.", "dnnl."), []
    if rng.integers(2):
        shape = [1] * (out.ndim - axis)
        shape[0] = out.shape[axis]
        bias = _values(rng, *shape)
        flat = bool(rng.integers(2))
        name, operands, out = f"{name}_bias", [bias.ravel() if flat else bias], out + bias
    if rng.integers(2):
        other = _values(rng, *out.shape)
        name, operands, out = f"{name}_sum", [*operands, other], out + other
    activation = str(rng.choice(list(ACTIVATIONS)))
    if not operands and not activation and rng.integers(2):
        return root, [], out
    return name + activation, operands, ACTIVATIONS[activation](out)


def _conv2d(name: str, rng: Rng) -> Drawn:
    groups, taps, dilation = int(rng.integers(1, 4)), _some(rng, 1, 4, 2), _some(rng, 1, 3, 2)
    inner, filters = _some(rng, 1, 4, 1)[0], groups * int(rng.integers(1, 7))
    written, pads = _padding(rng, 4)
    height, width = _sizes(rng, pads, taps, dilation)
    strides = _some(rng, 1, 4, 2)
    data = _values(rng, int(rng.integers(1, 3)), groups * inner, height, width)
    weight = _values(rng, filters, inner, *taps)
    seen = np.nan_to_num(_windows(data, pads, taps, (*strides, *dilation)))
    seen = seen.reshape(len(data), groups, inner, *seen.shape[2:])
    split = weight.astype(np.float64).reshape(groups, -1, inner, *taps)
    out = np.einsum("ngihwab,goiab->ngohw", seen, split)
    out = out.reshape(len(data), filters, *out.shape[3:])
    layout, kernel_layout = _layout(rng, "NCHW"), _layout(rng, "OIHW")
    out_text, out_layout = _out_layout(rng, layout)
    attrs = {
        "strides": _texts(*strides),
        "padding": written,
        "dilation": _texts(*dilation),
        "groups": _texts(groups),
        "channels": _texts(rng.choice(["", filters])),
        "kernel_size": _texts(*taps) if rng.integers(2) else ("",),
        "data_layout": (layout,),
        "kernel_layout": (kernel_layout,),
        "out_layout": (out_text,),
        "out_dtype": _texts(rng.choice(["", "float32"])),
        **CLIPPED,
    }
    out = _stored(out, "NCHW", out_layout)
    name, more, out = _fused(rng, name, out, out_layout.index("C"))
    operands = [_stored(data, "NCHW", layout), _stored(weight, "OIHW", kernel_layout), *more]
    return Drawn(name, operands, attrs, out)


def _dense(name: str, rng: Rng) -> Drawn:
    *lead, depth, units = _some(rng, 1, 8, int(rng.integers(2, 5)))
    data, weight = _values(rng, *lead, depth), _values(rng, units, depth)
    out = data.astype(np.float64) @ weight.T.astype(np.float64)
    attrs = {"units": _texts(rng.choice(["", units])), "out_dtype": ("",), **CLIPPED}
    name, more, out = _fused(rng, name, out, out.ndim - 1)
    return Drawn(name, [data, weight, *more], attrs, out)


def _batch_matmul(name: str, rng: Rng) -> Drawn:
    rows, depth, columns, batches = _some(rng, 1, 6, 4)
    a, b = (bool(n) for n in rng.integers(0, 2, 2))
    counts = [(batches, batches), (1, batches), (batches, 1)][int(rng.integers(3))]
    lhs, rhs = _values(rng, counts[0], rows, depth), _values(rng, counts[1], depth, columns)
    out = lhs.astype(np.float64) @ rhs.astype(np.float64)
    operands = [_stored(x, "bij", "bji") if t else x for x, t in ((lhs, a), (rhs, b))]
    attrs = {"transpose_a": _texts(int(a)), "transpose_b": _texts(int(b)), "out_dtype": ("",)}
    return Drawn(name, operands, attrs, out)


def _binary(name: str, rng: Rng) -> Drawn:
    shape = _some(rng, 1, 4, int(rng.integers(0, 7)))
    operands = []
    for _ in range(2):
        kept = shape[int(rng.integers(0, len(shape) + 1)) :] if rng.integers(2) else shape
        operands.append(_values(rng, *(n if rng.integers(3) else 1 for n in kept)))
    lhs, rhs = operands
    return Drawn(name, operands, {}, lhs + rhs if name == "add" else lhs * rhs)


def _batch_norm(name: str, rng: Rng) -> Drawn:
    shape = _some(rng, 1, 5, int(rng.integers(1, 6)))
    axis = int(rng.integers(len(shape)))
    center, scale = _some(rng, 0, 2, 2)
    data, *given = _values(rng, *shape), *(_values(rng, shape[axis]) for _ in range(3))
    variance = rng.uniform(0.1, 3, shape[axis]).astype(np.float32)
    along = [-1 if i == axis else 1 for i in range(len(shape))]
    gamma, beta, mean, var = (x.astype(np.float64).reshape(along) for x in (*given, variance))
    out = (data - mean) / np.sqrt(var + 1e-3) * (gamma if scale else 1) + (beta if center else 0)
    attrs = {
        "axis": _texts(axis - len(shape) * int(rng.integers(2))),
        "epsilon": ("0.001",),
        "center": _texts(center),
        "scale": _texts(scale),
    }
    return Drawn(name, [data, *given, variance], attrs, out)


def _pooled(name: str, seen: Array, taps: Sequence[int], counts_padding: bool) -> Array:
    inside = ~np.isnan(seen)
    if "max" in name:
        lowest = float(np.finfo(np.float32).min)
        found: Array = np.where(inside, seen, lowest).max((4, 5))
        return found
    total = np.where(inside, seen, 0).sum((4, 5))
    mean: Array = total / (math.prod(taps) if counts_padding else np.maximum(inside.sum((4, 5)), 1))
    return mean


def _pool2d(name: str, rng: Rng) -> Drawn:
    taps, dilation, strides = _some(rng, 1, 4, 2), _some(rng, 1, 3, 2), _some(rng, 1, 4, 2)
    written, pads = _padding(rng, 5)
    layout = _layout(rng, "NCHW")
    out_text, out_layout = _out_layout(rng, layout)
    counts_padding = bool(rng.integers(2))
    data = _values(rng, *_some(rng, 1, 4, 2), *_sizes(rng, pads, taps, dilation))
    seen = _windows(data, pads, taps, (*strides, *dilation))
    out = _pooled(name, seen, taps, counts_padding)
    attrs = {
        "pool_size": _texts(*taps),
        "strides": _texts(*strides),
        "dilation": _texts(*dilation),
        "padding": written,
        "layout": (layout,),
        "out_layout": (out_text,),
        "ceil_mode": ("0",),
        "count_include_pad": _texts(int(counts_padding)),
    }
    return Drawn(name, [_stored(data, "NCHW", layout)], attrs, _stored(out, "NCHW", out_layout))


def _global_pool2d(name: str, rng: Rng) -> Drawn:
    layout = _layout(rng, "NCHW")
    out_text, out_layout = _out_layout(rng, layout)
    data = _values(rng, *_some(rng, 1, 8, 4))
    out = data.astype(np.float64).mean((2, 3), keepdims=True)
    out = data.max((2, 3), keepdims=True) if "max" in name else out
    attrs = {"layout": (layout,), "out_layout": (out_text,)}
    return Drawn(name, [_stored(data, "NCHW", layout)], attrs, _stored(out, "NCHW", out_layout))


def _softmax(name: str, rng: Rng) -> Drawn:
    shape = _some(rng, 1, 6, int(rng.integers(1, 6)))
    axis = int(rng.integers(-len(shape), len(shape)))
    data = _values(rng, *shape) * np.float32(3)
    exps = np.exp(data.astype(np.float64) - data.max(axis, keepdims=True))
    return Drawn(name, [data], {"axis": _texts(axis)}, exps / exps.sum(axis, keepdims=True))


def _leaky_relu(name: str, rng: Rng) -> Drawn:
    data = _values(rng, *_some(rng, 1, 6, int(rng.integers(0, 6))))
    alpha = float(rng.uniform(-0.5, 0.5))
    value = np.where(data > 0, data, data * np.float64(np.float32(alpha)))
    return Drawn(name, [data], {"alpha": (format(alpha, ".17g"),)}, value)


_FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    **{name: ACTIVATIONS[f"_{name.removeprefix('nn.')}"] for name in ("nn.relu", "tanh", "clip")},
    "sigmoid": ACTIVATIONS["_sigmoid"],
    "abs": np.abs,
    "exp": np.exp,
    "log": lambda x: np.log(np.abs(x)),
    "sqrt": lambda x: np.sqrt(np.abs(x)),
}


def _unary(name: str, rng: Rng) -> Drawn:
    data = _values(rng, *_some(rng, 1, 6, int(rng.integers(0, 7))))
    data = np.abs(data) if name in ("log", "sqrt") else data
    attrs = CLIPPED if name == "clip" else {}
    return Drawn(name, [data], attrs, _FUNCTIONS[name](data.astype(np.float64)))


DRAWS: Mapping[str, Callable[[str, Rng], Drawn]] = {
    "nn.conv2d": _conv2d,
    "nn.dense": _dense,
    "nn.batch_matmul": _batch_matmul,
    "add": _binary,
    "multiply": _binary,
    "nn.batch_norm": _batch_norm,
    "nn.max_pool2d": _pool2d,
    "nn.avg_pool2d": _pool2d,
    "nn.global_max_pool2d": _global_pool2d,
    "nn.global_avg_pool2d": _global_pool2d,
    "nn.softmax": _softmax,
    "nn.leaky_relu": _leaky_relu,
    **dict.fromkeys(_FUNCTIONS, _unary),
}
