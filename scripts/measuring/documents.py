"""The cores in documents: the table in boards.md, and the names in the schema of board.yml."""

from __future__ import annotations

import json
from pathlib import Path

from microgen.target.cpu import CPUS, Cpu, Feature
from scripts.measuring.tables import CHECKOUT

_HEAD = "| name | features | GCC's flags | LLVM's target |\n|---|---|---|---|\n"
_FEATURES = (
    *(Feature.FPU, Feature.FPU64, Feature.DSP),
    *(Feature.MVE, Feature.MVE_FLOAT, Feature.LONG_MULTIPLY),
)


def write() -> None:
    """Write the documents that lack a core."""
    for path, text in texts().items():
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(CHECKOUT)}: cores", flush=True)


def texts() -> dict[Path, str]:
    """The documents with all cores."""
    (boards,) = (CHECKOUT / "docs").rglob("boards.md")
    (schema,) = (CHECKOUT / "docs").rglob("schemas/board.json")
    before, head, rest = boards.read_text(encoding="utf-8").partition(_HEAD)
    _, end, after = rest.partition("\n\n")
    rows = "\n".join(map(_row, (cpu for cpu in CPUS.values() if cpu.triple)))
    data = json.loads(schema.read_text(encoding="utf-8"))
    data["properties"]["cpu"]["enum"] = list(CPUS)
    return {
        boards: f"{before}{head}{rows}{end}{after}",
        schema: f"{json.dumps(data, indent=2, ensure_ascii=False)}\n",
    }


def _row(cpu: Cpu) -> str:
    features = [feature.value for feature in _FEATURES if feature in cpu.features]
    flags = f"`{' '.join(cpu.cflags)}`"
    return f"| `{cpu.name}` | {', '.join(features) or 'none'} | {flags} | `{cpu.triple}` |"
