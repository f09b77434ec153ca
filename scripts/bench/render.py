"""The page, the networks' pages and the pictures, from the committed results."""

from __future__ import annotations

from pathlib import Path

import jinja2

from scripts.bench import against, details, errors, peers, picture
from scripts.bench.matrix import ROOT, Matrix
from scripts.bench.results import Results
from scripts.bench.tables import Tables

DOCS = ROOT / "docs"
PAGES = "benchmarks"  # the folder of the networks' pages and pictures


def files(results: Results, matrix: Matrix) -> dict[str, str]:
    """Every file that is made, by its path in ``docs``."""
    tables = Tables(results, matrix, peers.load())
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=lambda name: bool(name and ".svg" in name),
    )
    common: dict[str, object] = {
        "tables": tables,
        "results": results,
        "matrix": matrix,
        "peers": tables.peers,
        "errors": errors.load(tables.peers, matrix),
    }
    common |= {"against": against, "details": details}
    page = environment.get_template("page.md.j2").render(common)
    made = {f"{PAGES}.md": page}
    for name in results.networks:
        of = {**common, "name": name, "network": matrix.networks[name]}
        made[f"{PAGES}/{name}.md"] = environment.get_template("network.md.j2").render(of)
        drawn = picture.panels(tables, name)
        made[f"{PAGES}/{name}.svg"] = environment.get_template("network.svg.j2").render(
            of, panels=drawn, picture=picture, height=picture.height(drawn)
        )
    return made


def write(results: Results, matrix: Matrix, docs: Path = DOCS) -> list[Path]:
    """Write every file, and remove the files of networks without results."""
    made = files(results, matrix)
    (docs / PAGES).mkdir(exist_ok=True)
    for old in (docs / PAGES).glob("*.*"):
        if f"{PAGES}/{old.name}" not in made:
            old.unlink()
    for name, text in made.items():
        (docs / name).write_text(text, encoding="utf-8")
    return [docs / name for name in made]
