"""What the Tab key offers, and the scripts that ask for it."""

import os
import shutil
import sys
from pathlib import Path

import processes
import pytest
from click.shell_completion import ShellComplete

from warptsp.cli import COMMANDS, commands, run
from warptsp.construct import CONSTRUCTIONS
from warptsp.io import FORMATS
from warptsp.methods import METHODS

PROGRAM = Path(sys.executable).with_name("warptsp")


def offered(*words):
    """The values offered for the last word, and the types of the others (file, dir)."""
    *before, begun = words
    items = ShellComplete(commands, {}, "warptsp", "_WARPTSP_COMPLETE").get_completions(before, begun)
    return [item.value if item.type == "plain" else item.type for item in items]


def test_commands_and_options():
    assert offered("") == list(COMMANDS)
    assert offered("che") == ["check"]
    assert "--then-param" in offered("solve", "--")
    assert offered("solve", "--time-l") == ["--time-limit"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--method", ""], list(METHODS)),
        (["--then", "two-"], ["two-opt"]),
        (["--start", ""], list(CONSTRUCTIONS)),
        (["--start", "best."], ["file"]),
        (["--format", ""], list(FORMATS)),
        (["--metric", "MAN"], ["MAN_2D", "MAN_3D"]),
        (["--progress", "r"], ["rich"]),
        (["--output", ""], ["file"]),
        (["--picture", ""], ["file"]),
        (["--checkpoint", ""], ["file"]),
        ([""], ["file"]),
    ],
)
def test_values_of_solve(words, expected):
    assert offered("solve", *words) == expected


def test_methods_are_named_without_importing_them():
    code = (
        "import sys; from warptsp.cli._completion import methods; found = methods(None, None, '')\n"
        "print(len(found), *(name for name in sys.modules if name.startswith('warptsp.methods.')))"
    )
    done = processes.run_code(code, check=True)
    assert done.stdout.split() == [str(len(METHODS)), "warptsp.methods.method"]


def test_devices_are_those_of_the_machine(no_driver):
    assert offered("solve", "--device", "") == ["auto", "cpu", "cuda"]


def test_gpus_are_named(pretend_gpus):
    pretend_gpus(("NVIDIA Something", (9, 0), 1 << 34), ("NVIDIA Something", (9, 0), 1 << 34))
    assert offered("solve", "--device", "cu") == ["cuda", "cuda:0", "cuda:1"]


def test_kinds_of_instances():
    assert offered("generate", "u") == ["uniform"]
    assert "C31k.0" in offered("generate", "")


def interrogate(shell, words, script):
    """Let a shell load the script and complete the words."""
    line = " ".join(["warptsp", *words])
    code = {
        "bash": f"{script}\nCOMP_WORDS=(warptsp {' '.join(words)!s} '')\nCOMP_CWORD={len(words) + 1}\n"
        "_warptsp_completion warptsp 2>/dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\"",
        "zsh": "compdef() { :; }\ncompadd() { :; }\n_describe() { print -l -- ${(P)3}; }\n"
        f"{script}\nwords=({line} ''); CURRENT={len(words) + 2}; _warptsp_completion",
        "fish": f"{script}\ncomplete --do-complete '{line} '",
    }[shell]
    environment = {**os.environ, "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"}
    return processes.run([shell, "-c", code], env=environment).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell, capsys):
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_WARPTSP_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: its script was written, and not tried")
    assert "symmetric-two-opt" in interrogate(shell, ["solve", "--method"], script)


def test_another_shell_is_refused(capsys):
    assert run(["completion", "tcsh"]) == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in capsys.readouterr().err


def test_the_manual_tells_every_option_of_every_command(capsys):
    assert run(["manual"]) == 0
    page = capsys.readouterr().out
    for name in COMMANDS:
        assert ".SH COMMAND " + name.upper().replace("-", r"\-") in page
        for parameter in commands.get_command(None, name).params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option.replace("-", r"\-") in page
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed: the page was written, and not set")
    done = processes.run(["groff", "-man", "-Tutf8", "-ww"], input=page, encoding="utf-8", check=True)
    assert done.stderr == ""
    assert "warptsp solve places.csv \u2212\u2212time\u2212limit 30" in done.stdout.replace("-", "\u2212")
