"""Operators that keep a state from one inference to the next."""

from __future__ import annotations

from microgen.graph.ir.graph import DType
from tests.differential.makers import Maker
from tests.differential.network import Network
from tests.kernels.conformance import stateful
from tests.kernels.recurrent import lstm_cases, rnn_cases, svdf_cases


def _random(net: Network, code: str, dtype: str) -> stateful.Network:
    seed = int(net.rng.integers(10**6))
    if code == "SVDF":
        return svdf_cases.network(seed, DType(dtype))
    return lstm_cases.network(seed, DType(dtype), is_plain=net.chance(0.3))


def _recurrent(net: Network, code: str, dtype: str) -> None:
    made = _random(net, code, dtype)
    (data,) = [spec for spec in made.tensors if spec.name == "x"]
    quantization = (data.scale[0], data.zero_point[0]) if data.scale else None
    fed = net.pick(
        dtype,
        fits=lambda name: net.quantization(name) == quantization,
        shape=data.shape,
        quantization=quantization,
    )
    net.graft(made.tensors, made.operator, fed)


def _rnn(net: Network, code: str, dtype: str) -> None:
    made, operator = rnn_cases.layer(
        code, time_major=net.chance(0.5), seed=int(net.rng.integers(10**6))
    )
    fed = net.pick(dtype, fits=lambda name: net.greatest(name) < 20, shape=made[0].shape)
    net.graft(made, operator, fed)


MAKERS = (
    Maker(rnn_cases.CODES, ("float32",), _rnn),
    Maker(("SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"), ("int8", "float32"), _recurrent),
)
