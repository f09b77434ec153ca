"""Code generators of packages and of folders. A broken one disturbs only those who ask for it."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from microgen.base.errors import MicrogenError
from microgen.compiler import codegens
from microgen.compiler.codegens.builtin import Builtin
from microgen.compiler.codegens.payloads import readers
from microgen.interface import cli

GOOD = """
from microgen.compiler.codegens.external import ExternalCodegen
from microgen.relay.transform import Support


class Mine(ExternalCodegen):
    '''The title

    And more.'''

    name = "{name}"
    support = Support("{name}", {{"add": lambda call: None}})

    def compile(self, functions, board):
        return []


CODEGEN = Mine()
"""


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def good(name: str = "mine") -> str:
    return GOOD.format(name=name)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on Python's path, whose packages look installed."""
    monkeypatch.syspath_prepend(tmp_path)
    codegens._installed.cache_clear()
    yield tmp_path
    codegens._installed.cache_clear()


def _install(site: Path, name: str, points: str) -> None:
    info = site / f"{name}-1.2.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n"
    _write(info, {"METADATA": metadata, "entry_points.txt": f"[microgen.codegens]\n{points}\n"})


def test_microgens_own_come_first() -> None:
    known = codegens.registry()
    assert isinstance(known["builtin"], Builtin)
    assert next(iter(known)) == "builtin"
    assert "ccompiler" in known
    assert known.origins("ccompiler") == ("microgen",)
    assert known.broken("ccompiler") is None


def test_a_packages_codegen_is_found_and_imported_late(site: Path) -> None:
    _write(site, {"vendor_a.py": good("vend-a")})
    _install(site, "vendor-a", "vend-a = vendor_a:CODEGEN")
    known = codegens.registry()
    assert known.origins("vend-a") == ("vendor-a 1.2",)
    (site / "vendor_a.py").unlink()
    assert "No module named 'vendor_a'" in str(known.broken("vend-a"))
    _write(site, {"vendor_a.py": good("vend-a")})
    assert known["vend-a"].name == "vend-a"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("1 +", "importing it ended with SyntaxError: invalid syntax"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "has no attribute 'CODEGEN'"),
        ("CODEGEN = 5", "expected an object of a subclass of ExternalCodegen, found a int"),
        (good("other"), "its entry point is named 'mine', and its codegen 'other'"),
        (good().replace('Support("mine"', 'Support("x"'), "its support is named 'x'"),
        (good().replace("CODEGEN = Mine()", "CODEGEN = Mine"), "found Mine"),
    ],
)
def test_a_broken_package_hurts_who_asks_for_it(code: str, why: str, site: Path) -> None:
    module = f"broken_{site.name}"  # Python keeps imported modules, so each test has another name
    _write(site, {f"{module}.py": code})
    _install(site, "vendor-b", f"mine = {module}:CODEGEN")
    known = codegens.registry()
    assert known["builtin"].name == "builtin"
    with pytest.raises(MicrogenError) as caught:
        known["mine"]
    assert str(caught.value).startswith(f"vendor-b 1.2, {module}:CODEGEN: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


PAYLOADS = '    payloads = {"vendor_key": lambda stream: None}\n'


def test_readers_of_packages_are_those_of_the_named(site: Path) -> None:
    module = f"reading_{site.name}"
    code = good("vend-r").replace("    def compile", PAYLOADS + "\n    def compile")
    _write(site, {f"{module}.py": code})
    _install(site, "vendor-r", f"vend-r = {module}:CODEGEN")
    assert "vendor_key" not in readers()
    assert module not in sys.modules
    assert "vendor_key" in readers({"vend-r"})


def test_a_package_that_is_broken_or_gone_reads_nothing(site: Path) -> None:
    _install(site, "vendor-s", "vend-s = no_such_module:CODEGEN")
    assert readers({"vend-s", "gone"}) == readers()


def test_a_folder_s_codegen_that_is_installed_too_is_refused(site: Path, tmp_path: Path) -> None:
    _write(tmp_path / "own", {"mine.py": good("vend-t")})
    _install(site, "vendor-t", "vend-t = no_such_module:CODEGEN")
    with pytest.raises(MicrogenError, match="each provide a codegen of this name"):
        readers(folders=[tmp_path / "own"])


def test_entry_points_that_cannot_be_read(site: Path) -> None:
    _install(site, "vendor-c", "there is no sign of equality here")
    known = codegens.registry()
    assert "reading its entry points ended with" in str(known.broken("vendor-c"))
    assert known["builtin"].name == "builtin"


def test_a_name_that_two_have(site: Path) -> None:
    _write(site, {"vendor_d.py": good("ccompiler")})
    _install(site, "vendor-d", "ccompiler = vendor_d:CODEGEN")
    known = codegens.registry()
    assert len(known) == len(list(known)) == len(set(known))
    with pytest.raises(MicrogenError, match=r"^ccompiler: microgen and vendor-d 1\.2 each provide"):
        known["ccompiler"]


def test_a_folder(tmp_path: Path) -> None:
    inner = good("inner").replace(
        "import ExternalCodegen", "import ExternalCodegen\nfrom . import x"
    )
    _write(
        tmp_path,
        {
            "one.py": good("one"),
            "two/__init__.py": inner,
            "two/x.py": "",
            "helper.py": "raise RuntimeError('nobody asked for it')",
            "no-package/three.py": good("three"),
        },
    )
    assert set(codegens.from_folder(tmp_path)) == {"one", "inner"}
    known = codegens.registry(tmp_path)
    assert known["inner"].name == "inner"
    assert known.origins("one") == (str(tmp_path),)
    assert "builtin" in known
    assert "one" not in codegens.registry()


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "no module here has a CODEGEN; see `microgen help docs/guides/byoc.md`"),
        ({"a.py": "CODEGEN = (", "b.py": good()}, "/a: importing it ended with SyntaxError"),
        ({"a.py": "CODEGEN = open('/does/not/exist')"}, "ended with FileNotFoundError"),
        ({"a.py": "CODEGEN = 1 / 0"}, "ended with ZeroDivisionError"),
        ({"a.py": "import sys\nCODEGEN = sys.exit(0)"}, "ended with SystemExit: 0"),
        ({"a.py": "CODEGEN = None"}, "found a NoneType"),
        ({"a.py": good("a.b")}, "'a.b' cannot name a codegen"),
        ({"a.py": "CODEGEN = '\x00'"}, "ended with"),
        ({"a.py": good(), "b.py": good()}, "each provide a codegen of this name"),
    ],
)
def test_a_folder_that_is_wrong(files: Mapping[str, str], why: str, tmp_path: Path) -> None:
    _write(tmp_path, files)
    with pytest.raises(MicrogenError) as caught:
        codegens.from_folder(tmp_path)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(MicrogenError, match="there is no such folder"):
        codegens.from_folder(tmp_path / "x")


def test_the_list(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(site, {"vendor_e.py": good("vend-e"), "own/f.py": good("in-folder")})
    _install(site, "vendor-e", "vend-e = vendor_e:CODEGEN\nsick = vendor_e:NOTHING")
    assert cli.main(["codegens", "--json", "--codegen-path", str(site / "own")]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["codegens"]}
    assert found["vend-e"] == {
        "name": "vend-e",
        "title": "The title",
        "origin": "vendor-e 1.2",
        "type_keys": [],
        "operators": ["add"],
        "patterns": [],
    }
    assert found["sick"]["broken"].startswith("vendor-e 1.2, vendor_e:NOTHING: importing it ended")
    assert found["in-folder"]["origin"] == str(site / "own")
    assert cli.main(["codegens"]) == 0
    text = capsys.readouterr().out
    assert "vend-e (vendor-e 1.2): The title\n    operators: add\n" in text
    assert "sick (vendor-e 1.2) is broken: vendor-e 1.2, " in text
