"""Structures of networks in torch: gates, scans, masks, mixtures, decoders and encodings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - everyone's name of it
from torch import nn

from tests.converters.torch_networks import Network, in_turn, indices, of, randn


def structures() -> Mapping[str, Network]:
    """All networks of this module, from the same numbers at each call."""
    torch.manual_seed(1)
    return {
        **_scans(),
        **_recurrent(),
        **_masked(),
        **_attending(),
        **_lines(),
        **_resized_lines(),
        **_images(),
        **_heads(),
        **_upsampled(),
        **_encodings(),
        **_mixed(),
        **_gated(),
        **_others(),
    }


def _selective_scan(s: Any, x: torch.Tensor) -> torch.Tensor:
    """The state of Mamba: for each step it decays and takes the step's input, by computed rates."""
    rate = F.softplus(s.rate(x))
    decay = torch.exp(rate.unsqueeze(-1) * -torch.exp(s.log))
    taken = (rate * x).unsqueeze(-1) * s.given(x).unsqueeze(2)
    state, outputs = torch.zeros_like(decay[:, 0]), []
    for step in range(x.shape[1]):
        state = decay[:, step] * state + taken[:, step]
        outputs.append((state * s.seen(x)[:, step].unsqueeze(1)).sum(-1))
    return torch.stack(outputs, 1) + s.skip * x


def _conv_lstm(s: Any, x: torch.Tensor) -> torch.Tensor:
    hidden = cell = torch.zeros(1, 4, 6, 6)
    for step in range(x.shape[1]):
        gates = s.a(torch.cat([x[:, step], hidden], 1))
        i, f, g, o = gates.chunk(4, 1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
    return hidden


def _parallel_scan(s: Any, x: torch.Tensor) -> torch.Tensor:
    """A linear recurrence with one decay for each channel, as a product with its powers."""
    steps = torch.arange(x.shape[1])
    apart = (steps[:, None] - steps[None]).clamp(min=0)
    powers = torch.sigmoid(s.decay)[:, None, None] ** apart
    return torch.einsum("cij,bjc->bic", torch.tril(powers), s.a(x))


def _scans() -> Mapping[str, Network]:
    x = randn(1, 5, 6)

    def unrolled(s: Any, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.zeros(1, 4)
        for step in range(x.shape[1]):
            hidden = s.a(x[:, step], hidden)
        return s.b(hidden)

    return {
        "selective_scan": of(
            _selective_scan,
            x,
            rate=nn.Linear(6, 6),
            given=nn.Linear(6, 3),
            seen=nn.Linear(6, 3),
            log=nn.Parameter(torch.rand(6, 3)),
            skip=nn.Parameter(torch.ones(6)),
        ),
        "parallel_scan": of(
            _parallel_scan, x, decay=nn.Parameter(torch.ones(6)), a=nn.Linear(6, 6)
        ),
        "conv_lstm_images": of(_conv_lstm, randn(1, 3, 2, 6, 6), a=nn.Conv2d(6, 16, 3, padding=1)),
        "gru_unrolled": of(unrolled, x, a=nn.GRUCell(6, 4), b=nn.Linear(4, 2)),
        "moving_average": of(
            lambda s, x: s.a(x.cumsum(1) / torch.arange(1, 6).view(1, 5, 1)), x, a=nn.Linear(6, 3)
        ),
    }


def _recurrent() -> Mapping[str, Network]:
    x = randn(1, 6, 5)
    two = {"num_layers": 2, "bidirectional": True, "batch_first": True}
    return {
        "lstm_stacked_bidirectional": of(lambda s, x: s.a(x)[0], x, a=nn.LSTM(5, 4, **two)),
        "gru_stacked_bidirectional": of(lambda s, x: s.a(x)[0], x, a=nn.GRU(5, 4, **two)),
        "rnn_bidirectional": of(lambda s, x: s.a(x)[0], x, a=nn.RNN(5, 4, **two)),
        "lstm_projected": of(
            lambda s, x: s.a(x)[0], x, a=nn.LSTM(5, 6, proj_size=3, batch_first=True)
        ),
        "lstm_batch": of(
            lambda s, x: s.b(s.a(x)[1][0][-1]),
            randn(3, 6, 5),
            a=nn.LSTM(5, 4, batch_first=True),
            b=nn.Linear(4, 2),
        ),
        "encoder_decoder": of(
            lambda s, x, y: s.c(s.b(y, s.a(x)[1])[0]),
            *(x, randn(1, 3, 5)),
            a=nn.GRU(5, 4, batch_first=True),
            b=nn.GRU(5, 4, batch_first=True),
            c=nn.Linear(4, 2),
        ),
        "attended_lstm": of(
            lambda s, x: (torch.softmax(s.b(s.a(x)[0]), 1) * s.a(x)[0]).sum(1),
            x,
            a=nn.LSTM(5, 4, batch_first=True),
            b=nn.Linear(4, 1),
        ),
    }


def _masked() -> Mapping[str, Network]:
    x, tokens = randn(1, 6, 8), indices(1, 6)
    table = nn.Embedding(8, 8, padding_idx=0)

    def pooled(s: Any, i: torch.Tensor) -> torch.Tensor:
        mask = (i != 0).unsqueeze(-1).float()
        return s.b((s.a(i) * mask).sum(1) / mask.sum(1).clamp(min=1))

    def padded(s: Any, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return s.a(x, x, x, key_padding_mask=i > 6, need_weights=False)[0]

    def scored(s: Any, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        scores = s.a(x) @ s.b(x).transpose(1, 2)
        return torch.softmax(scores.masked_fill((i == 0).unsqueeze(1), -1e9), -1) @ x

    return {
        "masked_mean": of(pooled, tokens, a=table, b=nn.Linear(8, 3)),
        "multihead_padded": of(padded, x, tokens, a=nn.MultiheadAttention(8, 2, batch_first=True)),
        "masked_scores": of(scored, x, tokens, a=nn.Linear(8, 8), b=nn.Linear(8, 8)),
        "masked_length": of(
            lambda s, x, n: s.a(x * (torch.arange(6).view(1, 6, 1) < n.view(1, 1, 1)).float()),
            *(x, torch.tensor([4])),
            a=nn.Linear(8, 3),
        ),
        "attention_mask_given": of(
            lambda s, x, m: F.scaled_dot_product_attention(s.a(x), x, x, attn_mask=m),
            *(x, randn(1, 6, 6)),
            a=nn.Linear(8, 8),
        ),
    }


def _rotated(x: torch.Tensor) -> torch.Tensor:
    """Rotary positions: pairs of channels, turned by an angle for each step."""
    angles = torch.arange(x.shape[1])[:, None] / (10.0 ** torch.arange(4.0))
    even, odd = x[..., ::2], x[..., 1::2]
    turned = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(turned, -1).flatten(-2)


def _windows(s: Any, x: torch.Tensor) -> torch.Tensor:
    """Attention within windows of 4 x 4 of an image, with a bias for each pair, as in Swin."""
    parts = x.view(1, 4, 2, 4, 2, 4).permute(0, 2, 4, 3, 5, 1).reshape(4, 16, 4)
    q, k, v = s.a(parts).view(4, 16, 3, 2, 2).permute(2, 0, 3, 1, 4)
    scores = torch.softmax(q @ k.transpose(-1, -2) / 2**0.5 + s.bias, -1)
    mixed = (scores @ v).transpose(1, 2).reshape(1, 2, 2, 4, 4, 4)
    return mixed.permute(0, 5, 1, 3, 2, 4).reshape(1, 4, 8, 8)


def _attending() -> Mapping[str, Network]:
    x = randn(1, 6, 8)
    options = {"batch_first": True, "norm_first": True, "activation": "gelu"}
    return {
        "attention_rotary": of(
            lambda s, x: F.scaled_dot_product_attention(_rotated(s.q(x)), _rotated(s.k(x)), x),
            x,
            q=nn.Linear(8, 8),
            k=nn.Linear(8, 8),
        ),
        "attention_windows": of(
            _windows,
            randn(1, 4, 8, 8),
            a=nn.Linear(4, 12),
            bias=nn.Parameter(randn(2, 16, 16)),
        ),
        "vision_transformer": of(
            lambda s, x: s.c(
                s.b(torch.cat([s.token, s.a(x).flatten(2).transpose(1, 2)], 1) + s.places)[:, 0]
            ),
            randn(1, 3, 8, 8),
            a=nn.Conv2d(3, 8, 4, stride=4),
            b=nn.TransformerEncoderLayer(8, 2, 16, **options),
            c=nn.Linear(8, 3),
            token=nn.Parameter(randn(1, 1, 8)),
            places=nn.Parameter(randn(1, 5, 8)),
        ),
        "learned_queries": of(
            lambda s, x: s.a(s.queries, x, x, need_weights=False)[0],
            x,
            a=nn.MultiheadAttention(8, 2, batch_first=True),
            queries=nn.Parameter(randn(1, 3, 8)),
        ),
        "linear_attention": of(
            lambda s, x: (F.elu(s.q(x)) + 1) @ ((F.elu(s.k(x)) + 1).transpose(1, 2) @ x),
            x,
            q=nn.Linear(8, 8),
            k=nn.Linear(8, 8),
        ),
    }


def _lines() -> Mapping[str, Network]:
    line = randn(1, 4, 24)

    def separable(dilation: int, *channels: int) -> nn.Module:
        given, made = channels
        depthwise = nn.Conv1d(given, given, 3, padding=dilation, dilation=dilation, groups=given)
        return nn.Sequential(depthwise, nn.Conv1d(given, made, 1), nn.BatchNorm1d(made), nn.ReLU())

    return {
        "tcn_separable": of(
            lambda s, x: s.c((s.a(x) + s.b(s.a(x))).mean(-1)),
            line,
            a=separable(1, 4, 8),
            b=separable(4, 8, 8),
            c=nn.Linear(8, 3),
        ),
        "line_norms": in_turn(
            *(nn.Conv1d(4, 8, 5, stride=2), nn.InstanceNorm1d(8, affine=True), nn.GELU()),
            *(nn.Conv1d(8, 8, 3), nn.GroupNorm(4, 8), nn.SiLU()),
            given=line,
        ),
        "line_excited": of(
            lambda s, x: s.a(x) * torch.sigmoid(s.b(s.a(x).mean(-1))).unsqueeze(-1),
            line,
            a=nn.Conv1d(4, 8, 3),
            b=nn.Linear(8, 8),
        ),
    }


def _resized_lines() -> Mapping[str, Network]:
    line = randn(1, 4, 24)
    return {
        "line_decoder": in_turn(
            *(nn.Conv1d(4, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.ConvTranspose1d(8, 4, 4, 2, 1)),
            *(nn.Tanh(), nn.ConvTranspose1d(4, 2, 3, stride=2, output_padding=1)),
            given=line,
        ),
        "line_upsampled": in_turn(
            *(nn.Conv1d(4, 4, 3), nn.Upsample(scale_factor=2, mode="linear"), nn.Conv1d(4, 2, 3)),
            given=line,
        ),
        "snake": of(lambda s, x: (lambda y: y + y.sin() ** 2)(s.a(x)), line, a=nn.Conv1d(4, 4, 3)),
        "decomposed": of(
            lambda s, x: s.b(x - s.a(x)) + s.c(s.a(x)),
            line,
            a=nn.AvgPool1d(5, 1, 2, count_include_pad=False),
            b=nn.Linear(24, 6),
            c=nn.Linear(24, 6),
        ),
    }


def _images() -> Mapping[str, Network]:
    x = randn(1, 4, 8, 8)

    def statistics(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)

    return {
        "convnext": of(
            lambda s, x: x + (s.scale * s.b(s.a(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2),
            x,
            a=nn.Conv2d(4, 4, 7, padding=3, groups=4),
            b=nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 4)),
            scale=nn.Parameter(torch.rand(4)),
        ),
        "spatial_attention": of(
            lambda s, x: x * torch.sigmoid(s.a(statistics(x))), x, a=nn.Conv2d(2, 1, 7, padding=3)
        ),
        "ghost": of(
            lambda s, x: torch.cat([s.a(x), s.b(s.a(x))], 1),
            x,
            a=nn.Sequential(nn.Conv2d(4, 6, 1), nn.ReLU()),
            b=nn.Sequential(nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.ReLU()),
        ),
        "mixer": of(
            lambda s, x: s.b((s.a(x.transpose(1, 2)).transpose(1, 2) + x).mean(1)),
            randn(1, 6, 8),
            a=nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)),
            b=nn.Linear(8, 3),
        ),
    }


def _heads() -> Mapping[str, Network]:
    x = randn(1, 4, 8, 8)
    return {
        "conv3d": in_turn(
            *(nn.Conv3d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(4, 2, 2)),
            given=randn(1, 2, 4, 6, 6),
        ),
        "spatial_softmax": of(
            lambda s, x: torch.softmax(s.a(x).flatten(2), -1) @ s.places,
            x,
            a=nn.Conv2d(4, 3, 1),
            places=nn.Parameter(randn(64, 2)),
        ),
        "detector": of(
            lambda s, x: torch.cat(
                [torch.sigmoid(h(x)).permute(0, 2, 3, 1).reshape(1, -1, 5) for h in (s.a, s.b)], 1
            ),
            x,
            a=nn.Conv2d(4, 10, 1),
            b=nn.Conv2d(4, 5, 3, stride=2, padding=1),
        ),
        "conv_batch": in_turn(
            nn.Conv2d(4, 6, 3), nn.ReLU(), nn.AvgPool2d(2), given=randn(3, 4, 8, 8)
        ),
    }


def _upsampled() -> Mapping[str, Network]:
    x = randn(1, 4, 4, 4)
    return {
        "decoder_nearest": in_turn(
            *(nn.Upsample(scale_factor=2), nn.Conv2d(4, 4, 3, padding=1), nn.ReLU()),
            *(nn.Upsample(size=(12, 12)), nn.Conv2d(4, 1, 3, padding=1), nn.Sigmoid()),
            given=x,
        ),
        "decoder_bilinear": in_turn(
            *(nn.Conv2d(4, 8, 1), nn.UpsamplingBilinear2d(scale_factor=2), nn.GroupNorm(2, 8)),
            *(nn.ReLU(), nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(8, 2, 1)),
            given=x,
        ),
        "decoder_bicubic": in_turn(
            nn.Conv2d(4, 2, 1), nn.Upsample(scale_factor=2, mode="bicubic"), given=x
        ),
        "decoder_dilated": in_turn(
            *(nn.ConvTranspose2d(4, 4, 3, dilation=2), nn.InstanceNorm2d(4), nn.ReLU()),
            nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1, bias=False),
            given=x,
        ),
        "decoder_shuffled": in_turn(
            *(nn.PixelUnshuffle(2), nn.Conv2d(16, 16, 1), nn.PixelShuffle(2), nn.PReLU()),
            *(nn.Conv2d(4, 9, 3, padding=1), nn.PixelShuffle(3)),
            given=x,
        ),
        "pyramid": of(
            lambda s, x: s.b(F.interpolate(s.a(x), size=(4, 4), mode="bilinear") + x),
            x,
            a=nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 4, 1)),
            b=nn.Conv2d(4, 2, 3, padding=1),
        ),
        "folded": in_turn(nn.Unfold(2, stride=2), nn.Fold((4, 4), 2, stride=2), given=x),
    }


def _encodings() -> Mapping[str, Network]:
    x = randn(1, 3)
    return {
        "fourier_features": of(
            lambda s, x: s.a(torch.cat([torch.sin(x @ s.b), torch.cos(x @ s.b)], -1)),
            x,
            a=nn.Linear(16, 3),
            b=nn.Parameter(randn(3, 8)),
        ),
        "time_embedding": of(
            lambda s, x, t: s.a(x) + s.b(torch.sin(t[:, None] * torch.exp(-torch.arange(4) / 2.0))),
            *(x, randn(1)),
            a=nn.Linear(3, 4),
            b=nn.Linear(4, 4),
        ),
        "modulated": of(
            lambda s, x, y: s.a(x) * (1 + s.b(y).unsqueeze(-1)) + s.c(y).unsqueeze(-1),
            *(randn(1, 4, 10), randn(1, 5)),
            a=nn.Conv1d(4, 6, 3),
            b=nn.Linear(5, 6),
            c=nn.Linear(5, 6),
        ),
        "radial_basis": of(
            lambda s, x: s.a(torch.exp(-((x.unsqueeze(1) - s.centres) ** 2).sum(-1))),
            x,
            a=nn.Linear(5, 2),
            centres=nn.Parameter(randn(5, 3)),
        ),
        "bucketed": of(
            lambda s, x: s.a((x.unsqueeze(-1) > torch.linspace(-2, 2, 5)).sum(-1)).flatten(1),
            x,
            a=nn.Embedding(6, 2),
        ),
    }


def _mixed() -> Mapping[str, Network]:
    x = randn(1, 6)

    def features(s: Any, *inputs: torch.Tensor) -> torch.Tensor:
        numbers, kinds = inputs[:3], inputs[3:]
        tables = (s.d, s.e)
        parts = [*numbers, *(t(i).flatten(1) for t, i in zip(tables, kinds, strict=True))]
        return s.a(torch.cat(parts, 1))

    return {
        "many_inputs": of(
            features,
            *(randn(1, 3), randn(1, 1), randn(1, 4), indices(1, 1), indices(1, 2)),
            a=nn.Sequential(nn.Linear(20, 8), nn.ReLU(), nn.Linear(8, 2)),
            d=nn.Embedding(8, 4),
            e=nn.Embedding(8, 4),
        ),
        "experts": of(
            lambda s, x: (torch.softmax(s.a(x), -1).unsqueeze(1) @ s.b(x).view(1, 3, 4)).squeeze(1),
            x,
            a=nn.Linear(6, 3),
            b=nn.Linear(6, 12),
        ),
        "siamese": of(
            lambda s, x, y: torch.sigmoid(s.b((s.a(x) - s.a(y)).abs())),
            *(x, randn(1, 6)),
            a=nn.Sequential(nn.Linear(6, 8), nn.ReLU()),
            b=nn.Linear(8, 1),
        ),
    }


def _gated() -> Mapping[str, Network]:
    x = randn(1, 6)
    return {
        "highway": of(
            lambda s, x: torch.lerp(x, F.relu(s.a(x)), torch.sigmoid(s.b(x))),
            x,
            a=nn.Linear(6, 6),
            b=nn.Linear(6, 6),
        ),
        "swiglu": of(
            lambda s, x: s.c(F.silu(s.a(x)) * s.b(x)),
            x,
            **{name: nn.Linear(6, 6, bias=False) for name in "abc"},
        ),
        "factorized": of(
            lambda s, x: s.a(x) + ((x @ s.v) ** 2 - (x**2) @ s.v**2).sum(-1, keepdim=True) / 2,
            x,
            a=nn.Linear(6, 1),
            v=nn.Parameter(randn(6, 3)),
        ),
        "crossed": of(lambda s, x: x * s.a(x) + x, x, a=nn.Linear(6, 1)),
    }


def _others() -> Mapping[str, Network]:
    x = randn(1, 4, 6)

    def squashed(s: Any, x: torch.Tensor) -> torch.Tensor:
        y = s.a(x)
        size = (y**2).sum(-1, keepdim=True)
        return y * size / (1 + size) / torch.sqrt(size + 1e-6)

    def graph(s: Any, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        near = (edges + edges.transpose(1, 2) > 0).float() + torch.eye(4)
        return F.relu(s.a(near @ x / near.sum(-1, keepdim=True)))

    return {
        "capsules": of(squashed, x, a=nn.Linear(6, 8)),
        "graph_convolution": of(graph, x, randn(1, 4, 4), a=nn.Linear(6, 5)),
        "sorted": of(lambda s, x: s.a(x).sort(-1)[0], x, a=nn.Linear(6, 6)),
        "outer_concat": of(
            lambda s, x: s.a(
                torch.cat(
                    [x.unsqueeze(2).expand(1, 4, 4, 6), x.unsqueeze(1).expand(1, 4, 4, 6)], -1
                )
            ),
            x,
            a=nn.Linear(12, 2),
        ),
        "tiled": of(lambda s, x: torch.tile(s.a(x), (1, 2, 3)) - 1, x, a=nn.Linear(6, 2)),
        "interleaved": of(lambda s, x: s.a(x).repeat_interleave(2, 1), x, a=nn.Linear(6, 2)),
        "quantiles": of(
            lambda s, x: s.a(x)[..., :1] + F.softplus(s.a(x)[..., 1:]).cumsum(-1),
            x,
            a=nn.Linear(6, 3),
        ),
    }
