"""An input that the caller feeds in rows: names, numbers and comments for the templates."""

from __future__ import annotations

from typing import Any

from microgen.planner.program.rolling import Feed
from microgen.project.emit.unit import Unit

MORE_ROWS = 0x0F01  # between the error codes of TVM, which are smaller, and drivers' own


def names(unit: Unit) -> dict[str, Any]:
    """The C names and the numbers with which the model's input is fed in rows."""
    feed = unit.program.feed
    assert feed is not None, "the caller asks"
    (port,) = unit.program.inputs
    prefix, macro = unit.prefix, unit.prefix.upper()
    return {
        "port": port.name,
        "rows": feed.rows,
        "height": feed.height,
        "nbytes": feed.nbytes,
        "count": feed.count,
        "left": feed.height - (feed.count - 1) * feed.rows,
        "step": f"{prefix}_step",
        "more": f"{macro}_MORE_ROWS",
        "more_value": f"0x{MORE_ROWS:04X}",
        "ready": f"{macro}_READY",
        "rows_macro": f"{macro}_{port.name.upper()}_ROWS",
        "nbytes_macro": f"{macro}_{port.name.upper()}_ROWS_SIZE",
        "count_macro": f"{macro}_FEEDS",
        "structs": [name for name in unit.structs if name != "inputs"],
    }


def macros(unit: Unit) -> list[str]:
    """The macros of the feed in the model's header."""
    if unit.program.feed is None:
        return []
    macro_names = names(unit)
    return [
        macro_names[key] for key in ("more", "ready", "rows_macro", "nbytes_macro", "count_macro")
    ]


def loop(feed: Feed, unit: Unit) -> dict[str, Any]:
    """The templates' values for the loop of the function that gets the rows."""
    return {**names(unit), "steps": feed.steps, "last_step": feed.last_step}
