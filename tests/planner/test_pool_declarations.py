"""Declarations of pools in the form that the command line takes."""

from __future__ import annotations

from typing import Any

import pytest

from microgen import options
from microgen.base.errors import MicrogenError
from microgen.options import Options
from microgen.planner import pools
from microgen.planner.program.plan import Pool


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("sram:1024", Pool("sram", 0, 16, capacity=1024)),
        ("sram:256K", Pool("sram", 0, 16, capacity=262144)),
        ("sram:2M", Pool("sram", 0, 16, capacity=2097152)),
        ("sram:0", Pool("sram", 0, 16, capacity=0)),
        ("sram:*", Pool("sram", 0, 16)),
        ("sram:", Pool("sram", 0, 16)),
        ("dram:1K:external", Pool("dram", 0, 16, capacity=1024, is_internal=False)),
        (
            "d:*:align=64:targets=c+ethos-u:memory=psram",
            Pool("d", 0, 64, targets=("c", "ethos-u"), memory="psram"),
        ),
    ],
)
def test_workspace_pools(spec: str, expected: Pool) -> None:
    assert pools.parse([spec], 16) == (expected,)


def test_constant_pools_leave_the_default_workspace() -> None:
    declared = pools.parse(["w:1K:const:external", "v::const"], 8)
    assert declared == (
        Pool("w", 0, 8, capacity=1024, is_internal=False, is_constant=True),
        Pool("v", 0, 8, is_constant=True),
        Pool("global_workspace", 0, 8),
    )
    assert pools.parse([], 16) == (Pool("global_workspace", 0, 16),)


def test_the_hosts_target_is_c() -> None:
    declared = pools.parse(["a:5:targets=c+npu", "b:5"], 16)
    assert [p.targets for p in pools.on_host(declared, "cortex-m4f")] == [("cortex-m4f", "npu"), ()]


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (["sram"], "--pool sram: has no size; expected NAME:SIZE"),
        (["1a:5"], "'1a' is not a C identifier"),
        (["a-b:5"], "'a-b' is not a C identifier"),
        (["int:5"], "'int' is not a C identifier"),
        (["run:5"], "'run' is the name of something else"),
        (["p12:5"], "'p12' is the name of something else"),
        ([":5"], "'' is not a C identifier"),
        (["a:5x"], "'5x' is not a size: expected bytes"),
        (["a:-5"], "'-5' is not a size"),
        (["a:5:outside"], "'outside' is unknown"),
        (["a:5:colour=red"], "'colour' is unknown"),
        (["a:5:align=3"], "'3' is not an alignment"),
        (["a:5:align=512"], "'512' is not an alignment"),
        (["a:5:memory="], "memory= has no value"),
        (["a:5:const:targets=c"], "targets are for workspace pools"),
        (["a:5", "A:6"], "'A' and 'a' share a name in macros"),
        (["a:5", "a:6"], "'a' and 'a' share a name"),
        (["a:5:const", "global_workspace:6:const"], "share a name in macros"),
        (["a:5:clock_frequency_hz=1"], "has no effect on any planner"),
        (["a:5:read_bandwidth_bytes_per_cycle=4"], "has no effect on any planner"),
        (["a:5:target_burst_bytes=4"], "has no effect on any planner"),
        (["a:5:write_latency_cycles=4"], "has no effect on any planner"),
    ],
)
def test_refusals(specs: list[str], message: str) -> None:
    with pytest.raises(MicrogenError, match=r"--pool") as error:
        Options(pool=tuple(specs))
    assert message in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"interface": "packed", "pool": ("a:5:external",)},
            "--pool: packed arguments",
        ),
        ({"interface": "packed", "workspace_io": True}, "--workspace-io: packed arguments"),
        ({"executor": "graph", "pool": ("a:5",)}, "--pool: the graph executor has one memory"),
        ({"executor": "graph", "workspace_io": True}, "--workspace-io: the graph executor"),
    ],
)
def test_pools_that_an_interface_cannot_pass_are_refused_not_dropped(
    asked: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TVM v0.14 leaves external pools out of packed calls without an error."""
    monkeypatch.setattr(options, "INTERFACES", ("c", "packed"))
    monkeypatch.setattr(options, "EXECUTORS", ("aot", "graph"))
    with pytest.raises(MicrogenError, match=message):
        Options(**asked)
    if "interface" in asked:
        Options(interface="packed", pool=("a:5",))
