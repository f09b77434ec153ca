"""Small torch networks of common use, each an instance with arguments that it can be called with.

Only torch_files.py imports this module, because it needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - everyone's name of it
from torch import nn

INDICES = 8  # integers that the networks read are below it
Network = tuple[nn.Module, tuple[torch.Tensor, ...]]
randn = torch.randn


class _Network(nn.Module):  # type: ignore[misc]
    """A function of its parts, which are modules or parameters, and of the inputs."""

    def __init__(self, forward: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        self._function = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs: Any) -> Any:
        return self._function(self, *inputs)


def of(function: Callable[..., Any], *inputs: torch.Tensor, **parts: Any) -> Network:
    """A function of the network, which has the ``parts``, and of ``inputs``."""
    return _Network(function, **parts), inputs


def in_turn(*layers: nn.Module, given: torch.Tensor) -> Network:
    """Layers one after another."""
    return nn.Sequential(*layers), (given,)


def indices(*shape: int) -> torch.Tensor:
    """Random int64 numbers."""
    return torch.randint(0, INDICES, shape)


def _dense() -> Mapping[str, Network]:
    x, rows = randn(1, 16), randn(1, 5, 16)

    def linear(outputs: int = 16) -> nn.Module:
        return nn.Linear(16, outputs)

    return {
        "linear": in_turn(linear(8), given=x),
        "linear_no_bias": in_turn(nn.Linear(16, 8, bias=False), given=x),
        "linear_rows": in_turn(linear(), nn.ReLU(), linear(4), given=rows),
        "linear_batch": in_turn(linear(), nn.ReLU(), linear(4), given=randn(4, 16)),
        "mlp": in_turn(linear(), nn.ReLU(), linear(10), nn.Softmax(-1), given=x),
        "mlp_log_softmax": in_turn(linear(), nn.Tanh(), linear(), nn.LogSoftmax(-1), given=x),
        "mlp_batch_norm": in_turn(linear(), nn.BatchNorm1d(16), nn.ReLU(), linear(4), given=x),
        "mlp_dropout": in_turn(linear(), nn.Dropout(), nn.Sigmoid(), linear(4), given=x),
        "two_inputs": of(
            lambda s, x, y: s.c(torch.cat([torch.tanh(s.a(x)), torch.sigmoid(s.b(y))], 1)),
            *(randn(1, 6), randn(1, 5)),
            a=nn.Linear(6, 16),
            b=nn.Linear(5, 16),
            c=nn.Linear(32, 3),
        ),
        "two_outputs": of(
            lambda s, x: (s.b(F.relu(s.a(x))), s.c(F.relu(s.a(x)))),
            x,
            a=linear(),
            b=linear(3),
            c=linear(2),
        ),
        "bilinear": of(lambda s, x, y: s.a(x, y), randn(1, 6), randn(1, 5), a=nn.Bilinear(6, 5, 4)),
        "autoencoder": in_turn(
            *(linear(8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU()),
            *(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 16), nn.Sigmoid()),
            given=x,
        ),
    }


def _activations() -> Mapping[str, Network]:
    each = {
        "gelu": nn.GELU(),
        "gelu_tanh": nn.GELU(approximate="tanh"),
        "silu": nn.SiLU(),
        "elu": nn.ELU(),
        "leaky_relu": nn.LeakyReLU(),
        "softplus": nn.Softplus(),
        "mish": nn.Mish(),
        "selu": nn.SELU(),
        "celu": nn.CELU(0.5),
        "log_sigmoid": nn.LogSigmoid(),
        "softsign": nn.Softsign(),
        "hardtanh": nn.Hardtanh(),
        "hardsigmoid": nn.Hardsigmoid(),
        "hardswish": nn.Hardswish(),
        "hardshrink": nn.Hardshrink(),
        "softshrink": nn.Softshrink(),
        "tanhshrink": nn.Tanhshrink(),
        "threshold": nn.Threshold(0.1, -1),
        "softmin": nn.Softmin(-1),
    }
    made = {
        name: in_turn(nn.Linear(8, 8), function, nn.Linear(8, 4), given=randn(1, 8))
        for name, function in each.items()
    }
    glu = in_turn(nn.Linear(8, 8), nn.GLU(), nn.Linear(4, 4), given=randn(1, 8))
    prelu = in_turn(nn.Conv2d(4, 8, 3), nn.PReLU(8), given=randn(1, 4, 6, 6))
    return made | {"glu": glu, "prelu": prelu}


def _convolutions() -> Mapping[str, Network]:
    x, line = randn(1, 4, 9, 9), randn(1, 4, 20)
    conv, conv1, transposed = nn.Conv2d, nn.Conv1d, nn.ConvTranspose2d
    each = {
        "conv_strided": conv(4, 8, 3, stride=2, padding=1),
        "conv_dilated": conv(4, 8, 3, dilation=2, padding=2),
        "conv_same": conv(4, 8, (3, 4), padding="same"),
        "conv_reflect": conv(4, 8, 3, padding=1, padding_mode="reflect"),
        "conv_replicate": conv(4, 8, 3, padding=1, padding_mode="replicate"),
        "conv_circular": conv(4, 8, 3, padding=1, padding_mode="circular"),
        "conv_grouped": conv(4, 8, 3, groups=2),
        "conv_asymmetric": conv(4, 8, (1, 5), stride=(2, 1), padding=(0, 2), bias=False),
        "depthwise": conv(4, 4, 3, padding=1, groups=4),
        "depthwise_multiplier": conv(4, 8, 3, stride=2, groups=4),
        "depthwise_dilated": conv(4, 4, 3, dilation=2, groups=4),
        "transposed": transposed(4, 6, 3, stride=2, padding=1, output_padding=1),
        "transposed_2x2": transposed(4, 6, 2, stride=2),
        "transposed_grouped": transposed(4, 4, 3, stride=2, groups=2),
    }
    lines = {
        "conv1d": nn.Sequential(conv1(4, 8, 3), nn.ReLU(), conv1(8, 4, 3)),
        "conv1d_depthwise": nn.Sequential(conv1(4, 4, 3, groups=4), nn.ReLU(), conv1(4, 8, 1)),
        "transposed1d": nn.ConvTranspose1d(4, 4, 4, stride=2, padding=1),
    }
    made = {name: (layer, (x,)) for name, layer in each.items()}
    return made | {name: (layer, (line,)) for name, layer in lines.items()}


def _norms() -> Mapping[str, Network]:
    x, row = randn(1, 4, 6, 6), randn(1, 5, 16)
    after = {
        "batch_norm": nn.BatchNorm2d(8),
        "group_norm": nn.GroupNorm(2, 8),
        "instance_norm": nn.InstanceNorm2d(8, affine=True),
        "local_response_norm": nn.LocalResponseNorm(3),
        "layer_norm_image": nn.LayerNorm([8, 4, 4]),
    }
    made = {name: in_turn(nn.Conv2d(4, 8, 3), norm, given=x) for name, norm in after.items()}
    scaled = {
        "normalize": lambda s, x: F.normalize(s.a(x), dim=-1),
        "standardize": lambda s, x: s.a((x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)),
        "cosine": lambda s, x: F.cosine_similarity(s.a(x), x, dim=-1),
        "distances": lambda s, x: torch.cdist(s.a(x), x),
    }
    return {
        **made,
        "layer_norm": in_turn(nn.Linear(16, 16), nn.LayerNorm(16), nn.Linear(16, 4), given=row),
        "rms_norm": in_turn(nn.Linear(16, 16), nn.RMSNorm(16), nn.Linear(16, 4), given=row),
        **{name: of(f, row, a=nn.Linear(16, 16)) for name, f in scaled.items()},
    }


def _resized() -> Mapping[str, Network]:
    x = randn(1, 4, 8, 8)
    each = {
        "max_pool": nn.MaxPool2d(2),
        "max_pool_padded": nn.MaxPool2d(3, stride=2, padding=1),
        "max_pool_ceil": nn.MaxPool2d(3, stride=2, ceil_mode=True),
        "average_pool": nn.AvgPool2d(2),
        "average_pool_padded": nn.AvgPool2d(3, stride=2, padding=1),
        "average_pool_inside": nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False),
        "adaptive_average": nn.AdaptiveAvgPool2d(2),
        "adaptive_average_odd": nn.AdaptiveAvgPool2d(3),
        "global_average": nn.AdaptiveAvgPool2d(1),
        "adaptive_max": nn.AdaptiveMaxPool2d(1),
        "lp_pool": nn.LPPool2d(2, 2),
        "nearest": nn.Upsample(scale_factor=2, mode="nearest"),
        "bilinear_up": nn.Upsample(scale_factor=2, mode="bilinear"),
        "bilinear_aligned": nn.Upsample(size=(15, 15), mode="bilinear", align_corners=True),
        "pixel_shuffle": nn.PixelShuffle(2),
        "pixel_unshuffle": nn.PixelUnshuffle(2),
        "channel_shuffle": nn.ChannelShuffle(2),
        "pad_zero": nn.ZeroPad2d((1, 2, 0, 1)),
        "pad_constant": nn.ConstantPad2d(1, 0.5),
        "pad_reflect": nn.ReflectionPad2d(2),
        "pad_replicate": nn.ReplicationPad2d((2, 1, 1, 0)),
        "pad_circular": nn.CircularPad2d(1),
        "unfold": nn.Unfold(3, stride=2),
    }
    pooled = {
        "max_pool1d": nn.Sequential(nn.Conv1d(4, 4, 3), nn.MaxPool1d(2)),
        "average_pool1d": nn.Sequential(nn.Conv1d(4, 4, 3), nn.AvgPool1d(3, 2, 1)),
    }
    made = {name: in_turn(nn.Conv2d(4, 4, 1), layer, given=x) for name, layer in each.items()}
    return made | {name: (layer, (randn(1, 4, 18),)) for name, layer in pooled.items()}


def _sequences() -> Mapping[str, Network]:
    x = randn(1, 5, 8)

    def last(kind: type[nn.Module], **options: Any) -> Network:
        cell = kind(8, 6, batch_first=True, **options)
        width = 6 * (2 if options.get("bidirectional") else 1)
        return of(lambda s, x: s.b(s.a(x)[0][:, -1]), x, a=cell, b=nn.Linear(width, 3))

    return {
        "lstm": last(nn.LSTM),
        "lstm_stacked": last(nn.LSTM, num_layers=2),
        "lstm_bidirectional": last(nn.LSTM, bidirectional=True),
        "lstm_no_bias": last(nn.LSTM, bias=False),
        "lstm_sequence": of(lambda s, x: s.b(s.a(x)[0]), x, a=nn.LSTM(8, 6), b=nn.Linear(6, 3)),
        "lstm_states": of(
            lambda s, x, h, c: s.a(x, (h, c)),
            *(x, randn(1, 1, 6), randn(1, 1, 6)),
            a=nn.LSTM(8, 6, batch_first=True),
        ),
        "lstm_cell": of(
            lambda s, x, h, c: s.a(x, (h, c)),
            *(randn(1, 8), randn(1, 6), randn(1, 6)),
            a=nn.LSTMCell(8, 6),
        ),
        "gru": last(nn.GRU),
        "gru_bidirectional": last(nn.GRU, bidirectional=True),
        "gru_cell": of(lambda s, x, h: s.a(x, h), *(randn(1, 8), randn(1, 6)), a=nn.GRUCell(8, 6)),
        "rnn": last(nn.RNN),
        "rnn_relu": last(nn.RNN, nonlinearity="relu"),
        "conv_lstm": of(
            lambda s, x: s.c(s.b(F.relu(s.a(x)).transpose(1, 2))[0][:, -1]),
            randn(1, 4, 12),
            a=nn.Conv1d(4, 8, 3, stride=2),
            b=nn.LSTM(8, 6, batch_first=True),
            c=nn.Linear(6, 3),
        ),
    }


def _attention() -> Mapping[str, Network]:
    x, mask = randn(1, 6, 8), nn.Transformer.generate_square_subsequent_mask(6)

    def heads() -> nn.Module:
        return nn.MultiheadAttention(8, 2, batch_first=True)

    def causal(s: Any, x: Any) -> Any:
        return s.a(x, x, x, attn_mask=mask, need_weights=False)[0]

    return {
        "attention": of(
            lambda s, x: torch.softmax(s.q(x) @ s.k(x).transpose(-1, -2) / 8**0.5, -1) @ s.v(x) + x,
            x,
            **{name: nn.Linear(8, 8) for name in "qkv"},
        ),
        "attention_scaled": of(
            lambda s, x: F.scaled_dot_product_attention(s.q(x), s.k(x), s.v(x), is_causal=True),
            x,
            **{name: nn.Linear(8, 8) for name in "qkv"},
        ),
        "multihead": of(lambda s, x: s.a(x, x, x, need_weights=False)[0], x, a=heads()),
        "multihead_weights": of(lambda s, x: s.a(x, x, x), x, a=heads()),
        "multihead_causal": of(causal, x, a=heads()),
        "cross_attention": of(lambda s, x, y: s.a(x, y, y)[0], x, randn(1, 4, 8), a=heads()),
    }


def _transformers() -> Mapping[str, Network]:
    x = randn(1, 6, 8)
    encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    first = nn.TransformerEncoderLayer(
        8, 2, 16, batch_first=True, norm_first=True, activation="gelu"
    )
    decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    return {
        "encoder_layer": (encoder, (x,)),
        "encoder_norm_first": (nn.TransformerEncoder(first, 2, enable_nested_tensor=False), (x,)),
        "decoder_layer": (decoder, (x, randn(1, 4, 8))),
        "text_classifier": of(
            lambda s, i: s.c(s.b(s.a(i) + s.p).mean(1)),
            indices(1, 6),
            a=nn.Embedding(INDICES, 8),
            b=nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
            c=nn.Linear(8, 3),
            p=nn.Parameter(randn(1, 6, 8)),
        ),
    }


def _embeddings() -> Mapping[str, Network]:
    table, head = nn.Embedding(INDICES, 8), nn.Linear(8, INDICES, bias=False)
    tied = nn.Embedding(INDICES, 8)
    head.weight = tied.weight
    return {
        "embedding": of(
            lambda s, i: s.b(s.a(i).mean(1)), indices(1, 7), a=table, b=nn.Linear(8, 4)
        ),
        "embedding_tied": of(lambda s, i: s.b(s.a(i)), indices(1, 7), a=tied, b=head),
        "embedding_bag": (nn.EmbeddingBag(INDICES, 8, mode="mean"), (indices(1, 7),)),
        "embedding_padded": (nn.Embedding(INDICES, 8, padding_idx=0), (indices(1, 7),)),
        "embedding_int32": (nn.Embedding(INDICES, 8), (indices(1, 7).int(),)),
    }


def networks() -> Mapping[str, Network]:
    """All networks of this module, in evaluation mode, from the same numbers at each call."""
    torch.manual_seed(0)
    made = {
        **_dense(),
        **_activations(),
        **_convolutions(),
        **_norms(),
        **_resized(),
        **_sequences(),
        **_attention(),
        **_transformers(),
        **_embeddings(),
    }
    for module, _ in made.values():
        module.eval()
    return made
