"""Reports as Markdown, JSON and pictures, and the pages of the docs that they fill."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from benchmarks.common import table, write_results
from benchmarks.reproduce.harness.documents import published
from benchmarks.reproduce.harness.results import Results
from benchmarks.reproduce.harness.study import Study, name_of, title_of

MOST_ROWS = 12  # of a table in a page; longer ones are files beside it
MOST_ROWS_BESIDE_A_CHART = 8  # which shows what they say


def markdown(study: Study, results: Results, folder: Path) -> str:
    """Return the report of a study, and put its pictures and long tables into a folder, for former ones."""
    for ending in ("svg", "csv"):
        for old in folder.glob(f"{name_of(study)}_[0-9]*.{ending}"):
            old.unlink()
    blocks = ["\n".join(f"- {line}" for line in results.machines())]
    for place, section in enumerate(study.report(results), start=1):
        blocks.append(f"### {section.title}")
        if section.text:
            blocks.append(section.text)
        drawn = section.chart is not None and not section.chart.empty
        if len(section.rows) > (MOST_ROWS_BESIDE_A_CHART if drawn else MOST_ROWS):
            name = f"{name_of(study)}_{place}.csv"
            with open(folder / name, "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([section.header, *section.rows])
            blocks.append(f"[{len(section.rows)} rows]({name})")
        elif section.rows:
            blocks.append(table(section.header, section.rows))
        if section.chart is not None and drawn:
            name = f"{name_of(study)}_{place}.svg"
            section.chart.write(folder / name)
            blocks.append(f"![{section.chart.title}]({name})")
    failures = results.failures()
    if failures:
        blocks.append("Not measured:\n\n" + "\n".join(f"- {line}" for line in failures))
    return "\n\n".join(blocks)


def write_report(study: Study, results: Results, output: Path) -> str:
    """Write the report of a study as Markdown, JSON and pictures, and return the Markdown."""
    output.mkdir(parents=True, exist_ok=True)
    name, source = name_of(study), published(study.DOCUMENT)
    text = f"- published: {source.what}; {source.hardware}\n{markdown(study, results, output)}"
    (output / f"{name}.md").write_text(f"# {title_of(study)}\n\n{text}\n", encoding="utf-8")
    tables = {table: source.tables[table] for table in study.TABLES}
    content = {"study": name, "document": study.DOCUMENT, "published": tables, "measured": results.rows}
    write_results(output / f"{name}.json", content)
    return text


def fill_page(page: Path, name: str, text: str) -> bool:
    """Put a report between the marks of its study in a page of the docs; tell whether it has them."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    content = page.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(content):
        return False
    filled = pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", content)
    if filled != content:
        page.write_text(filled, encoding="utf-8")
    return True
