"""Runs taut-load and measures it from outside: its memory, its CPU, its restarts and its end."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import pytest

import daemon

MIB = 1 << 20
LINE = re.compile(r"([\d.]+)s memory target (\d+) held (\d+) cpu target ([\d.]+) used ([\d.]+)$")
# Time that a busy machine may need; tests usually need much less.
PATIENCE_S = 60


@pytest.fixture(scope="module")
def load(args):
    """Starts a taut-load with these options."""
    return lambda *options: Load(args.load, *options)


@pytest.fixture(scope="module")
def overhead_mib(request):
    """Returns its own memory; a sanitized build has much more."""
    return 8 if request.config.getoption("static") else 64


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, "--with-parent", "--duration", "120s", *options],
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def line(self, pattern):
        """Returns the next line, which must match this form."""
        text = self.process.stdout.readline().rstrip("\n")
        match = re.match(pattern, text)
        if not match:
            raise AssertionError(f"{text!r} is not {getattr(pattern, 'pattern', pattern)!r}")
        return match

    def until(self, condition, what):
        assert daemon.eventually(condition, PATIENCE_S / daemon.PATIENCE, 0.02), f"never: {what}"

    def child(self):
        text = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return int(text.split()[0]) if text.split() else None


def test_memory_is_held_and_given_back(stage, load, overhead_mib):
    with load("--memory", "64MiB") as its:
        its.until(lambda: resident(its.pid) >= 64 * MIB, "64 MiB are held")
        more = lambda: resident(its.pid) >= (64 + overhead_mib) * MIB  # noqa: E731
        assert not daemon.eventually(more, 0.2 / daemon.PATIENCE, 0.02), "and little more"
    with load("--memory", "fall:96MiB..16MiB@8s") as its:
        its.until(lambda: resident(its.pid) >= 96 * MIB, "96 MiB are held")
        its.until(lambda: resident(its.pid) < (16 + overhead_mib) * MIB, "and given back")


def test_cpu_is_used(stage, load):
    started = time.monotonic()
    with load("--cpu", "0.2", "--report") as its:
        wall = [float(its.line(LINE)[1]) for _ in range(4)][-1]
        used = cpu_seconds(its.pid)
        # The report may be read late, so the value may be higher; on a busy machine it may be lower.
        elapsed = time.monotonic() - started
        assert 0.5 * 0.2 * wall < used < 1.3 * 0.2 * elapsed + 0.3, f"{used:.2f} s of CPU in {wall:.1f} s are about 0.2 cores"


def test_the_report_says_what_is(stage, load):
    with load("--memory", "20MiB", "--cpu", "duty:0.4/200ms:50%", "--report") as its:
        its.line(LINE)
        match = its.line(LINE)
        assert int(match[2]) == int(match[3]) == 20 * MIB, "the report says target and held are 20 MiB"
        assert 0.15 < float(match[4]) < 0.25, f"and {match[4]} cores are the target on average"


def test_killed_it_comes_back_and_goes_with_its_supervisor(stage, load):
    with load("--memory", "leak:8MiB/s", "--restart", "--report") as its:
        its.line(r"start 1 at [\d.]+s$")
        before = its.line(LINE)
        os.kill(its.child(), signal.SIGKILL)
        while True:
            text = its.process.stdout.readline()
            if text.startswith("start"):
                break
            before = LINE.match(text)
        match = re.match(r"start 2 after signal 9 at ([\d.]+)s\n$", text)
        assert match and float(match[1]) >= float(before[1]) + 0.1, f"killed, it starts again: {text.strip()}"
        after = its.line(LINE)
        assert float(after[1]) > float(match[1]) and int(after[2]) > int(before[2]), f"and goes on at {after[1]} s with more than before"
        child = its.child()
        its.process.kill()
        its.process.wait()
        its.until(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the child goes with its supervisor")


def test_it_ends_by_itself(stage, args):
    for restart in ([], ["--restart"]):
        done = subprocess.run([stage.args.load, "--memory", "1MiB", "--duration", "300ms", *restart], timeout=PATIENCE_S,
                              check=False, stdout=subprocess.DEVNULL)
        assert done.returncode == 0, f"it ends by itself {restart}"


def test_nonsense_is_refused(stage, args):
    for options, words in ((["--memory", "lots"], '"lots" is not a memory shape; expected 64MiB, grow:'),
                           (["--cpu", "grow:0.1"], 'missing ".."; example: grow:0.1..0.9/60s'),
                           ([], "give --memory 64MiB or --cpu 0.3"),
                           (["--speed", "0", "--cpu", "1"], '--speed: "0" is not a factor'),
                           (["--memory"], "--memory needs a value"),
                           (["--pace", "2"], "unknown option --pace"),
                           (["5MiB"], '"5MiB" is not an option; write --memory SHAPE')):
        done = subprocess.run([stage.args.load, *options], timeout=PATIENCE_S, check=False, capture_output=True, text=True)
        assert done.returncode == 2 and words in done.stderr, f"{options}: {done.stderr.strip()}"
    done = subprocess.run([stage.args.load, "--help"], timeout=PATIENCE_S, check=False, capture_output=True, text=True)
    assert done.returncode == 0 and "spike:" in done.stdout, "--help shows the shapes"


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
def test_it_runs_where_there_is_nothing_else(stage, args, request):
    if not request.config.getoption("static"):
        pytest.skip("the program needs shared libraries")
    with tempfile.TemporaryDirectory() as root:
        target = pathlib.Path(root, "taut-load")
        target.write_bytes(pathlib.Path(stage.args.load).read_bytes())
        target.chmod(0o755)
        done = subprocess.run(["/taut-load", "--memory", "1MiB", "--cpu", "0.1", "--duration", "200ms", "--restart"],
                              preexec_fn=lambda: os.chroot(root), cwd="/", timeout=PATIENCE_S, check=False,
                              stdout=subprocess.DEVNULL)
        assert done.returncode == 0, "it runs alone in an empty root"
