#!/usr/bin/env python3
"""Runs taut-load and looks at it from outside: what it holds, what it uses, that it comes back and that it goes.

    load_test.py --taut-load BINARY [--static]
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
LINE = re.compile(r"([\d.]+)s memory target (\d+) held (\d+) cpu target ([\d.]+) used ([\d.]+)$")
# What a busy machine may take; no test needs so long.
PATIENCE_S = 60


def check(good, what):
    if not good:
        raise AssertionError(what)
    print(f"ok: {what}", flush=True)


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    def __init__(self, *options):
        self.process = subprocess.Popen([BINARY, "--with-parent", "--duration", "120s", *options],
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def line(self, pattern):
        """The next line, which must be of this form."""
        text = self.process.stdout.readline().rstrip("\n")
        match = re.match(pattern, text)
        if not match:
            raise AssertionError(f"{text!r} is not {getattr(pattern, 'pattern', pattern)!r}")
        return match

    def until(self, condition, what):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"never: {what}")
            time.sleep(0.02)
        print(f"ok: {what}", flush=True)

    def child(self):
        text = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return int(text.split()[0]) if text.split() else None


def memory_is_held():
    with Load("--memory", "64MiB") as load:
        load.until(lambda: resident(load.pid) >= 64 * MIB, "64 MiB are held")
        time.sleep(0.2)
        check(resident(load.pid) < (64 + OVERHEAD_MIB) * MIB, "and little more")
    with Load("--memory", "fall:96MiB..16MiB@8s") as load:
        load.until(lambda: resident(load.pid) >= 96 * MIB, "96 MiB are held")
        load.until(lambda: resident(load.pid) < (16 + OVERHEAD_MIB) * MIB, "and given back")


def cpu_is_used():
    started = time.monotonic()
    with Load("--cpu", "0.2", "--report") as load:
        wall = [float(load.line(LINE)[1]) for _ in range(4)][-1]
        used = cpu_seconds(load.pid)
        # The report may be read late, so there may be more; a busy machine may give less.
        elapsed = time.monotonic() - started
        check(0.5 * 0.2 * wall < used < 1.3 * 0.2 * elapsed + 0.3,
              f"{used:.2f} s of CPU in {wall:.1f} s are about 0.2 cores")


def report_says_what_is():
    with Load("--memory", "20MiB", "--cpu", "duty:0.4/200ms:50%", "--report") as load:
        load.line(LINE)
        match = load.line(LINE)
        check(int(match[2]) == int(match[3]) == 20 * MIB, "the report says target and held are 20 MiB")
        check(0.15 < float(match[4]) < 0.25, f"and {match[4]} cores are the target on average")


def killed_it_comes_back():
    with Load("--memory", "leak:8MiB/s", "--restart", "--report") as load:
        load.line(r"start 1 at [\d.]+s$")
        before = load.line(LINE)
        os.kill(load.child(), signal.SIGKILL)
        while True:
            text = load.process.stdout.readline()
            if text.startswith("start"):
                break
            before = LINE.match(text)
        match = re.match(r"start 2 after signal 9 at ([\d.]+)s\n$", text)
        check(match and float(match[1]) >= float(before[1]) + 0.1, f"killed, it starts again: {text.strip()}")
        after = load.line(LINE)
        check(float(after[1]) > float(match[1]) and int(after[2]) > int(before[2]),
              f"and goes on at {after[1]} s with more than before")
        child = load.child()
        load.process.kill()
        load.process.wait()
        load.until(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the child goes with its supervisor")


def it_ends_by_itself():
    for restart in ([], ["--restart"]):
        done = subprocess.run([BINARY, "--memory", "1MiB", "--duration", "300ms", *restart], timeout=PATIENCE_S,
                              check=False, stdout=subprocess.DEVNULL)
        check(done.returncode == 0, f"it ends by itself {restart}")


def nonsense_is_refused():
    for options, words in ((["--memory", "lots"], '"lots" is not a memory shape; expected 64MiB, grow:'),
                           (["--cpu", "grow:0.1"], 'missing ".."; example: grow:0.1..0.9/60s'),
                           ([], "give --memory 64MiB or --cpu 0.3"),
                           (["--speed", "0", "--cpu", "1"], '--speed: "0" is not a factor'),
                           (["--memory"], "--memory needs a value"),
                           (["--pace", "2"], "unknown option --pace"),
                           (["5MiB"], '"5MiB" is not an option; write --memory SHAPE')):
        done = subprocess.run([BINARY, *options], timeout=PATIENCE_S, check=False, capture_output=True, text=True)
        check(done.returncode == 2 and words in done.stderr, f"{options}: {done.stderr.strip()}")
    done = subprocess.run([BINARY, "--help"], timeout=PATIENCE_S, check=False, capture_output=True, text=True)
    check(done.returncode == 0 and "spike:" in done.stdout, "--help shows the shapes")


def it_runs_where_there_is_nothing_else():
    if os.geteuid() != 0:
        print("skipped: chroot needs root")
        return
    with tempfile.TemporaryDirectory() as root:
        target = pathlib.Path(root, "taut-load")
        target.write_bytes(pathlib.Path(BINARY).read_bytes())
        target.chmod(0o755)
        done = subprocess.run(["/taut-load", "--memory", "1MiB", "--cpu", "0.1", "--duration", "200ms", "--restart"],
                              preexec_fn=lambda: os.chroot(root), cwd="/", timeout=PATIENCE_S, check=False,
                              stdout=subprocess.DEVNULL)
        check(done.returncode == 0, "it runs alone in an empty root")


parser = argparse.ArgumentParser()
parser.add_argument("--taut-load", required=True)
parser.add_argument("--static", action="store_true", help="the binary needs no shared libraries")
arguments = parser.parse_args()
BINARY = str(pathlib.Path(arguments.taut_load).resolve())
# A sanitized build has much more of its own.
OVERHEAD_MIB = 8 if arguments.static else 64
memory_is_held()
cpu_is_used()
report_says_what_is()
killed_it_comes_back()
it_ends_by_itself()
nonsense_is_refused()
if arguments.static:
    it_runs_where_there_is_nothing_else()
sys.exit(0)
