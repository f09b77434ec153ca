"""Random functions of dnnl's operators: both layouts, branches, composite functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from microgen import relay
from microgen.relay.expr import Call, Expr, Function, TensorType, TupleType
from microgen.relay.module import IRModule
from microgen.tvm.codegens.dnnl import composites

Draw = Callable[[Expr, tuple[int, ...]], Expr | None]
_KERNEL_LAYOUTS = ("OIHW", "HWIO", "OHWI", "HWOI")


class _Maker:
    """Draws operators on images of one layout first, and then on matrices."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.layout = self.one_of("NCHW", "NHWC")
        size = dict(zip("NCHW", self.rng.integers((1, 1, 4, 4), (3, 5, 9, 9)), strict=True))
        shape = [int(size[axis]) for axis in self.layout]
        self.params = [relay.var(f"i{i}", shape=shape) for i in range(2)]
        self.live: list[Expr] = list(self.params)

    def function(self) -> Function:
        self._grow((*self._images(), *self._any()), int(self.rng.integers(2, 7)))
        if self.rng.random() < 0.5:
            self._flatten()
            self._grow((self._dense, *self._any()), int(self.rng.integers(1, 4)))
        if self.rng.random() < 0.1:
            return Function(self.params, relay.Tuple(self.live[-2:]))
        return Function(self.params, self.live[-1])

    def _images(self) -> tuple[Draw, ...]:
        return self._conv2d, self._conv2d, self._conv2d, self._pool, self._batch_norm

    def _any(self) -> tuple[Draw, ...]:
        return self._unary, self._binary, self._softmax

    def _grow(self, kinds: Sequence[Draw], steps: int) -> None:
        while steps:
            value = self.live[-1 - int(self.rng.integers(min(2, len(self.live))))]
            draw = kinds[int(self.rng.integers(len(kinds)))]
            grown = draw(value, self.shape(value))
            if grown is not None:
                self.live.append(grown)
                steps -= 1

    def _flatten(self) -> None:
        """Goes on with matrices. They come from a new parameter, because reshape is not dnnl's."""
        shape = [int(n) for n in self.rng.integers(1, 6, 2)]
        self.params.append(relay.var("m", shape=shape))
        self.live = [self.params[-1]]

    def shape(self, value: Expr) -> tuple[int, ...]:
        module = relay.infer_type(IRModule.from_expr(Function(self.params, value)))
        assert module.types is not None
        found = module.types[value]
        assert isinstance(found, TensorType)
        return found.shape

    def one_of(self, *choices: str) -> str:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self) -> bool:
        return bool(self.rng.integers(2))

    def constant(self, *shape: int) -> Expr:
        return relay.const(self.rng.standard_normal(shape).astype(np.float32) * np.float32(0.5))

    def _channels(self, shape: tuple[int, ...]) -> int:
        return shape[self.layout.index("C")]

    def _spatial(self, shape: tuple[int, ...]) -> tuple[int, int]:
        return shape[self.layout.index("H")], shape[self.layout.index("W")]

    def _conv2d(self, x: Expr, shape: tuple[int, ...]) -> Expr | None:
        channels, (height, width) = self._channels(shape), self._spatial(shape)
        kernel = [int(self.rng.integers(1, min(3, n) + 1)) for n in (height, width)]
        groups = channels if self.chance() else 1
        filters = groups * int(self.rng.integers(1, 4 if groups == 1 else 3))
        if groups > 1 and groups == filters and channels // groups != 1:
            return None
        sizes = {"O": filters, "I": channels // groups, "H": kernel[0], "W": kernel[1]}
        layout = self.one_of(*_KERNEL_LAYOUTS)
        weight = self.constant(*(sizes[axis] for axis in layout))
        pads = [int(n) for n in self.rng.integers(0, 2, int(self.rng.choice([1, 2, 4])))]
        options = {
            "strides": tuple(int(n) for n in self.rng.integers(1, 3, 2)),
            "padding": tuple(pads),
            "groups": groups,
            "data_layout": self.layout,
            "kernel_layout": layout,
        }
        if self.chance():
            options |= {"channels": filters, "kernel_size": tuple(kernel), "out_dtype": "float32"}
        return self._finished("conv2d", x, weight, options)

    def _dense(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        units = int(self.rng.integers(1, 6))
        options = {"units": units} if self.chance() else {}
        return self._finished("dense", x, self.constant(units, shape[1]), options)

    def _finished(self, root: str, x: Expr, weight: Expr, options: dict[str, object]) -> Expr:
        """The root operator by itself, or in a composite function."""
        build = getattr(relay.nn, root)
        if self.rng.random() < 0.3:
            return build(x, weight, **options)
        params = [relay.var(f"p{i}", shape=self.shape(v)) for i, v in enumerate((x, weight))]
        args: list[Expr] = [x, weight]
        body, name = build(*params, **options), f"dnnl.{root}"
        shape = self.shape(build(x, weight, **options))
        if self.chance():
            bias, body = self._biased(root, body, shape)
            name, params, args = f"{name}_bias", [*params, bias[0]], [*args, bias[1]]
            alike = [value for value in self.live if self.shape(value) == shape]
            if self.chance():
                added = relay.var("s", shape=shape)
                body = relay.add(added, body) if self.chance() else relay.add(body, added)
                name, params, args = (
                    f"{name}_sum",
                    [*params, added],
                    [*args, (*alike, self.constant(*shape))[0]],
                )
        if name == f"dnnl.{root}" or self.chance():
            body, name = self._activated(body, name)
        attrs = {"Composite": name, "PartitionedFromPattern": "as_it_may_be_"}
        order = [int(i) for i in self.rng.permutation(len(params))]
        function = Function([params[i] for i in order], body, attrs=attrs)
        return Call(function, [args[i] for i in order])

    def _biased(
        self, root: str, body: Expr, shape: tuple[int, ...]
    ) -> tuple[tuple[relay.Var, Expr], Expr]:
        axis = self.layout.index("C") if root == "conv2d" else 1
        size = shape[axis]
        if self.chance():
            bias = relay.var("b", shape=(size,))
            return (bias, self.constant(size)), relay.nn.bias_add(body, bias, axis=axis)
        along = (size,) + (1,) * (len(shape) - 1 - axis)
        bias = relay.var("b", shape=along)
        return (bias, self.constant(*along)), relay.add(body, bias)

    def _activated(self, x: Expr, name: str) -> tuple[Expr, str]:
        kind = self.one_of(*composites.ACTIVATIONS)
        return self._activation(kind, x), f"{name}_{kind}"

    def _activation(self, kind: str, x: Expr) -> Expr:
        match kind:
            case "relu":
                return relay.nn.relu(x)
            case "clip":
                return relay.clip(x, float(self.rng.uniform(-1, 0)), float(self.rng.uniform(0, 1)))
            case "swish":
                pair = [x, relay.sigmoid(x)]
                return relay.multiply(*(pair if self.chance() else reversed(pair)))
        found: Expr = getattr(relay, kind)(x)
        return found

    def _pool(self, x: Expr, shape: tuple[int, ...]) -> Expr | None:
        if min(self._spatial(shape)) < 2:
            return None
        if self.rng.random() < 0.2:
            return relay.nn.global_avg_pool2d(x, layout=self.layout)
        options: dict[str, object] = {
            "pool_size": tuple(int(n) for n in self.rng.integers(1, 3, 2) + 1),
            "strides": tuple(int(n) for n in self.rng.integers(1, 3, 2)),
            "padding": tuple(int(n) for n in self.rng.integers(0, 2, 4)),
            "layout": self.layout,
        }
        if max(options["pool_size"]) > min(self._spatial(shape)):  # type: ignore[call-overload]
            return None
        if self.chance():
            return relay.nn.max_pool2d(x, **options)
        return relay.nn.avg_pool2d(x, **options, count_include_pad=self.chance())

    def _batch_norm(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        channels = self._channels(shape)
        given = [self.constant(channels) for _ in range(3)]
        variance = relay.const(self.rng.uniform(0.5, 2, channels).astype(np.float32))
        axis = self.layout.index("C") - (4 if self.chance() else 0)
        options = {"axis": axis, "epsilon": 1e-3, "center": self.chance(), "scale": self.chance()}
        return relay.nn.batch_norm(x, *given, variance, **options)[0]

    def _softmax(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        return relay.nn.softmax(x, axis=int(self.rng.integers(-len(shape), len(shape))))

    def _unary(self, x: Expr, _shape: tuple[int, ...]) -> Expr:
        kind = self.one_of("relu", "clip", "tanh", "sigmoid", "exp", "abs", "leaky", "log", "sqrt")
        if kind in ("log", "sqrt"):  # of positive numbers only
            return getattr(relay, kind)(relay.add(relay.abs(x), relay.const(0.5)))
        if kind == "exp":  # its argument must be small
            return relay.exp(relay.tanh(x))
        if kind == "leaky":
            return relay.nn.leaky_relu(x, alpha=float(self.rng.uniform(0, 0.5)))
        return relay.abs(x) if kind == "abs" else self._activation(kind, x)

    def _binary(self, x: Expr, shape: tuple[int, ...]) -> Expr:
        build = relay.add if self.chance() else relay.multiply
        alike = [value for value in self.live if self.shape(value) == shape]
        if self.chance():
            other: Expr = alike[int(self.rng.integers(len(alike)))]
        else:
            kept = shape[int(self.rng.integers(len(shape))) :]
            other = self.constant(*(n if self.chance() else 1 for n in kept))
        return build(x, other) if self.chance() else build(other, x)


def random_function(seed: int) -> IRModule:
    """A module whose @main dnnl's runtime can run, with types inferred."""
    return relay.infer_type(IRModule.from_expr(_Maker(seed).function()))


def random_inputs(module: IRModule, seed: int) -> list[np.ndarray]:
    """An array for each parameter of @main."""
    rng = np.random.default_rng(seed)
    types = [param.type_annotation for param in module["main"].params]
    assert not any(isinstance(t, TupleType) for t in types)
    return [rng.standard_normal(t.shape).astype(np.float32) for t in types]
