"""The checks of ``verify``, in the order of reports. Each is registered here and nowhere else.

A check is a function from a ``Subject`` to a ``Finding``. It has the function's name, and the first
paragraph of the function's docstring says what holds if the check is ok. A paragraph "Reads: ..."
names its sources. ``scripts/check_table.py`` writes this table into the document about ``verify``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from microgen.verifier import sizes, stack
from microgen.verifier.again import built_from, reproduce
from microgen.verifier.checks import (
    consistency,
    constants,
    external_functions,
    graph,
    image,
    layout,
    linked,
    memory,
    module_blob,
    proofs,
    registry,
    requantization,
    subtree,
    vectors,
    workspaces,
)
from microgen.verifier.runner_walk import check as runner_check
from microgen.verifier.scopes import NOT_OURS
from microgen.verifier.subject import Finding, Scope, Subject, not_applicable

CheckFunction = Callable[[Subject], Finding]
Extent = Literal["each model", "firmware"]

_READS = "Reads: "

EACH_MODEL: Extent = "each model"
FIRMWARE: Extent = "firmware"


def not_in_model(_subject: Subject) -> Finding:
    """The finding of a check that is about the firmware as a whole, in the scope "model"."""
    return not_applicable(NOT_OURS)


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check. ``extent``: it looks at each model by itself, or at the firmware as a whole, or at
    all its models at once. ``in_model`` replaces it in the scope "model"; None if it does the same
    there, because ``checks/objects`` knows where the linker may put an object."""

    function: CheckFunction
    extent: Extent
    in_model: CheckFunction | None = None

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.function.__name__

    @property
    def holds(self) -> str:
        """The promise of the check, which holds if it is ok, in Markdown."""
        return self._paragraphs()[0]

    @property
    def reads(self) -> str:
        """The sources of the check, in Markdown."""
        (text,) = (p for p in self._paragraphs() if p.startswith(_READS))
        return text.removeprefix(_READS).removesuffix(".")

    def _paragraphs(self) -> list[str]:
        paragraphs = (inspect.getdoc(self.function) or "").split("\n\n")
        return [" ".join(paragraph.split()).replace("``", "`") for paragraph in paragraphs]

    def __call__(self, subject: Subject) -> Finding:
        """The finding about a subject in its scope."""
        return self.in_scope(subject.scope)(subject)

    def in_scope(self, scope: Scope) -> CheckFunction:
        """The function of the check in a scope."""
        return (self.in_model if scope == "model" else None) or self.function


ROWS = (
    CheckRow(consistency.manifest, EACH_MODEL),
    CheckRow(built_from.built_from, FIRMWARE),
    CheckRow(vectors.entry_point, FIRMWARE, not_in_model),
    CheckRow(vectors.vector_table, FIRMWARE, not_in_model),
    CheckRow(vectors.boot_block, FIRMWARE, not_in_model),
    CheckRow(linked.run_symbol, EACH_MODEL),
    CheckRow(linked.operators, EACH_MODEL),
    CheckRow(runner_check.runner, EACH_MODEL),
    CheckRow(linked.device_hooks, EACH_MODEL),
    CheckRow(registry.registry, FIRMWARE),
    CheckRow(graph.graph, FIRMWARE),
    CheckRow(module_blob.module_blob, EACH_MODEL),
    CheckRow(module_blob.module_loaders, FIRMWARE),
    CheckRow(external_functions.external_functions, EACH_MODEL),
    CheckRow(memory.sids, EACH_MODEL),
    CheckRow(memory.sid_overlap, EACH_MODEL),
    CheckRow(memory.arena, EACH_MODEL),
    CheckRow(workspaces.shared_workspace, FIRMWARE),
    CheckRow(constants.constants_section, EACH_MODEL),
    CheckRow(constants.constants_bytes, EACH_MODEL),
    CheckRow(requantization.requantization, EACH_MODEL),
    CheckRow(proofs.proofs, EACH_MODEL),
    CheckRow(layout.layout, FIRMWARE, layout.headers_only),
    CheckRow(image.segments, FIRMWARE, not_in_model),
    CheckRow(sizes.sections_fit, FIRMWARE, not_in_model),
    CheckRow(linked.heap, FIRMWARE, subtree.if_followed(linked.heap)),
    CheckRow(linked.libc, FIRMWARE, subtree.if_followed(linked.libc)),
    CheckRow(linked.soft_float, FIRMWARE, subtree.if_followed(linked.soft_float)),
    CheckRow(image.build_attributes, FIRMWARE, image.runs_model),
    CheckRow(linked.kernels, FIRMWARE, subtree.if_followed(linked.kernels)),
    CheckRow(stack.stack, FIRMWARE, subtree.stack),
    CheckRow(sizes.ram_budget, FIRMWARE, not_in_model),
    CheckRow(sizes.flash_budget, FIRMWARE, not_in_model),
    CheckRow(image.project_files, FIRMWARE),
    CheckRow(reproduce.reproduce, FIRMWARE),
)
CHECKS: Mapping[str, CheckRow] = {row.name: row for row in ROWS}
