"""Blocks of known architectures in torch, and functions that move, choose and reduce elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - everyone's name of it
from torch import nn

from tests.converters.torch_networks import Network, in_turn, indices, of, randn


def _normed(*conv: Any, then: nn.Module | None = None, **options: Any) -> nn.Module:
    """A convolution, batch normalization, and a function, by default ReLU."""
    norm = nn.BatchNorm2d(conv[1])
    norm.running_mean, norm.running_var = randn(conv[1]) / 4, torch.rand(conv[1]) + 0.5
    return nn.Sequential(nn.Conv2d(*conv, bias=False, **options), norm, then or nn.ReLU())


def blocks() -> Mapping[str, Network]:
    """Blocks of image and sound networks."""
    return {
        **_residual(),
        **_branched(),
        **_mobile(),
        **_gated(),
        **_decoders(),
        **_temporal(),
    }


def _residual() -> Mapping[str, Network]:
    x = randn(1, 3, 8, 8)
    return {
        "conv_net": in_turn(
            *(
                nn.Conv2d(3, 8, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(8, 8, 3),
                nn.ReLU(),
            ),
            *(nn.Flatten(), nn.Linear(32, 5)),
            given=x,
        ),
        "residual": of(
            lambda s, x: s.c(F.relu(s.b(s.a(x)) + s.a(x)).mean((2, 3))),
            x,
            a=_normed(3, 8, 3, padding=1),
            b=_normed(8, 8, 3, padding=1, then=nn.Identity()),
            c=nn.Linear(8, 4),
        ),
        "residual_strided": of(
            lambda s, x: F.relu(s.b(s.a(x)) + s.c(x)),
            x,
            a=_normed(3, 8, 3, padding=1, stride=2),
            b=_normed(8, 8, 3, padding=1, then=nn.Identity()),
            c=_normed(3, 8, 1, stride=2, then=nn.Identity()),
        ),
    }


def _branched() -> Mapping[str, Network]:
    x = randn(1, 3, 8, 8)
    return {
        "dense_block": of(
            lambda s, x: s.b(torch.cat([x, s.a(x)], 1)),
            x,
            a=_normed(3, 4, 3, padding=1),
            b=_normed(7, 4, 3, padding=1),
        ),
        "inception": of(
            lambda s, x: torch.cat([s.a(x), s.b(x), s.c(F.max_pool2d(x, 3, 1, 1))], 1),
            x,
            a=_normed(3, 2, 1),
            b=_normed(3, 2, 5, padding=2),
            c=_normed(3, 2, 1),
        ),
    }


def _mobile() -> Mapping[str, Network]:
    x = randn(1, 8, 8, 8)
    return {
        "depthwise_separable": in_turn(
            _normed(8, 8, 3, padding=1, groups=8), _normed(8, 12, 1), given=x
        ),
        "inverted_residual": of(
            lambda s, x: x + s.c(s.b(s.a(x))),
            x,
            a=_normed(8, 16, 1, then=nn.ReLU6()),
            b=_normed(16, 16, 3, padding=1, groups=16, then=nn.ReLU6()),
            c=_normed(16, 8, 1, then=nn.Identity()),
        ),
        "mobilenet_v3": in_turn(
            _normed(8, 8, 3, padding=1, groups=8, then=nn.Hardswish()),
            _normed(8, 12, 1, then=nn.Hardswish()),
            given=x,
        ),
        "keyword_cnn": in_turn(
            _normed(1, 8, (5, 3), stride=2, padding=(2, 1)),
            *(_normed(8, 8, 3, padding=1, groups=8), _normed(8, 8, 1)),
            *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)),
            given=randn(1, 1, 15, 10),
        ),
    }


def _gated() -> Mapping[str, Network]:
    x = randn(1, 8, 8, 8)
    return {
        "squeeze_excite": of(
            lambda s, x: x * torch.sigmoid(s.b(F.relu(s.a(x.mean((2, 3), keepdim=True))))),
            x,
            a=nn.Conv2d(8, 4, 1),
            b=nn.Conv2d(4, 8, 1),
        ),
        "squeeze_excite_dense": of(
            lambda s, x: x * s.b(s.a(F.adaptive_avg_pool2d(x, 1).flatten(1))).view(1, 8, 1, 1),
            x,
            a=nn.Sequential(nn.Linear(8, 4), nn.ReLU()),
            b=nn.Sequential(nn.Linear(4, 8), nn.Hardsigmoid()),
        ),
        "shuffle_unit": of(
            lambda s, x: s.b(torch.cat([x.chunk(2, 1)[0], s.a(x.chunk(2, 1)[1])], 1)),
            x,
            a=_normed(4, 4, 3, padding=1),
            b=nn.ChannelShuffle(2),
        ),
    }


def _decoders() -> Mapping[str, Network]:
    x = randn(1, 3, 8, 8)
    return {
        "unet": of(
            lambda s, x: s.c(torch.cat([F.relu(s.b(s.a(x))), x], 1)),
            x,
            a=_normed(3, 8, 3, padding=1, stride=2),
            b=nn.ConvTranspose2d(8, 4, 2, stride=2),
            c=nn.Conv2d(7, 2, 1),
        ),
        "unet_upsampled": of(
            lambda s, x: s.b(torch.cat([F.interpolate(s.a(x), scale_factor=2.0), x], 1)),
            x,
            a=_normed(3, 4, 3, padding=1, stride=2),
            b=nn.Conv2d(7, 2, 3, padding=1),
        ),
        "conv_autoencoder": in_turn(
            *(_normed(3, 4, 3, padding=1, stride=2), nn.ConvTranspose2d(4, 4, 4, 2, 1), nn.ReLU()),
            *(nn.Conv2d(4, 3, 3, padding=1), nn.Sigmoid()),
            given=x,
        ),
        "super_resolution": in_turn(
            *(nn.Conv2d(3, 8, 3, padding=1), nn.Tanh(), nn.Conv2d(8, 12, 3, padding=1)),
            nn.PixelShuffle(2),
            given=x,
        ),
    }


def _temporal() -> Mapping[str, Network]:
    line = randn(1, 4, 24)
    return {
        "tcn": of(
            lambda s, x: F.relu(s.b(F.relu(s.a(x)))),
            line,
            a=nn.Conv1d(4, 8, 3, dilation=2, padding=2),
            b=nn.Conv1d(8, 8, 3, dilation=4, padding=4),
        ),
        "tcn_causal": of(
            lambda s, x: F.relu(s.b(F.pad(F.relu(s.a(F.pad(x, (4, 0)))), (8, 0))) + s.c(x)),
            line,
            a=nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 8, 3, dilation=2)),
            b=nn.Conv1d(8, 8, 3, dilation=4),
            c=nn.Conv1d(4, 8, 1),
        ),
        "tcn_cropped": of(
            lambda s, x: s.b(F.relu(s.a(x)[:, :, :-4]).mean(-1)),
            line,
            a=nn.Conv1d(4, 8, 3, dilation=2, padding=4),
            b=nn.Linear(8, 3),
        ),
        "wavenet": of(
            lambda s, x: s.c(torch.tanh(s.a(x)) * torch.sigmoid(s.b(x))) + x[:, :, 2:-2],
            line,
            a=nn.Conv1d(4, 4, 3, dilation=2),
            b=nn.Conv1d(4, 4, 3, dilation=2),
            c=nn.Conv1d(4, 4, 1),
        ),
    }


_CHOSEN = torch.tensor([5, 0, 3])
_OF_ONE: Mapping[str, Callable[[Any], Any]] = {
    "permuted": lambda y: y.permute(0, 2, 1).contiguous().view(1, -1),
    "flipped": lambda y: y.flip(1),
    "rolled": lambda y: y.roll(2, 1),
    "split": lambda y: y.split([2, 4], 1),
    "repeated": lambda y: y.repeat(1, 2, 1),
    "sliced": lambda y: y[:, 1:5:2, ::3],
    "index_select": lambda y: y.index_select(1, _CHOSEN),
    "narrowed": lambda y: y.narrow(2, 1, 4),
    "cumsum": lambda y: y.cumsum(1),
    "topk": lambda y: y.topk(3, -1),
    "argmax": lambda y: y.argmax(-1),
    "maximum_of": lambda y: y.max(-1)[0],
    "amin": lambda y: y.amin((1, 2)),
    "sums": lambda y: y.sum(1) * y.mean(-1, keepdim=True).sum(1),
    "variance": lambda y: y.var(-1),
    "prod": lambda y: y.prod(-1),
    "norm": lambda y: y.norm(dim=-1),
    "logsumexp": lambda y: y.logsumexp(-1),
    "clamped": lambda y: y.clamp(-0.5, 0.75),
    "powers": lambda y: y**2 + y.abs().sqrt() + (y.abs() + 1).rsqrt(),
    "exponentials": lambda y: y.exp().log1p() + (y.abs() + 0.1).log(),
    "centred": lambda y: (y - y.amin(-1, True)) / (y.amax(-1, True) - y.amin(-1, True) + 1),
}
_OF_TWO: Mapping[str, Callable[[Any, Any], Any]] = {
    "stacked": lambda y, x: torch.stack([y, x], 1),
    "expanded": lambda y, x: y[:, :1].expand(1, 6, 8) + x,
    "minimum": lambda y, x: torch.minimum(torch.maximum(y, -x), x),
    "where": lambda y, x: torch.where(y > 0, y, x * 0.1),
    "masked": lambda y, x: y.masked_fill(x < 0, 0.0),
    "compared": lambda y, x: ((y > x) & (y < 1)).float(),
    "einsum": lambda y, x: torch.einsum("bic,bjc->bij", y, x),
    "matmul": lambda y, x: y.transpose(1, 2) @ x,
    "outer": lambda y, x: y[:, :, :, None] * x[:, :, None, :],
    "arithmetic": lambda y, x: (y * 2 - x) / (x.abs() + 1) + 0.5,
    "trigonometry": lambda y, x: y.sin() * x.cos() + torch.atan2(y, x),
    "rounded": lambda y, x: y.floor() + x.round() + y.ceil() + y.trunc(),
    "triangle": lambda y, x: torch.tril(y @ x.transpose(1, 2)),
    "erf": lambda y, x: torch.erf(y) + torch.expm1(x.clamp(max=1)),
}


def functions() -> Mapping[str, Network]:
    """One function each, of the outputs of a linear layer (1, 6, 8) and of its input."""
    x = randn(1, 6, 8)
    return {
        **{n: of(lambda s, x, f=f: f(s.a(x)), x, a=nn.Linear(8, 8)) for n, f in _OF_ONE.items()},
        **{n: of(lambda s, x, f=f: f(s.a(x), x), x, a=nn.Linear(8, 8)) for n, f in _OF_TWO.items()},
        "gathered": of(
            lambda s, x, i: s.a(x).gather(1, i.clamp(0, 5)),
            x,
            indices(1, 6, 8) % 6,
            a=nn.Linear(8, 8),
        ),
        "indexed": of(
            lambda s, x, i: s.a(x)[:, i.clamp(0, 5)], x, indices(3) % 6, a=nn.Linear(8, 8)
        ),
        "one_hot": of(lambda s, i: s.a(F.one_hot(i, 8).float()), indices(1, 5), a=nn.Linear(8, 4)),
        "spectrum": of(
            lambda s, x: s.a(torch.fft.rfft(x).abs()), randn(1, 6, 14), a=nn.Linear(8, 4)
        ),
    }
