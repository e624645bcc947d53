"""The recipe of conda, the container and the wheels of other systems name what the package needs."""

import re
import runpy
import struct
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="an extra brings it: pip install 'warptsp[dask]'")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def normal(requirement):
    return requirement.replace(" ", "")


@pytest.fixture(scope="module")
def recipe():
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    version = re.search(r'{% set version = "(.+)" %}', text)[1]
    text = re.sub(r"{%.*?%}", "", text).replace("{{ version }}", version)
    return yaml.safe_load(re.sub(r"{{.*?}}", "template", text))


def test_the_recipe_needs_what_the_package_needs(recipe):
    assert recipe["package"]["version"] == PROJECT["project"]["version"]
    run = {normal(name) for name in recipe["requirements"]["run"]} - {"python"}
    assert run == set(map(normal, PROJECT["project"]["dependencies"]))
    host = {normal(name) for name in recipe["requirements"]["host"]}
    assert set(map(normal, PROJECT["build-system"]["requires"])) <= host
    (entry,) = recipe["build"]["entry_points"]
    assert normal(entry).split("=") == ["warptsp", PROJECT["project"]["scripts"]["warptsp"]]
    assert set(recipe["about"]["license_file"]) == set(PROJECT["project"]["license-files"])


def test_one_extra_has_what_a_newcomer_needs():
    """Proofs among it, so that the same call says the same on every machine that followed README."""
    extras = PROJECT["project"]["optional-dependencies"]
    assert {"warptsp[prove]", "warptsp[excel]", "warptsp[parquet]"} <= set(extras["all"])
    assert "warptsp[all]" in extras["dev"]
    assert 'pip install ".[all]"' in (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]


def test_a_wheel_has_the_headers_that_kernels_need_and_no_other():
    native = ROOT / "src" / "warptsp" / "native"
    needed, found = set(), list(native.rglob("*.cu"))
    while found:
        file = found.pop()
        for name in re.findall(r'#include "([^"]+)"', file.read_text(encoding="utf-8")):
            header = next(at / name for at in (file.parent, native) if (at / name).is_file())
            if header not in needed:
                needed.add(header)
                found.append(header)
    assert len(needed) > 20
    patterns = PROJECT["tool"]["scikit-build"]["wheel"]["exclude"]
    names = {path: path.relative_to(native.parents[1]).as_posix() for path in native.rglob("*.h")}
    left_out = {p for p in names if any(names[p].startswith(x.removesuffix("**")) for x in patterns)}
    assert set(names) - needed == left_out


def test_the_container_gets_what_is_built():
    text = (ROOT / "packaging" / "Containerfile").read_text(encoding="utf-8")
    for extra in re.findall(r"EXTRA=(\w+)", text):
        assert extra in PROJECT["project"]["optional-dependencies"]


def test_modules_of_two_processors_are_joined(tmp_path):
    """Each begins at a page, where the header of the file says, as it was."""
    join = runpy.run_path(str(ROOT / "packaging" / "build-wheel"), run_name="tested")["join"]
    contents = {"x86_64": b"x" * 70_001, "aarch64": b"a" * 5}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    join({name: tmp_path / name for name in contents}, tmp_path / "both")
    data = (tmp_path / "both").read_bytes()
    magic, count = struct.unpack_from(">II", data)
    assert (hex(magic), count) == ("0xcafebabe", 2)
    for number, content in enumerate(contents.values()):
        _, _, begin, size, alignment = struct.unpack_from(">IIIII", data, 8 + 20 * number)
        assert begin % (1 << alignment) == 0
        assert data[begin : begin + size] == content
