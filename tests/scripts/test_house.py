"""What ``scripts.house`` measures, in small trees, and the limits of this tree."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.house import __main__ as house
from scripts.house import alike, road, rooms, sizes, symbols
from scripts.house.limits import LIMITS, QUICK, Limit
from scripts.house.tree import Figure, Tree
from tests.support.tools import NEEDS_ARM_GCC

HERE = Tree(Path(__file__).resolve().parents[2])


@functools.cache
def _here() -> dict[str, Figure]:
    return house.measured(HERE)


@pytest.mark.parametrize("name", QUICK)
def test_the_tree_is_not_worse_than_its_limit(name: str) -> None:
    figure = _here()[name]
    assert LIMITS[name].holds(figure.value, today=True), (
        f"{name}: {figure.value:g} ({figure.about}); scripts/house/limits.py has the limits"
    )


def test_every_kernel_symbol_above_the_limit_can_be_found() -> None:
    found = symbols.measure(HERE)
    assert not isinstance(found, str), found
    name = "kernel symbols not found"
    assert LIMITS[name].holds(found[name].value, today=True), found[name].about


def test_every_figure_has_a_limit_and_every_quick_limit_a_figure() -> None:
    assert set(_here()) == set(QUICK)


def test_no_limit_is_beyond_what_the_tests_accept() -> None:
    assert all(limit.holds(limit.goal, today=True) for limit in LIMITS.values())


@pytest.mark.parametrize(
    ("limit", "good", "bad"), [(Limit(3, 3), 3, 3.1), (Limit(3, 3, at_least=True), 3, 2.9)]
)
def test_a_limit_is_the_last_value_that_holds(limit: Limit, good: float, bad: float) -> None:
    assert limit.holds(good)
    assert not limit.holds(bad)


def test_until_the_goal_is_reached_tests_accept_the_value_of_today() -> None:
    limit = Limit(goal=10, allowed=12)
    assert limit.holds(12, today=True)
    assert not limit.holds(12)
    assert not limit.holds(13, today=True)


def test_a_missed_goal_is_marked() -> None:
    assert house.line("rooms", Figure(19, "why")) == (
        "! rooms                                        19  <= 18       why"
    )
    assert house.line("rooms", Figure(18)).startswith("  rooms")
    assert "not measured" in house.line("rooms", None)


def _tree(folder: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Tree(folder)


def _values(figures: dict[str, Figure]) -> dict[str, float]:
    return {name: figure.value for name, figure in figures.items()}


def test_rooms_are_folders_and_modules_and_each_is_above_what_it_imports(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "microgen/version.py": "",
            "microgen/base.py": "",
            "microgen/graph/ops.py": "from microgen.base import Error\nimport microgen.graph.ir\n",
            "microgen/graph/ir.py": "",
            "microgen/shell/cli.py": "def f():\n    from microgen.graph import ir\n",
            "microgen/shell/run.py": "from microgen import base\nfrom microgen.version import x\n",
            "crt/add.c": "",
        },
    )
    found = rooms.measure(tree)
    assert _values(found) == {"rooms": 3, "arrows": 3, "floors": 3, "arrows up": 0}
    assert found["rooms"].about == "with the doors, crt: 5"
    assert found["arrows"].about == "with the doors: 4"


def test_of_a_circle_the_arrow_of_the_fewest_imports_goes_up(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "microgen/a.py": "from microgen.b import one, two\n",
            "microgen/b.py": "from microgen.c import one, two\n",
            "microgen/c.py": "from microgen.a import one\n",
        },
    )
    found = rooms.measure(tree)
    assert _values(found) == {"rooms": 3, "arrows": 3, "floors": 3, "arrows up": 1}
    assert found["arrows up"].about == "c -> a"


def test_two_circles_have_two_arrows_up(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "microgen/a.py": "from microgen.b import x\nfrom microgen.c import x\n",
            "microgen/b.py": "from microgen.a import x\n",
            "microgen/c.py": "from microgen.a import x\n",
        },
    )
    assert rooms.measure(tree)["arrows up"].value == 2


def test_the_fullest_folder_counts_files_directly_in_it(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "microgen/a.py": "",
            "microgen/b/a.py": "",
            "microgen/b/b.py": "",
            "microgen/b/c.json": "{}",
            "microgen/b/d/a.py": "",
            "crt/a.h": "",
            "crt/b.c": "",
            "tests/golden/a.py": "",
            "tests/golden/b.py": "",
            "tests/t.py": "",
        },
    )
    found = sizes.measure(tree)
    assert found["files of Python in one folder"] == Figure(2, "microgen/b")
    assert found["files of C in one folder"] == Figure(2, "crt")
    assert found["files of tests in one folder"] == Figure(1, "tests")


def test_hidden_folders_and_caches_are_no_parts_of_a_tree(tmp_path: Path) -> None:
    files = ("microgen/.x/a.py", "microgen/__pycache__/a.py", "microgen/b/a.py")
    tree = _tree(tmp_path, dict.fromkeys(files, ""))
    assert [tree.name(path) for path in tree.files("microgen")] == ["microgen/b/a.py"]


def test_a_public_class_of_two_modules_exists_twice(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "microgen/a.py": "class Pair: ...\nclass _Own: ...\nclass Once: ...\n",
            "microgen/b.py": "class Pair: ...\nclass _Own: ...\nclass Out:\n    class Once: ...\n",
        },
    )
    assert sizes.measure(tree)["class names that exist twice"] == Figure(1, "Pair")


def test_costs_are_files_of_data_outside_of_the_frontends(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "microgen/kernels/costs.json": '{"a": 1,\n"b": 2}\n',
            "measured/m4.csv": "x" * 2000,
            "microgen/frontends/nodes.json": "[\n\n\n]",
        },
    )
    found = _values(sizes.measure(tree))
    assert found["lines of costs"] == 3
    assert found["longest line of costs"] == 2000
    assert found["kilobytes of costs"] == 2


def test_code_has_no_docstrings_comments_imports_or_blank_lines(tmp_path: Path) -> None:
    source = '''"""What it is.

More of it."""

from a import (
    b,
)

# A reason.
x = 1  # a remark


def f():
    """Nothing."""
    # Why.
    return "# none"
'''
    found = _values(sizes.measure(_tree(tmp_path, {"microgen/a.py": source})))
    assert found["lines of Python code"] == 3
    assert found["comments, % of lines"] == round(100 * 2 / 16, 1)
    assert found["files of Python"] == 1


def test_modules_above_400_lines_and_lines_of_c(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "microgen/a.py": "\n" * 401,
            "microgen/b.py": "\n" * 400,
            "crt/a.S": "\n",
            "crt/a.h": "\n\n",
        },
    )
    found = sizes.measure(tree)
    assert found["modules above 400 lines"] == Figure(1, "microgen/a.py")
    assert found["lines of C"].value == 3


_LOOP = """
/* {about} */
#include "{first}.h"
void {first}(const int8_t *{second}, int32_t *out, int32_t n)
{{
    int32_t sum = {number};
    for (int32_t i = 0; i < n; i++) {{
        sum += {second}[i]; // {about}

        out[i] = sum + {number};
    }}
    {first}_store(out, sum);
    {first}_report("{about}", sum);
}}
"""


def _pairs(tree: Tree) -> list[tuple[str, int, str, int]]:
    return [
        (tree.name(pair.first), pair.line, tree.name(pair.second), pair.other_line)
        for pair in alike.alike(tree, "crt")
    ]


def test_lines_of_one_shape_are_a_pair_whatever_their_names_and_comments(tmp_path: Path) -> None:
    one = _LOOP.format(first="a", second="x", number=1, about="the first")
    two = "int b;\n" + _LOOP.format(first="b", second="rows", number=0x7F, about="another")
    tree = _tree(tmp_path, {"crt/a.c": one, "crt/b.c": two})
    assert _pairs(tree) == [("crt/a.c", 4, "crt/b.c", 5)]
    assert _values(alike.measure(tree)) == {
        "pairs of alike places, crt": 1,
        "pairs of alike places, microgen": 0,
    }


def test_five_lines_of_one_shape_are_no_pair(tmp_path: Path) -> None:
    one = _LOOP.format(first="a", second="x", number=1, about="")
    two = one.replace("sum += x[i]; //", "sum += x[i + 1] * 2; //")
    assert not _pairs(_tree(tmp_path, {"crt/a.c": one, "crt/b.c": two}))


def test_two_places_of_one_file_are_a_pair(tmp_path: Path) -> None:
    one = _LOOP.format(first="a", second="x", number=1, about="")
    two = _LOOP.format(first="b", second="y", number=2, about="")
    assert _pairs(_tree(tmp_path, {"crt/a.c": one + two})) == [("crt/a.c", 4, "crt/a.c", 18)]


def test_lines_that_overlap_are_no_pair(tmp_path: Path) -> None:
    rows = "".join(f'    add(row, "name {i}", {i});\n' for i in range(7))
    assert not _pairs(_tree(tmp_path, {"crt/a.c": rows}))


def test_short_lines_are_a_pair_only_if_they_are_the_same(tmp_path: Path) -> None:
    fields = "".join(f"int a{i};\n" for i in range(6))
    renamed = fields.replace("a", "b")
    assert not _pairs(_tree(tmp_path, {"crt/a.h": fields, "crt/b.h": renamed}))
    assert len(_pairs(_tree(tmp_path / "same", {"crt/a.h": fields, "crt/b.h": fields}))) == 1


@pytest.mark.parametrize(("copies", "pairs"), [(8, 28), (9, 0)])
def test_an_idiom_of_many_places_is_no_pair(tmp_path: Path, copies: int, pairs: int) -> None:
    files = {
        f"crt/{name}.c": f"int {name};\n" + _LOOP.format(first=name, second="x", number=1, about="")
        for name in "abcdefghi"[:copies]
    }
    assert len(_pairs(_tree(tmp_path, files))) == pairs


def test_imports_docstrings_and_decorators_draw_no_pair(tmp_path: Path) -> None:
    source = '''"""Some text,
{0}, in several
lines,
one
after
another."""

from {0} import (
    one,
    two,
    three,
    four,
    five,
    six,
)


@decorator(of={0}, with_argument={0})
@decorator(of={0}, with_argument={0})
@decorator(of={0}, with_argument={0})
@decorator(of={0}, with_argument={0})
@decorator(of={0}, with_argument={0})
@decorator(of={0}, with_argument={0})
class {0}: ...
'''
    files = {f"microgen/{name}.py": source.format(name) for name in "ab"}
    assert not alike.alike(_tree(tmp_path, files), "microgen")


def _kernels(header: str, folder: Path) -> Tree:
    return _tree(
        folder,
        {
            "microgen/__init__.py": "",
            "microgen/kernels.py": (
                "from types import SimpleNamespace as K\n"
                "def registry():\n"
                "    names = ['mg_' + 'add_' + dtype for dtype in ('s8', 'f32')]\n"
                "    return {'add': [K(symbol=name) for name in names]}\n"
            ),
            "crt/add.h": header,
            "microgen/costs.json": '["mg_add_s8"]',
            "docs/ops.md": "mg_add_s8",
        },
    )


def test_a_symbol_that_a_macro_joins_is_not_found(tmp_path: Path) -> None:
    joined = (
        "#define MG_ADD(type) mg_add_##type\nint MG_ADD(s8);\nint mg_add_f32, mg_add_s8_body;\n"
    )
    found = symbols.measure(_kernels(joined, tmp_path))
    assert found == {"kernel symbols not found": Figure(1, "of 2; mg_add_s8")}


def test_a_line_that_names_a_symbol_is_enough(tmp_path: Path) -> None:
    named = "/* mg_add_s8: MG_ADD(s8) */\nint mg_add_f32;\n"
    found = symbols.measure(_kernels(named, tmp_path))
    assert found == {"kernel symbols not found": Figure(0, "of 2")}


def test_without_a_microgen_symbols_are_not_measured(tmp_path: Path) -> None:
    tree = _tree(tmp_path / "broken", {"microgen/__init__.py": "raise ImportError('no numpy')"})
    assert symbols.measure(tree) == "ImportError: no numpy"
    elsewhere = symbols.measure(_tree(tmp_path / "none", {"crt/a.h": ""}))
    assert isinstance(elsewhere, str)
    assert "microgen" in elsewhere


def test_only_a_check_that_ends_well_has_a_time(tmp_path: Path) -> None:
    makefile = "clean:\n\tfalse\ncheck:\n\ttrue\n"
    times = house.timed(_tree(tmp_path, {"Makefile": makefile}))
    assert list(times) == ["make check, seconds"]


_PASSING = """
import dataclasses

@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    ram: int

def parse(words):
    return Options(ram=int(words[1]))

def hand_on(options):
    return spare(limit(options)) + ignore(7)

def limit(options):
    return options.ram - 5

def spare(nbytes):
    return nbytes > 0

def ignore(other):
    return other
"""


def test_the_road_has_the_functions_that_get_return_or_read_the_number(tmp_path: Path) -> None:
    _tree(tmp_path, {"own/a.py": _PASSING})
    own: dict[str, Any] = {}
    exec(compile(_PASSING, tmp_path / "own" / "a.py", "exec"), own)
    watch = road.Watch(tmp_path / "own", 39_877)
    watch.watch(own["Options"], "ram")
    sys.setprofile(watch)
    own["hand_on"](own["parse"](["--ram", "39877"]))
    sys.setprofile(None)
    assert [name for _, name in watch.road.values()] == ["a.parse", "a.limit", "a.spare"]
    assert [name for _, name in watch.carriers.values()] == ["a.parse", "a.hand_on", "a.limit"]


def test_a_folder_is_left_when_another_is_entered() -> None:
    assert road.merged("aabbac") == ["a", "b", "a", "c"]


@pytest.mark.slow  # builds a firmware
@NEEDS_ARM_GCC
def test_the_number_of_ram_takes_a_short_road() -> None:
    found = road.measure(HERE)
    assert not isinstance(found, str), found
    for name, figure in found.items():
        assert LIMITS[name].holds(figure.value, today=True), f"{figure.value}: {figure.about}"


def test_a_tree_whose_commands_fail_has_no_road(tmp_path: Path) -> None:
    failing = {
        "microgen/__init__.py": "",
        "microgen/interface/__init__.py": "",
        "microgen/interface/cli.py": "raise ImportError('no numpy')",
    }
    assert road.measure(_tree(tmp_path, failing)) == "ImportError: no numpy"
