"""The structs of host and kernels are the same: what is exchanged on one side does not compile."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_builds import BUILDS, KERNEL_FILES

from warptsp.backends import cuda
from warptsp.backends.cuda import compiler, records, tuning
from warptsp.backends.cuda.records import RECORDS, Record, layout_checks
from warptsp.backends.cuda.source import expand

FILES = sorted({file for record in RECORDS for file in record.files})
DEFINES = {build.file: build.defines for build in reversed(BUILDS)}
AT_ONCE = 40  # variants; the compiler gives up after 100 errors, and each has two


def complaints(file: str, lines: str) -> str:
    """What NVRTC says of a kernel file with these lines behind it."""
    core = compiler.import_core()
    macros = [(name, str(value)) for name, value in DEFINES[file].items()]
    options = core.ProgramOptions(name=file, arch="sm_90", std="c++17", define_macro=macros or None)
    with pytest.raises(Exception, match="error") as caught:
        core.Program(expand(file) + lines, "c++", options).compile("cubin", name_expressions=())
    return str(caught.value)


def exchanged(record: Record) -> Iterator[Record]:
    """The record with two neighbours of one size exchanged."""
    fields = [(name, *described[:2]) for name, described in (record.dtype.fields or {}).items()]
    for (one, kind, at), (other, its_kind, its_at) in pairwise(fields):
        if kind.itemsize == its_kind.itemsize:
            places = {name: (of, where) for name, of, where in fields}
            places |= {one: (kind, its_at), other: (its_kind, at)}
            described: dict[str, Any] = {
                "names": list(places),
                "formats": [of for of, _ in places.values()],
                "offsets": [where for _, where in places.values()],
                "itemsize": record.itemsize,
            }
            yield replace(record, dtype=np.dtype(described))


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("file", FILES)
def test_an_exchange_of_two_fields_does_not_compile(file: str) -> None:
    variants = [(v, v.checks()) for r in RECORDS if file in r.files for v in exchanged(r)]
    assert variants
    for begin in range(0, len(variants), AT_ONCE):
        some = variants[begin : begin + AT_ONCE]
        text = [
            line.replace('");', f', variant {k}");') for k, (_, lines) in enumerate(some) for line in lines
        ]
        said = complaints(file, "\n".join([layout_checks(file), *text, ""]))
        found = {int(number) for number in re.findall(r"variant (\d+)", said)}
        missed = [str(some[k][0].dtype) for k in range(len(some)) if k not in found]
        assert not missed, f"{file}: exchanged, and compiled: {missed}"


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("file", FILES)
def test_another_kind_or_size_of_field_does_not_compile(file: str) -> None:
    record = next(r for r in RECORDS if file in r.files)
    *_, (name, (own, *_)) = record.dtype.fields.items()
    for kind in {"f", "i", "u"} - {own.base.kind}:
        changed = np.dtype((f"{kind}{own.base.itemsize}", own.shape))
        other = np.dtype(
            [(n, changed if n == name else d[0]) for n, d in record.dtype.fields.items()], align=True
        )
        said = complaints(file, layout_checks(file) + "\n".join(replace(record, dtype=other).checks()))
        assert f"{record.name}.{record.paths.get(name, name)} is not as" in said
    longer = np.dtype([*((n, d[0]) for n, d in record.dtype.fields.items()), ("more", "f8")], align=True)
    said = complaints(file, layout_checks(file) + "\n".join(replace(record, dtype=longer).checks()))
    assert f"the size of {record.name}" in said


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("file", sorted(tuning.IN_KERNELS))
def test_another_number_than_that_of_the_kernels_does_not_compile(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = tuning.IN_KERNELS[file]
    monkeypatch.setitem(tuning.IN_KERNELS, file, {name: 2 * number + 1 for name, number in numbers.items()})
    said = complaints(file, layout_checks(file))
    assert all(f"{name} is not as the host has it" in said for name in numbers)


def test_every_kernel_file_with_a_struct_is_checked() -> None:
    assert set(FILES) == KERNEL_FILES
    for file in FILES:
        names = [record.name for record in RECORDS if file in record.files]
        assert len(names) == len(set(names))


def test_what_is_compiled_has_the_checks(monkeypatch) -> None:
    monkeypatch.setattr(compiler, "_nvrtc", lambda: ((13, 0), [90]))
    for file in FILES:
        text = compiler._make_job(file, ("f",), (), True, (9, 0)).text
        assert text.startswith("#line 1")
        assert text.endswith(layout_checks(file))
        assert text.count("static_assert(sizeof(") >= 1


def test_all_structs_are_described_in_one_place() -> None:
    folder = Path(cuda.__file__).parent
    others = [path for path in folder.glob("*.py") if path.name != "records.py"]
    assert [path.name for path in others if re.search(r"np\.dtype\(\s*\[", path.read_text())] == []


def test_a_record_as_an_argument() -> None:
    class Array:
        pointer = 77

    argument = records.TREE(points=Array(), n=5, boxes=None)
    assert argument.dtype is records.TREE.dtype
    assert argument.item() == (77, 0, 0.0, 5, 0)
    with pytest.raises(ValueError, match="no field of name"):
        records.TREE(cities=5)
