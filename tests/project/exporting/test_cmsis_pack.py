"""The CMSIS-Pack: its description follows the rules of the pack format, and its component's files,
compiled as their categories say, make a firmware."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import microgen
from microgen.base.errors import ProjectError
from microgen.interface.cli import main
from tests.project.exporting.firmware import Firmware, proved
from tests.support.tools import NEEDS_ARM

# The order in which the schema wants the parts of a package that ours has.
PARTS = [
    *("vendor", "name", "description", "url", "license", "releases", "keywords", "conditions"),
    "components",
]
NAME = re.compile(r"[\-_A-Za-z0-9]+")
VERSION = re.compile(r"\d+\.\d+\.\d+")


@pytest.fixture(scope="module")
def pack(projects: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    version = microgen.__version__
    path = tmp_path_factory.mktemp("pack") / f"microgen.tvmgen_default.{version}.pack"
    microgen.export(projects("mps2_an386"), path, "cmsis-pack")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(path.parent)
    return path


@pytest.fixture(scope="module")
def package(pack: Path) -> ElementTree.Element:
    (description,) = pack.parent.glob("*.pdsc")
    return ElementTree.parse(description).getroot()


def files(package: ElementTree.Element, category: str) -> list[str]:
    found = package.findall(f"components/component/files/file[@category='{category}']")
    return [file.attrib["name"] for file in found]


def test_the_description_follows_the_pack_format(pack: Path, package: ElementTree.Element) -> None:
    assert [part.tag for part in package] == PARTS
    vendor, name = package.findtext("vendor"), package.findtext("name")
    assert NAME.fullmatch(str(vendor))
    assert NAME.fullmatch(str(name))
    (release,) = package.findall("releases/release")
    assert VERSION.fullmatch(release.attrib["version"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", release.attrib["date"])
    assert pack.name == f"{vendor}.{name}.{release.attrib['version']}.pack"
    assert (pack.parent / f"{vendor}.{name}.pdsc").is_file()
    (component,) = package.findall("components/component")
    assert {"Cclass", "Cgroup", "Csub", "Cversion"} <= component.attrib.keys()
    (condition,) = package.findall("conditions/condition")
    assert component.attrib["condition"] == condition.attrib["id"]


def test_every_file_that_the_description_names_is_in_the_pack(
    pack: Path, package: ElementTree.Element
) -> None:
    named = [file.attrib["name"] for file in package.findall(".//file")]
    assert len(set(named)) == len(named)
    assert all((pack.parent / name).exists() for name in named)
    assert all((pack.parent / name).is_dir() for name in files(package, "include"))
    assert all(name.endswith("/") for name in files(package, "include"))
    assert (pack.parent / str(package.findtext("license"))).is_file()


@NEEDS_ARM
def test_a_firmware_of_the_components_files_computes_the_model(
    pack: Path,
    package: ElementTree.Element,
    projects: Callable[..., Path],
    expected: list[int],
    tmp_path: Path,
) -> None:
    made = Firmware(tmp_path / "f", (pack.parent / "README.md").read_text())
    sources = [pack.parent / n for c in ("sourceC", "sourceAsm") for n in files(package, c)]
    includes = [pack.parent / name for name in files(package, "include")]
    objects = made.compiled(
        sources, "-ffunction-sections", "-nostdlib", *(f"-I{path}" for path in includes)
    )
    made.link(objects, *includes)
    proved(projects("mps2_an386"), made.elf)
    assert made.outputs() == expected


def test_the_archive_has_no_dates_and_no_compression(pack: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(pack.read_bytes())) as archive:
        members = archive.infolist()
    assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}
    assert {member.compress_type for member in members} == {zipfile.ZIP_STORED}
    assert [member.filename for member in members] == sorted(m.filename for m in members)


def test_a_model_for_another_core_than_arms_is_refused(
    projects: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(ProjectError, match="CMSIS packs are for Arm cores"):
        microgen.export(projects("native"), tmp_path / "x.pack", "cmsis-pack")
    assert not (tmp_path / "x.pack").exists()


def test_another_name_than_tools_want_is_remarked(
    projects: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["export", str(projects("mps2_an386")), "--as", "cmsis-pack", "-o"]
    assert main([*arguments, str(tmp_path / "x.pack")]) == 0
    assert "want it to be called microgen.tvmgen_default." in capsys.readouterr().out
