"""The README of an exported component."""

from __future__ import annotations

from microgen.project.exporting import calling
from microgen.project.exporting.component import SECTIONS, Component


def readme(component: Component, form: str, **values: object) -> bytes:
    """``templates/export/<form>/README.md`` with what all forms have in common."""
    text = calling.render(
        f"{form}/README.md",
        component,
        calling=calling.code(component),
        sections=SECTIONS,
        **values,
    )
    return text.encode()
