#!/usr/bin/env python3
"""Runs one end-to-end test: a text file of commands and their expected output.

    run_cli_tests.py --taut build/release/bin/taut tests/cli/exits.test [--show]

The file's lines:

    # ...            a comment
    label NAME...    for tests/CMakeLists.txt, which defines `slow`
    needs traces     skip with a message without the real traces; also `needs chromium`, and `needs report` (or `no-report`):
                     the page of the reports, which a taut built without npm lacks
    file NAME        the lines up to `end` become that file
    $ COMMAND        run by bash in an empty folder that all commands of the file share
    > LINE           the next line of standard output, exactly
    ~ REGEX          the next line of standard output, as a regular expression for the whole line
    >...             any number of lines of standard output
    ! LINE, !~ REGEX, !...   the same for standard error
    exit N           the exit code; 0 by default

A command that has no line for an output must print nothing there. Set for commands: TAUT (the binary; also first in
PATH as `taut`), TESTS (this folder), TRACES (the real traces, if there are any). --show prints each command's output.
Exits 0 if all output is as written, 1 if not, 77 if skipped.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


class Command:
    def __init__(self, text, where):
        self.text, self.where = text, where
        self.expected = {"stdout": [], "stderr": []}
        self.exit = 0


def parse(path):
    """Returns needs and steps: ("file", name, text) or Command."""
    needs, steps = [], []
    lines = iter(enumerate(path.read_text().splitlines(), 1))
    for number, line in lines:
        where = f"{path.name}:{number}"
        word, _, rest = line.partition(" ")
        command = steps[-1] if steps and isinstance(steps[-1], Command) else None
        if not line.strip() or word in ("#", "label"):
            continue
        if word == "needs":
            needs += rest.split()
        elif word == "file":
            body = []
            for _, inner in lines:
                if inner == "end":
                    break
                body.append(inner + "\n")
            else:
                sys.exit(f"{where}: the file has no end")
            steps.append(("file", rest, "".join(body)))
        elif word == "$":
            steps.append(Command(rest, where))
        elif command is None:
            sys.exit(f"{where}: no command before this line")
        elif word == "exit":
            command.exit = int(rest)
        elif word in (">", "~", ">..."):
            command.expected["stdout"].append((word, rest, where))
        elif word in ("!", "!~", "!..."):
            command.expected["stderr"].append((word.replace("!~", "~").replace("!", ">"), rest, where))
        else:
            sys.exit(f"{where}: what is \"{word}\"?")
    return needs, steps


def first_difference(expected, actual):
    """Returns None or the first error. `any` lines match as few lines as possible; a line after them must occur somewhere."""
    at, skipping = 0, False
    for kind, text, where in expected:
        if kind == ">...":
            skipping = True
            continue
        fits = (lambda line: line == text) if kind == ">" else re.compile(text).fullmatch
        start = at
        while at < len(actual) and not fits(actual[at]):
            at += 1
        if at == len(actual) or (at > start and not skipping):
            got = repr(actual[start]) if start < len(actual) else "the end"
            return f"{where}: wanted {kind} {text!r}, got {got}"
        at, skipping = at + 1, False
    if at < len(actual) and not skipping:
        return f"{len(actual) - at} lines more than wanted, the first {actual[at]!r}"
    return None


def run(command, folder, env, show):
    try:
        done = subprocess.run(["bash", "-c", command.text], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return [f"{command.where}: $ {command.text}: still running after 600 s"]
    output = {"stdout": done.stdout, "stderr": done.stderr}
    problems = []
    if done.returncode != command.exit:
        problems.append(f"exit code {done.returncode}, wanted {command.exit}")
    for stream, raw in output.items():
        text = raw.decode(errors="backslashreplace")
        lines = text.split("\n")
        if lines.pop() and text:
            problems.append(f"{stream}: the last line has no end")
        wrong = first_difference(command.expected[stream], lines)
        if wrong:
            problems.append(f"{stream}: {wrong}")
    if show or problems:
        print(f"{command.where}: $ {command.text}")
        for stream, raw in output.items():
            if raw:
                print(f"--- {stream}\n{raw.decode(errors='backslashreplace').rstrip()[:20000]}")
        print(f"--- exit {done.returncode}")
    return [f"{command.where}: {p}" for p in problems]


def has_report(taut):
    """Returns whether this taut was built with the report's page: without it, taut fails before it reads any input."""
    with tempfile.TemporaryDirectory(prefix="taut-e2e-") as folder:
        done = subprocess.run([taut, "replay", "none.csv", "--report", "report.html"], cwd=folder, capture_output=True,
                              check=False)
    return b"without the page of the report" not in done.stderr


def lacking(needs, traces, taut):
    if "traces" in needs and not traces.is_dir():
        return f"no real traces in {traces}"
    if "chromium" in needs and shutil.which("chromium") is None:
        return "no chromium on this machine"
    if "report" in needs and not has_report(taut):
        return "this taut was built without the page of the report (npm builds it)"
    if "no-report" in needs and has_report(taut):
        return "this taut was built with the page of the report"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("--taut", type=pathlib.Path, required=True)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    needs, steps = parse(args.test)
    traces = pathlib.Path(os.environ.get("TAUT_TRACES", TESTS.parent.parent / "shared" / "traces"))
    taut = args.taut.resolve()
    reason = lacking(needs, traces, taut)
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(SKIPPED)
    env = {**os.environ, "TAUT": str(taut), "TESTS": str(TESTS), "TRACES": str(traces), "LC_ALL": "C.UTF-8",
           "PATH": f"{taut.parent}:{os.environ['PATH']}"}
    problems = []
    with tempfile.TemporaryDirectory(prefix="taut-e2e-") as folder:
        for step in steps:
            if isinstance(step, Command):
                problems += run(step, folder, env, args.show)
            else:
                pathlib.Path(folder, step[1]).write_text(step[2])
    for p in problems:
        print(p)
    print(f"{args.test.name}: {len(problems)} problems" if problems else f"{args.test.name}: as written")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
