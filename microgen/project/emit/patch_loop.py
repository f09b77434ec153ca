"""The functions that compute a row of a patch, some columns at a time."""

from __future__ import annotations

from microgen.planner.program.kernel_call import Inner
from microgen.planner.program.rolling import Columns, CopiedColumns, PatchLoop, PatchPart, When
from microgen.planner.program.types import Parameter, Role
from microgen.project.emit import layout

_TAB = "    "


def lines(patch: PatchLoop) -> list[str]:
    """The lines of the body of a patch's function."""
    wide, copied, (first, *others) = patch.wide, patch.copied, patch.parts
    body = [*(_copies(patch, copied) if copied else []), *_wide(patch, first)]
    for one in others:
        pairs = zip(one.args, one.part.parameters, strict=True)
        arguments = [_argument(arg, parameter, one.when) for arg, parameter in pairs]
        body += _in_steps(_call(one, arguments, 3), one.when, one.when.end, patch.steps)
    pointer = f"{_TAB}uint8_t *const columns = &scratch[{copied.offset}];" if copied else ""
    return [
        *([f"{pointer} /* {copied.rows} rows of the data */"] if copied else []),
        f"{_TAB}uint8_t *const wide = &scratch[{wide.offset}]; /* {patch.rows} rows */",
        "",
        *([] if _leaves(patch) else [f"{_TAB}(void)row; /* all rows of windows are inside */"]),
        *([_filled("columns", copied.fill, copied.rows * copied.nbytes)] if copied else []),
        _filled("wide", wide.fill, patch.rows * wide.nbytes),
        f"{_TAB}for (int32_t step = 0; step < {patch.steps}; ++step) {{",
        *body,
        f"{_TAB}}}",
    ]


def _filled(place: str, fill: int, nbytes: int) -> str:
    return f"{_TAB}(void)memset({place}, {fill}, {nbytes});"


def _copies(patch: PatchLoop, copied: CopiedColumns) -> list[str]:
    """The copy of the data's columns. Rows outside the data are there, too, with their padding."""
    kept = copied.nbytes - copied.new
    fresh = f"&line[{kept}]" if kept else "line"
    place = f"in0[r * {patch.pitch} + {_times(copied.when)} * {copied.stride}]"
    copy = f"mg_copy_rows({fresh}, (const uint8_t *)&{place}, {copied.new});"
    lines = [f"{_TAB * 4}{copy}"]
    if copied.when.end < copied.end:
        lines = [
            f"{_TAB * 4}if (step < {copied.when.end}) {{",
            f"{_TAB * 5}{copy}",
            f"{_TAB * 4}}} else {{",
            f"{_TAB}{_TAB * 3}{_filled(fresh, copied.fill, copied.new)}",
            f"{_TAB * 4}}}",
        ]
    body = [
        f"{_TAB * 3}for (int32_t r = 0; r < {copied.rows}; ++r) {{",
        f"{_TAB * 4}uint8_t *const line = &columns[r * {copied.nbytes}];",
        "",
        *([f"{_TAB * 4}mg_copy_rows(line, &line[{copied.new}], {kept});"] if kept else []),
        *lines,
        f"{_TAB * 3}}}",
    ]
    return _in_steps(body, copied.when, copied.end, patch.steps)


def _wide(patch: PatchLoop, first: PatchPart) -> list[str]:
    """The rows of the wide tensor. Those outside of it are padding, and are not computed."""
    wide, kept, leaves = patch.wide, patch.wide.nbytes - patch.wide.new, _leaves(patch)
    fresh = f"&line[{kept}]" if kept else "line"
    inside = [f"step < {first.when.end}"] if first.when.end < wide.end else []
    inside += ["y >= 0", f"y < {patch.height}"] if leaves else []
    call = _call(first, _wide_arguments(patch, first, fresh), 5 if inside else 4)
    if inside:
        call = [
            f"{_TAB * 4}if ({layout.joined(' && ', inside)}) {{",
            *call,
            f"{_TAB * 4}}} else {{",
            f"{_TAB * 5}(void)memset({fresh}, {wide.fill}, {wide.new});",
            f"{_TAB * 4}}}",
        ]
    y = f"const int32_t y = row * {patch.stride} - {patch.above} + r;"
    body = [
        f"{_TAB * 3}for (int32_t r = 0; r < {patch.rows}; ++r) {{",
        f"{_TAB * 4}uint8_t *const line = &wide[r * {wide.nbytes}];",
        *([f"{_TAB * 4}{y}"] if leaves else []),
        "",
        *([f"{_TAB * 4}mg_copy_rows(line, &line[{wide.new}], {kept});"] if kept else []),
        *call,
        f"{_TAB * 3}}}",
    ]
    return _in_steps(body, first.when, wide.end, patch.steps)


def _wide_arguments(patch: PatchLoop, first: PatchPart, fresh: str) -> list[str]:
    """The arguments for row ``r``: columns of the data, and the place of new columns."""
    found = []
    for arg, parameter in zip(first.args, first.part.parameters, strict=True):
        if isinstance(arg, Columns):
            place = f"r * {patch.pitch} + {_times(first.when)} * {arg.stride}"
            found.append(f"&{arg.parameter}[{place}]")
        elif isinstance(arg, Inner) and parameter.role is Role.OUTPUT:
            found.append(f"({arg.ctype} *){fresh}")
        elif isinstance(arg, Inner) and parameter.role is Role.INPUT and patch.copied:
            place = f"columns[r * {patch.copied.between}]"
            found.append(f"(const {arg.ctype} *)(const void *)&{place}")
        else:
            found.append(_argument(arg, parameter, first.when))
    return found


def _leaves(patch: PatchLoop) -> bool:
    """Whether rows may be outside the wide tensor."""
    last = (patch.count - 1) * patch.stride - patch.above + patch.rows
    return patch.above > 0 or last > patch.height


def _in_steps(body: list[str], when: When, end: int, steps: int) -> list[str]:
    """Lines for the steps of an event, the last of which is before ``end``."""
    since = f"(step - {when.first})" if when.first else "step"
    terms = [f"step >= {when.first}"] if when.first else []
    terms += [f"step < {end}"] if end < steps else []
    terms += [f"({since} % {when.period}) == 0"] if when.period > 1 else []
    condition = f"if ({layout.joined(' && ', terms)}) " if terms else ""
    return [f"{_TAB * 2}{condition}{{", *body, f"{_TAB * 2}}}"]


def _times(when: When) -> str:
    since = f"(step - {when.first})" if when.first else "step"
    return f"({since} / {when.period})" if when.period > 1 else since


def _call(one: PatchPart, arguments: list[str], depth: int) -> list[str]:
    text = layout.call(one.part.name, arguments, len(_TAB) * depth, end=";")
    return [f"{_TAB * depth}{text}"]


def _argument(arg: str | Inner | Columns, parameter: Parameter, when: When) -> str:
    match arg:
        case Columns(name, stride):
            return f"&{name}[{_times(when)} * {stride}]"
        case Inner(offset, ctype):
            const = "const " if parameter.role is Role.INPUT else ""
            return f"({const}{ctype} *)&scratch[{offset}]"
        case name:
            return name
