"""The command of vpype."""

import numpy as np
import pytest

vpype = pytest.importorskip("vpype")
vpype_cli = pytest.importorskip("vpype_cli")


@pytest.fixture
def execute():
    """Pipelines of vpype, whatever plugins are installed."""
    from warptsp.interop.vpype import warptsp

    vpype_cli.cli.add_command(warptsp, "warptsp")
    return vpype_cli.execute


def document_of(layers):
    document = vpype.Document()
    for number, lines in enumerate(layers, 1):
        document.add(vpype.LineCollection(lines), number)
    return document


def ends(lines):
    return sorted(sorted([[line[0].real, line[0].imag], [line[-1].real, line[-1].imag]]) for line in lines)


def test_lines_are_sorted_within_layers_and_none_is_lost(execute):
    rng = np.random.default_rng(3)
    layers = [[rng.random(3) * 100 + 1j * rng.random(3) * 100 for _ in range(30)] for _ in range(2)]
    before = document_of(layers)
    after = execute("warptsp --time-limit 1 --threads 1 --home 0 0", before)
    for number, lines in enumerate(layers, 1):
        assert ends(after.layers[number]) == ends(lines)
    greedy = execute("linesort", document_of(layers))
    assert after.pen_up_length() < greedy.pen_up_length()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # vpype leaves files open
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_one_layer_can_be_chosen_and_loops_enter_anywhere(execute, tmp_path):
    square = np.array([10 + 10j, 20 + 10j, 20 + 20j, 10 + 20j, 10 + 10j])
    lines = [square, np.array([50, 60j]), np.array([21 + 21j, 25 + 25j])]
    after = execute("warptsp -l 1 --time-limit 0.5 --threads 1", document_of([lines, [*lines[::-1]]]))
    assert [len(line) for line in after.layers[2]] == [2, 2, 5]
    assert sorted(len(line) for line in after.layers[1]) == [2, 2, 5]
    (loop,) = [line for line in after.layers[1] if len(line) == 5]
    assert loop[0] == loop[-1] == 20 + 20j
    (tmp_path / "in.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0L5 5M9 9L6 6"/></svg>'
    )
    execute(f"read {tmp_path}/in.svg warptsp --time-limit 0.2 --no-flip write {tmp_path}/out.svg")
    assert "<svg" in (tmp_path / "out.svg").read_text()
