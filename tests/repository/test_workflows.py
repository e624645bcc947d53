"""What the workflows may do: who publishes, with which rights, and that hashes tell all that they fetch."""

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="an extra brings it: pip install 'warptsp[dask]'")

GITHUB = Path(__file__).parents[2] / ".github"
PATHS = sorted((GITHUB / "workflows").glob("*.yml"))
REQUIREMENTS = sorted((GITHUB / "requirements").glob("*.txt"))
PUSHED_TAG = "github.event_name == 'push' && github.ref_type == 'tag'"


def read(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    workflow["on"] = workflow.pop(True)  # what YAML takes "on" for
    return workflow


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def workflow(request):
    return read(request.param)


def test_nothing_is_published_but_by_a_pushed_tag():
    release = read(GITHUB / "workflows" / "release.yml")
    assert release["on"]["push"] == {"tags": ["v*"]}
    for name, job in release["jobs"].items():
        rights = job["permissions"]
        if "write" in rights.values() or "environment" in job:
            assert job["if"] == PUSHED_TAG, name
            assert name in ("attest", "publish", "release", "site")
    assert release["jobs"]["publish"]["environment"]["name"] == "pypi"
    assert release["jobs"]["publish"]["needs"] == ["attest"]
    assert "publish" in release["jobs"]["release"]["needs"]
    assert "publish" in release["jobs"]["site"]["needs"]
    assert set(release["jobs"]["attest"]["needs"]) == {"sdist", "wheels"}
    assert "if" not in release["jobs"]["wheels"]  # by hand all of it is built


def test_no_other_workflow_publishes(workflow):
    if workflow["name"] == "Release":
        return
    assert "environment" not in str(workflow["jobs"])
    assert not any(
        "publish" in step.get("uses", "") or "twine upload" in step.get("run", "") for step in steps(workflow)
    )


def test_rights_are_given_job_by_job_and_the_tokens_are_not_kept(workflow):
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert isinstance(job["permissions"], dict), name
        assert "timeout-minutes" in job, name
    for step in steps(workflow):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_actions_are_pinned_by_commit(workflow):
    for step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"])


def test_an_action_has_one_commit_everywhere():
    used = {step["uses"] for path in PATHS for step in steps(read(path)) if "uses" in step}
    repositories = {
        "/".join(name.split("/")[:2]) + "@" + commit for name, commit in (use.split("@") for use in used)
    }
    assert len(repositories) == len({use.split("@")[0] for use in repositories})


def test_what_workflows_install_has_a_hash(workflow):
    for step in steps(workflow):
        for line in step.get("run", "").splitlines():
            if "pip install" not in line:
                continue
            if "--require-hashes" in line:
                assert (GITHUB.parent / line.rpartition(" ")[2]) in REQUIREMENTS, line
            else:  # the package itself
                assert line.rpartition(" ")[2] in ('".[test]"', '".[dev]"', "dist/*.tar.gz"), line


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.stem)
def test_every_requirement_has_a_version_and_a_hash(path):
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==\S+( *;[^#]*?)?( +--hash=sha256:[0-9a-f]{64})+ *", line), line
    wanted = path.with_suffix(".in").read_text(encoding="utf-8").split()
    assert wanted
    for name in wanted:  # each with the version that is compiled
        assert any(line.split(" ")[0] == name for line in lines), name


def test_dependabot_looks_at_all_of_it():
    updates = yaml.safe_load((GITHUB / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"github-actions", "pip"}
    (pip,) = [update for update in updates if update["package-ecosystem"] == "pip"]
    assert set(pip["directories"]) == {"/", "/.github/requirements"}
