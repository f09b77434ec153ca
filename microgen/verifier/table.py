"""The checks of ``verify``, in the order of reports. Each is registered here and nowhere else.

A check is a function from a ``Subject`` to a ``Finding``. It has the function's name, and the first
paragraph of the function's docstring says what holds if the check is ok. ``scripts/check_table.py``
writes this table into the document about ``verify``.
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

EACH_MODEL: Extent = "each model"
FIRMWARE: Extent = "firmware"


def not_in_model(_subject: Subject) -> Finding:
    """The finding of a check that is about the firmware as a whole, in the scope "model"."""
    return not_applicable(NOT_OURS)


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check. ``reads`` names its sources. ``extent``: it looks at each model by itself, or at the
    firmware as a whole, or at all its models at once. ``in_model`` replaces it in the scope
    "model"; None if it does the same there, because ``checks/objects`` knows where the linker may
    put an object."""

    function: CheckFunction
    reads: str
    extent: Extent
    in_model: CheckFunction | None = None

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.function.__name__

    @property
    def holds(self) -> str:
        """The promise of the check, which holds if it is ok, in Markdown."""
        first, *_ = (inspect.getdoc(self.function) or "").split("\n\n")
        return " ".join(first.split()).replace("``", "`")

    def __call__(self, subject: Subject) -> Finding:
        """The finding about a subject in its scope."""
        return self.in_scope(subject.scope)(subject)

    def in_scope(self, scope: Scope) -> CheckFunction:
        """The function of the check in a scope."""
        return (self.in_model if scope == "model" else None) or self.function


ROWS = (
    CheckRow(consistency.manifest, "manifest", EACH_MODEL),
    CheckRow(built_from.built_from, "notes of the ELF; manifest", FIRMWARE),
    CheckRow(
        vectors.entry_point, "ELF header, symbols; vector table on Arm", FIRMWARE, not_in_model
    ),
    CheckRow(
        vectors.vector_table,
        "Arm: the words at the start of flash, or after RP2040's boot block; RISC-V: disassembly",
        FIRMWARE,
        not_in_model,
    ),
    CheckRow(vectors.boot_block, "the start of flash; `boot` of the board", FIRMWARE, not_in_model),
    CheckRow(linked.run_symbol, "symbols", EACH_MODEL),
    CheckRow(linked.operators, "symbols; calls of the manifest", EACH_MODEL),
    CheckRow(
        runner_check.runner,
        "disassembly, constants of the image, symbols; calls of the manifest",
        EACH_MODEL,
    ),
    CheckRow(linked.device_hooks, "symbols; devices of the manifest", EACH_MODEL),
    CheckRow(registry.registry, "symbols, the registry's tables; manifest", FIRMWARE),
    CheckRow(graph.graph, "the graph's JSON in the ELF; plan", FIRMWARE),
    CheckRow(module_blob.module_blob, "symbols, the blob in the ELF; manifest", EACH_MODEL),
    CheckRow(
        module_blob.module_loaders,
        "symbols, the tables `mg_loader_*`; the blobs in the ELF; manifest",
        FIRMWARE,
    ),
    CheckRow(
        external_functions.external_functions,
        "symbols, the blob, the tables of `<m>_modules.c`; manifest",
        EACH_MODEL,
    ),
    CheckRow(memory.sids, "symbols; plan", EACH_MODEL),
    CheckRow(
        memory.sid_overlap,
        "addresses and sizes of symbols; lifetimes of the plan, and again those that follow from "
        "the calls",
        EACH_MODEL,
    ),
    CheckRow(memory.arena, "symbols; plan", EACH_MODEL),
    CheckRow(workspaces.shared_workspace, "symbols; plans of all models", FIRMWARE),
    CheckRow(constants.constants_section, "symbols, sections, segments; board", EACH_MODEL),
    CheckRow(constants.constants_bytes, "the ELF's bytes; parameters", EACH_MODEL),
    CheckRow(requantization.requantization, "the ELF's bytes; parameters", EACH_MODEL),
    CheckRow(proofs.proofs, "the constants' arguments; parameters", EACH_MODEL),
    CheckRow(
        layout.layout,
        "ELF header, program and section headers, symbols; plan",
        FIRMWARE,
        layout.headers_only,
    ),
    CheckRow(image.segments, "program headers, sections; board", FIRMWARE, not_in_model),
    CheckRow(sizes.sections_fit, "sections, load addresses; board", FIRMWARE, not_in_model),
    CheckRow(linked.heap, "symbols", FIRMWARE, subtree.if_followed(linked.heap)),
    CheckRow(
        linked.libc,
        "function symbols; identifiers of the project's sources",
        FIRMWARE,
        subtree.if_followed(linked.libc),
    ),
    CheckRow(
        linked.soft_float,
        "symbols; dtypes of the manifest",
        FIRMWARE,
        subtree.if_followed(linked.soft_float),
    ),
    CheckRow(
        image.build_attributes,
        "`.ARM.attributes`, `.riscv.attributes`, ELF header; board's CPU",
        FIRMWARE,
        image.runs_model,
    ),
    CheckRow(
        linked.kernels, "function symbols; manifest", FIRMWARE, subtree.if_followed(linked.kernels)
    ),
    CheckRow(stack.stack, "disassembly, code, vectors, constant tables", FIRMWARE, subtree.stack),
    CheckRow(sizes.ram_budget, "sections; `--ram` or the manifest", FIRMWARE, not_in_model),
    CheckRow(sizes.flash_budget, "sections; `--flash` or the manifest", FIRMWARE, not_in_model),
    CheckRow(image.project_files, "the project's files; digests of the manifest", FIRMWARE),
    CheckRow(
        reproduce.reproduce,
        "the shipped models; the project's files; the ELF; CMake's cache next to it",
        FIRMWARE,
    ),
)
CHECKS: Mapping[str, CheckRow] = {row.name: row for row in ROWS}
