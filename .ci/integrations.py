"""Tries the hook with the real pre-commit, and the action's check as a runner would run it.

Takes the project's folder. `reglint` and `pre-commit` are on the path.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml  # pre-commit brings it along

PROJECT = Path(sys.argv[1])


def run(*command, folder, code=0, **variables):
    """Runs a command, checks how it ended, and gives what it printed."""
    done = subprocess.run(
        command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, **variables},
    )
    ended = done.returncode == code if code is not None else done.returncode != 0
    assert ended, f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def register(*ids, links=None):
    """The text of a register with these hypotheses."""
    hypotheses = [
        {"id": name, "description": "what it costs", "canonical_frame_regex": f"kernel::{name.lower()}::"}
        for name in ids
    ]
    if links:
        hypotheses[0]["links"] = links
    return json.dumps({"hypotheses": hypotheses}, indent=2) + "\n"


# Of three ids the last breaks the scheme of the others: a warning, where `id-style` is on.
ODD = register("H1", "H2", "odd")


class Repository:
    """A scratch repository with the hook installed, and one clean register in it."""

    def __init__(self, folder, **overrides):
        self.folder = Path(folder)
        hook = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())[0]
        # As the hook is, but for the build: the command on the path is the one to try.
        hook.update(language="system", **overrides)
        config = {"repos": [{"repo": "local", "hooks": [hook]}]}
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "A")
        self.git("config", "user.email", "a@example.com")
        self.write(".pre-commit-config.yaml", yaml.safe_dump(config))
        self.write("registers/a.json", register("A1"))
        self.git("add", ".")
        run("pre-commit", "install", folder=folder)
        self.commit()

    def git(self, *arguments, code=0):
        return run("git", *arguments, folder=self.folder, code=code)

    def write(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, code=0):
        return self.git("commit", "--quiet", "--message", "next", code=code)

    def all_files(self, code=0):
        return run("pre-commit", "run", "--all-files", folder=self.folder, code=code)


def one_file_and_all(folder):
    repository = Repository(folder)
    repository.write("registers/b.json", register("A1"))
    repository.git("add", "registers/b.json")
    for output in repository.commit(code=1), repository.all_files(code=1):
        assert "error[duplicate-id]" in output, output
    repository.write("registers/b.json", register("B1"))
    repository.git("add", "registers/b.json")
    repository.commit()
    assert "Passed" in repository.all_files()


def a_file_that_is_no_register(folder):
    repository = Repository(folder)
    repository.write("notes.txt", "nothing to check\n")
    repository.git("add", ".")
    assert "Passed" in repository.commit()


def a_deletion(folder):
    repository = Repository(folder)
    repository.write("registers/b.json", register("B1"))
    repository.write("registers/c.json", register("C1"))
    repository.git("add", ".")
    repository.commit()
    repository.git("rm", "--quiet", "registers/c.json")
    output = repository.commit()
    assert "Passed" in output and "Skipped" not in output, output
    if "unresolved-link" in run("reglint", "rules", folder=folder):
        repository.write("registers/a.json", register("A1", links={"b": "B1"}))
        repository.write("registers/b.json", register("B1", links={"a": "A1"}))
        for path in "a", "b":
            text = (repository.folder / f"registers/{path}.json").read_text()
            repository.write(f"registers/{path}.json", text.replace(f"kernel::{path}1::", "kernel::both::"))
        repository.git("add", ".")
        repository.commit()
        repository.git("rm", "--quiet", "registers/b.json")
        output = repository.commit(code=1)
        assert "unresolved-link" in output, output
        repository.git("reset", "--quiet", "--hard")
    # And the last one: a gate that checks nothing is not green.
    repository.git("rm", "--quiet", "-r", "registers")
    output = repository.commit(code=1)
    assert "no register was named" in output, output


def warnings_fail(folder):
    repository = Repository(folder)
    repository.write("reglint.toml", "[rules]\nid-style = 'warn'\n")
    repository.write("registers/b.json", ODD)
    repository.git("add", ".")
    output = repository.commit(code=1)
    assert "error[id-style]" in output, output


def batches(folder):
    """For those who have file names passed: however the list is split, the verdict is the same."""
    repository = Repository(folder, pass_filenames=True, always_run=False, files=r"^registers/.*\.json$")
    for number in range(60):
        repository.write(f"registers/r{number:02}.json", register(f"R{number}"))
    repository.git("add", ".")
    repository.commit()
    repository.write("registers/z.json", register("R0"))
    repository.git("add", ".")
    for output in repository.commit(code=1), repository.all_files(code=1):
        assert "error[duplicate-id]" in output, output


def action(folder):
    folder = Path(folder)
    (folder / "registers").mkdir()
    (folder / "registers/a.json").write_text(register("A1"))
    (folder / "reglint.toml").write_text("[rules]\nid-style = 'warn'\n")
    definition = yaml.safe_load((PROJECT / "action.yml").read_text())
    steps = definition["runs"]["steps"]
    script = next(step["run"] for step in steps if step.get("id") == "check")
    for step in steps:
        # What a workflow passes in is data to the shell, never a part of the script.
        assert "${{" not in step.get("run", ""), step
    defaults = {name: value["default"] for name, value in definition["inputs"].items()}

    def check(code, **inputs):
        inputs = {**defaults, **{name.replace("_", "-"): value for name, value in inputs.items()}}
        return run(
            "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, folder=folder, code=code,
            PATHS=inputs["paths"], OPTIONS=inputs["options"], SARIF=inputs["sarif"],
            DENY_WARNINGS=inputs["deny-warnings"], RUNNER_TEMP=str(folder),
        )

    assert "no findings" in check(0)
    (folder / "registers/b.json").write_text(ODD)
    output = check(1)
    assert output.startswith("::error file=registers/b.json,line=14,col="), output
    assert "\n::notice title=reglint::1 error in 2 registers" in output, output
    assert "::warning" in check(0, deny_warnings="false")
    assert check(0, paths="registers/[a].json", options="--quiet --isolated") == ""
    check(1, sarif="true", paths="registers")
    log = json.loads((folder / "reglint.sarif").read_text())
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["id-style"]


def readme(_):
    """What the README says to write is what there is."""
    text = (PROJECT / "README.md").read_text()
    blocks = [block.split("\n", 1) for block in text.split("\n```yaml ")[1:]]
    files = {name: yaml.safe_load(rest.split("\n```")[0]) for name, rest in blocks}
    hooks = [hook["id"] for hook in yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())]
    for repository in files[".pre-commit-config.yaml"]["repos"]:
        assert [hook["id"] for hook in repository["hooks"]] == hooks
    inputs = yaml.safe_load((PROJECT / "action.yml").read_text())["inputs"]
    steps = files[".github/workflows/registers.yml"]["jobs"]["reglint"]["steps"]
    used = [step for step in steps if "/reglint@" in step["uses"]]
    assert used and all(name in inputs for step in used for name in step["with"])
    version = next(
        line.split('"')[1] for line in (PROJECT / "Cargo.toml").read_text().splitlines()
        if line.startswith("version = ")
    )
    assert used[0]["uses"].endswith(f"@v{version}")


for scenario in (
    readme, one_file_and_all, a_file_that_is_no_register, a_deletion, warnings_fail, batches, action,
):
    with tempfile.TemporaryDirectory() as folder:
        scenario(folder)
    print(f"{scenario.__name__}: as it should be")
