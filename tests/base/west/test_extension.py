"""``west microgen`` in a workspace, and a project of microgen's in somebody else's workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import microgen
from tests.base.west.west import NEEDS_WEST, done, west, without_microgen
from tests.support.places import ROOT, SMALL

pytestmark = NEEDS_WEST

# What Zephyr's own repository does.
ZEPHYR = {
    "west.yml": """\
manifest:
  self:
    west-commands: scripts/west-commands.yml
    import: submanifests
""",
    "scripts/west-commands.yml": """\
west-commands:
  - file: scripts/build.py
    commands: [{name: build, class: Build, help: Zephyr's}]
""",
    "scripts/build.py": """\
from west.commands import WestCommand


class Build(WestCommand):
    def __init__(self):
        super().__init__("build", "", "", accepts_unknown_args=True)

    def do_add_parser(self, parser_adder):
        return parser_adder.add_parser(self.name)

    def do_run(self, args, unknown):
        print("Zephyr's:", *unknown)
""",
    "submanifests/README.txt": "",
}
# These texts are in docs/guides/west.md.
SUBMANIFEST = """\
manifest:
  projects:
    - name: microgen
      url: https://example.com/microgen
      revision: main
      path: modules/lib/microgen
      west-commands: scripts/west-commands.yml
"""
OWN = {
    "west.yml": "manifest:\n  self:\n    west-commands: scripts/west-commands.yml\n",
    "scripts/west-commands.yml": """\
west-commands:
  - file: scripts/microgen_commands.py
    commands:
      - name: microgen
        class: Microgen
        help: compile a trained network to a firmware project, and more
""",
    "scripts/microgen_commands.py": (
        "from microgen.base.west.commands import Microgen  # noqa: F401\n"
    ),
}


def workspace(folder: Path, files: dict[str, str]) -> Path:
    """A workspace whose manifest's repository is ``folder``; the workspace is its parent."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    done(folder.parent, "init", "-l", folder.name)
    return folder.parent


def cloned(top: Path) -> Path:
    """Microgen's repository as a project: the files of it that west and a hint read."""
    place = top / "modules" / "lib" / "microgen"
    place.mkdir(parents=True)
    west = Path("microgen", "base", "west")
    shutil.copytree(ROOT / west, place / west)
    for name in ("scripts/west-commands.yml", "pyproject.toml"):
        (place / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, place / name)
    return place


def test_a_workspace_of_zephyrs_gets_one_more_command(tmp_path: Path) -> None:
    top = workspace(tmp_path / "zephyr", {**ZEPHYR, "submanifests/microgen.yaml": SUBMANIFEST})
    assert "microgen" not in done(top, "help").split("extension commands")[1]
    place = cloned(top)
    with (top / ".west" / "config").open("a") as config:
        config.write("[build]\nboard = mps2_an386\n")
    made = west(top, "microgen", "generate", str(SMALL), "-o", "d")
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("west microgen: -b mps2_an386, which is west's build.board\n")
    assert made.stdout.startswith("d: 4 calls of 4 functions for mps2_an386\n")
    refused = west(top, "microgen", "generate", str(SMALL), "--board=none", "-o", "d")
    assert refused.returncode == 2
    assert refused.stderr.startswith("microgen: there is no board 'none'; ")
    bare = without_microgen(top, "microgen", "ops")
    assert bare.stderr.endswith(f"; pip install {place}\n")


def test_projects_do_not_shadow_zephyrs_commands(tmp_path: Path) -> None:
    top = workspace(tmp_path / "zephyr", ZEPHYR)
    project = tmp_path / "d"
    microgen.generate(SMALL, "native", project)
    for folder in (top, project / "src"):
        assert done(folder, "build", "-b", "native") == "Zephyr's: -b native\n"
    assert 'unknown command "verify"' in west(project, "verify").stderr
    refused = west(project, "init", "-l", "west")
    assert refused.returncode == 1
    assert f"already initialized in {top}" in refused.stderr
    assert not (project / ".west").exists()


def test_a_manifest_repository_can_import_the_extension_of_an_installed_microgen(
    tmp_path: Path,
) -> None:
    top = workspace(tmp_path / "app", OWN)
    assert done(top, "microgen", "--version") == f"microgen {microgen.__version__}\n"


@pytest.mark.parametrize("text", [SUBMANIFEST, *OWN.values()])
def test_the_files_are_those_of_the_document(text: str) -> None:
    assert f"\n{text}```\n" in (ROOT / "docs" / "guides" / "west.md").read_text()
