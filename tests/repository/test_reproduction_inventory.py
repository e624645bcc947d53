"""The inventory of the documents' tables and figures is whole, and agrees with the pages that it links to."""

import csv
import os
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGES = REPOSITORY / "docs" / "reproduction"
DOCUMENTS = ["000", "001", "002", "003", "004"]


def inventory(document):
    """(name, subject, what became of it) of every table and figure of a document."""
    with open(PAGES / "inventory.csv", encoding="utf-8", newline="") as file:
        return [tuple(row[1:]) for row in list(csv.reader(file))[1:] if row[0] == document]


def numbered(name):
    """("Table", "2") of "Chapter 5, table 2": documents may count anew in a chapter."""
    kind, number = name.rpartition(", ")[2].split()
    return kind.capitalize(), number


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_row_says_what_became_of_it(document):
    rows = inventory(document)
    names = [name for name, _, _ in rows]
    assert len(set(names)) == len(names)
    assert all(subject and where for _, subject, where in rows)
    # What is called reproduced says where; "the same" is said of the row above.
    assert all(f"]({document}.md#" in where for _, _, where in rows if "reproduced: [" in where)
    for target in re.findall(r"\]\(([^)]*)\)", " ".join(where for _, _, where in rows)):
        page, _, heading = target.partition("#")
        text = (PAGES / page).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+?) *$", text, re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in headings}
        assert not heading or heading in anchors, target
    assert rows[0][2] != "the same"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_section_of_the_pages_is_in_the_inventory(document):
    page = (PAGES / f"{document}.md").read_text(encoding="utf-8")
    rows = {}
    for name, _, where in inventory(document):
        rows.setdefault(numbered(name), []).append(where)
    sections = re.findall(r"^### ((Table|Figure)s? [^:\n]*)", page, re.MULTILINE)
    assert sections
    for heading, kind in sections:
        numbers = re.findall(r"[AB]-\d|\d+(?:\.\d+)?", heading.partition(" on the ")[0])
        if found := re.search(r"(\d) to (\d)", heading):
            numbers += map(str, range(int(found[1]), int(found[2])))
        for number in numbers:
            wheres = rows[kind, number]
            assert any(f"]({document}.md#" in where or where == "the same" for where in wheres), heading


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_caption_of_the_document_is_in_the_inventory(document):
    shared = Path(os.environ.get("WARPTSP_SHARED", REPOSITORY.parent / "shared"))
    texts = sorted((shared / "seeds").glob(f"{document}_*.txt"))
    if not texts:
        pytest.skip(
            f"needs the text of document {document} in {shared / 'seeds'}, which is not part of the project"
        )
    text = texts[0].read_text(encoding="utf-8")
    found = re.findall(r"\b(Table|Figure|Fig\.)\s*([AB]-\d|\d+(?:\.\d+)?)", text)
    # Some captions of 000 have lost the number of their chapter; the lists in front have it.
    captions = {(kind.replace("Fig.", "Figure"), n) for kind, n in found if not n.startswith("0.")}
    assert {numbered(name) for name, _, _ in inventory(document)} == captions


def test_documents_that_count_anew_have_each_of_their_tables():
    names = [name for name, _, _ in inventory("003")]
    assert [name for name in names if "table" in name] == [
        "Chapter 5, table 1",
        "Chapter 5, table 2",
        "Chapter 6, table 1",
    ]
