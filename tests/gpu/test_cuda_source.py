"""Kernel files become one source with all their headers."""

import pytest
from kernel_builds import BUILDS, KERNEL_FILES

from warptsp.backends.cuda.source import expand
from warptsp.errors import BackendUnavailable


def write(folder, **files):
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder / "main.cu"


def test_headers_are_included_once_and_in_order(tmp_path):
    main = write(
        tmp_path,
        main_cu='#include "a.h"\n#include "b.h"\nmain\n',
        a_h='#pragma once\n  #  include "b.h"  // needed\na\n',
        b_h="#pragma once\nb\n",
    )
    lines = [line for line in expand(main).splitlines() if line and not line.startswith("#line")]
    assert lines == ["b", "a", "main"]


def test_lines_keep_their_numbers(tmp_path):
    main = write(tmp_path, main_cu='one\n#include "a.h"\nthree\n', a_h="#pragma once\nsecond of a\n")
    place, seen = ("", 0), {}
    for line in expand(main).splitlines():
        if line.startswith("#line"):
            place = (line.split('"')[1], int(line.split()[1]))
        else:
            seen[line] = place
            place = (place[0], place[1] + 1)
    assert seen["one"] == ("main.cu", 1)
    assert seen["second of a"] == ("a.h", 2)
    assert seen["three"] == ("main.cu", 3)


def test_headers_of_the_package_are_found_and_complete(tmp_path):
    text = expand(
        write(
            tmp_path,
            main_cu='#include "common/random.h"\n#include "common/lanes.h"\n#include "common/metric.h"\n',
        )
    )
    assert (
        text.count("struct WarpLanes")
        == text.count("class Random")
        == text.count("enum class MetricKind")
        == 1
    )
    assert '#include "' not in text
    assert str(tmp_path) not in text  # the cache must not depend on where the package is


def test_a_file_without_a_newline_at_its_end(tmp_path):
    assert expand(write(tmp_path, main_cu='#include "a.h"\nmain', a_h="a")).splitlines()[-1] == "main"


def test_a_missing_header_is_named(tmp_path):
    with pytest.raises(BackendUnavailable, match=r"gone\.h cannot be read .* install warptsp again"):
        expand(write(tmp_path, main_cu='#include "gone.h"\n'))


def test_a_header_under_a_condition_is_refused(tmp_path):
    main = write(tmp_path, main_cu='#ifdef X\n#if 1\n#endif\n#include "a.h"\n#endif\n', a_h="")
    with pytest.raises(ValueError, match=r'main\.cu:4: #include "a\.h" inside #if'):
        expand(main)


def test_every_kernel_file_is_compiled_by_the_tests():
    assert {build.file for build in BUILDS} == KERNEL_FILES
