"""Archives of converted networks, and tables of what microgen makes of them.

    python -m tests.converters.archives FOLDER keras

writes tests/data/converted/keras.tar.xz with all .tflite files of FOLDER, and keras.tsv, a row for
each: the file, and EQUAL or what microgen says. A third argument is another suffix: .onnx.
"""

from __future__ import annotations

import io
import lzma
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.converters import firmwares

FOLDER = Path(__file__).resolve().parents[1] / "data" / "converted"
BLOCK = 24  # the networks of a program


def table(name: str) -> dict[str, str]:
    """What microgen makes of each file of an archive."""
    rows = (FOLDER / f"{name}.tsv").read_text().splitlines()
    return dict(row.split("\t") for row in rows)


def extracted(name: str, wanted: Sequence[str], folder: Path) -> list[Path]:
    """The files that are ``wanted`` of an archive, written into ``folder``, in its order."""
    left = {*wanted}
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        for member in archive:
            # Python 3.11.2 of Debian 12 cannot extract with a filter.
            content = archive.extractfile(member) if member.name in left else None
            if content is not None:
                (folder / member.name).write_bytes(content.read())
    return [folder / each for each in wanted]


def results(paths: Sequence[Path], folder: Path) -> dict[str, str]:
    """What microgen makes of files, a program of ``BLOCK`` networks at a time."""
    found = dict[str, str]()
    for k in range(0, len(paths), BLOCK):
        part = folder / f"programs{k}"
        part.mkdir()
        found |= firmwares.results(paths[k : k + BLOCK], part)
    return {path.name: " ".join(found[path.name].split()) for path in paths}


def main(folder: Path, name: str, suffix: str = ".tflite") -> None:
    """Write an archive and its table."""
    paths = sorted(folder.glob(f"*{suffix}"))
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.tar.xz").write_bytes(_archive(paths))
    with tempfile.TemporaryDirectory() as programs:
        rows = results(paths, Path(programs))
    text = "".join(f"{file}\t{said}\n" for file, said in rows.items())
    (FOLDER / f"{name}.tsv").write_text(text)
    print(*share(rows), sep="\n")


def _archive(paths: Sequence[Path]) -> bytes:
    # By form, because the compressor sees alike files near each other.
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(paths, key=lambda path: path.name.split(".")[::-1]):
            member = tarfile.TarInfo(path.name)
            member.size = path.stat().st_size
            archive.addfile(member, io.BytesIO(path.read_bytes()))
    return lzma.compress(made.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def share(rows: Mapping[str, str]) -> list[str]:
    """How many files of each form are equal, and of all."""
    forms = sorted({file.split(".")[1] for file in rows})
    lines = []
    for form in [*forms, ""]:
        each = [said for file, said in rows.items() if form in ("", file.split(".")[1])]
        lines.append(f"{form or 'all'}: {each.count(firmwares.EQUAL)} of {len(each)}")
    return lines


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
