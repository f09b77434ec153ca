"""``microgen export --as``: a project's models as a component of other build systems.

``FORMS`` has one record for each form. docs/guides/components.md describes them.
"""

from __future__ import annotations

import json
from pathlib import Path

from microgen.base.errors import ProjectError
from microgen.base.files import EXPORTED, FileTree
from microgen.project.exporting import arduino, component, forms
from microgen.project.exporting.component import Component
from microgen.project.exporting.forms import ExportForm
from microgen.tvm.mlf.export import check_apart
from microgen.tvm.mlf.export import write as write_file

__all__ = ["FORMS", "ExportForm", "file_name", "write"]

FORMS = {
    form.name: form for form in sorted((arduino.FORM, *forms.FORMS), key=lambda form: form.name)
}


def write(project: Path, form: str, output: Path, *, force: bool = False) -> int:
    """Write a project's models in a form; return the bytes of all files.

    A folder that exists must be empty or unchanged since an earlier export, unless ``force``.
    Equal projects give equal bytes. Raises ProjectError if a file of the project is not as it was
    generated, if the form cannot hold the project, or if ``output`` cannot be written.
    """
    chosen = _form(form)
    source = component.load(project)
    made = chosen.make(source)
    if chosen.pack is None:
        made = made.merged(_record(source, chosen, made))
        check_apart(project, source.project.files, output)
        made.write_to(output, force=force, record=EXPORTED)
        return sum(map(len, made.files.values()))
    return write_file(project, source.project.files, output, chosen.pack(made))


def file_name(project: Path, form: str) -> str:
    """The name that the form's build system wants the file to have; empty if it accepts any."""
    named = _form(form).file_name
    return named(component.load(project)) if named else ""


def _form(name: str) -> ExportForm:
    if name not in FORMS:
        raise ProjectError(f"there is no form {name!r}", hint=f"forms: {', '.join(FORMS)}")
    return FORMS[name]


def _record(source: Component, form: ExportForm, made: FileTree) -> FileTree:
    """The record of the folder: its origin, and the digests that tell a later export whether the
    folder is unchanged."""
    record = {
        "built_from": source.digest,
        "files": made.digests(),
        "form": form.name,
        "microgen": source.version,
        "name": source.name,
    }
    text = json.dumps(record, indent=2, sort_keys=True)
    return FileTree({EXPORTED: f"{text}\n".encode()})
