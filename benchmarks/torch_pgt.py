"""A Physics-Guided Transformer in eager PyTorch, for one purpose: a fair time per training step.

The network of `pgt.PGT` as a PyTorch user would write it: fused self-attention, the bias computed
once, Navier-Stokes derivatives by reverse mode over reverse mode, Adam.

    python benchmarks/torch_pgt.py --device cuda
"""

import argparse
import inspect
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional


def heat_bias(points, viscosity=0.01, resolution=0.1):
    """log heat kernel from source j (column) to receiver i (row); the global token sees all."""
    lag = points[:, None, -1] - points[None, :, -1]
    floored = 4 * viscosity * lag.clamp(min=resolution)
    square = (points[:, None, :-1] - points[None, :, :-1]).square().sum(-1)
    bias = -square / floored - (points.shape[1] - 1) / 2 * torch.log(torch.pi * floored)
    return functional.pad(bias.masked_fill(lag < 0, -torch.inf), (1, 0, 1, 0))


def mlp(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.Linear(hidden, outputs))


class Block(nn.Module):
    """C + Attn(LN C) + MLP(LN C)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = mlp(width, 4 * width, width)

    def forward(self, tokens, bias):
        normed = self.norm(tokens)
        split = self.query_key_value(normed).unflatten(-1, (3, self.heads, -1))
        query, key, value = split.permute(1, 2, 0, 3).unsqueeze(1)  # each (1, heads, tokens, width)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return tokens + self.out(mixed[0].transpose(0, 1).flatten(1)) + self.mlp(normed)


class PGT(nn.Module):
    def __init__(self, width, blocks, heads, decoder_width, decoder_layers, coords=3, fields=3):
        super().__init__()
        self.heads, self.layers, self.frequency = heads, decoder_layers, 8.0
        self.embed = nn.Linear(coords + fields, width)
        self.glob = nn.Parameter(torch.randn(1, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.query = nn.Sequential(mlp(coords, width, width), nn.Linear(width, width, bias=False))
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.hyper = mlp(2 * width, width, 3 * decoder_layers * decoder_width)
        self.first = nn.Linear(coords, decoder_width)
        self.hidden = nn.ModuleList(
            nn.Linear(decoder_width, decoder_width, bias=False) for _ in range(decoder_layers)
        )
        self.readout = nn.Linear(decoder_width, fields)
        for parameter in self.hyper[-1].parameters():
            nn.init.normal_(parameter, std=1e-3)  # starts as a plain SIREN

    def encode(self, points, values, bias):
        tokens = torch.cat([self.glob, self.embed(torch.cat([values, points], -1))])
        for block in self.blocks:
            tokens = block(tokens, bias)
        # Keys and values do not depend on the query: project them once.
        split = self.key_value(tokens[1:]).unflatten(-1, (2, self.heads, -1))
        return tokens[0], *split.permute(1, 2, 0, 3)

    def decode(self, context, z):
        glob, key, value = context
        query = self.query(z).unflatten(-1, (self.heads, -1)).transpose(0, 1)
        # Written out: the fused kernels have no second derivative.
        scores = query @ key.transpose(1, 2) / key.shape[-1] ** 0.5
        found = (scores.softmax(-1) @ value).transpose(0, 1).flatten(1)
        film = self.hyper(torch.cat([found, glob.expand_as(found)], -1))
        film = film.unflatten(-1, (self.layers, 3, -1))
        h = torch.sin(self.frequency * self.first(z))
        for layer, (amplitude, shift, frequency) in zip(
            self.hidden, film.permute(1, 2, 0, 3), strict=True
        ):
            h = torch.sin((1 + frequency) * ((1 + amplitude) * layer(h) + shift))
        return self.readout(h)


def gradient(output, z):
    """Derivatives of a per-point scalar along x, y, t."""
    return torch.autograd.grad(output.sum(), z, create_graph=True)[0].unbind(-1)


def navier_stokes(model, context, z, viscosity=0.01):
    z = z.requires_grad_()
    u, v, p = model.decode(context, z).unbind(-1)
    (u_x, u_y, u_t), (v_x, v_y, v_t), (p_x, p_y, _) = (gradient(f, z) for f in (u, v, p))
    u_xx, u_yy, v_xx, v_yy = (
        gradient(first, z)[axis] for first, axis in ((u_x, 0), (u_y, 1), (v_x, 0), (v_y, 1))
    )
    momentum_x = u_t + u * u_x + v * u_y + p_x - viscosity * (u_xx + u_yy)
    momentum_y = v_t + u * v_x + v * v_y + p_y - viscosity * (v_xx + v_yy)
    return momentum_x.square().mean() + momentum_y.square().mean() + (u_x + v_y).square().mean()


def time_step(
    tokens=1500, collocation=4000, width=128, blocks=4, heads=4, decoder_width=128,
    decoder_layers=4, device="cuda", steps=20,
):  # fmt: skip
    """Median milliseconds of one training step: encode, data and PDE loss, backward, Adam."""
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    model = PGT(width, blocks, heads, decoder_width, decoder_layers).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    points = torch.rand(tokens, 3, device=device) * 2 - 1
    values = torch.randn(tokens, 3, device=device)
    bias = heat_bias(points)
    synchronise = torch.cuda.synchronize if device.startswith("cuda") else (lambda: None)
    times = []
    for _ in range(steps + 5):  # the first five warm up caches and clocks
        synchronise()
        start = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        context = model.encode(points, values, bias)
        data = (model.decode(context, points) - values).square().mean()
        z = torch.rand(collocation, 3, device=device) * 2 - 1
        (data + navier_stokes(model, context, z)).backward()
        optimiser.step()
        synchronise()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times[5:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, parameter in inspect.signature(time_step).parameters.items():
        default = parameter.default
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    options = vars(parser.parse_args())
    options["milliseconds"] = time_step(**options)
    print(json.dumps({"torch": torch.__version__, **options}))


if __name__ == "__main__":
    main()
