"""Shared parts of the agent's benchmarks: starting a tautd and a tautlet, measuring their cost, and printing rows of a table."""
import argparse
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "daemon"), str(ROOT / "demo")]

import daemon  # noqa: E402
import groups  # noqa: E402

MIB = 1 << 20
TICK = os.sysconf("SC_CLK_TCK")


def arguments(what, **options):
    """Parses --bin and `options`: name=(default, help). Adds the paths of the programs."""
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin",
                        help="folder of tautd, tautlet and taut-load")
    parser.add_argument("--nice", type=int, default=0, help="of all that is started, so that other work on the machine "
                        "does not stand in the way: -10 (0)")
    for name, (default, text) in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{text} ({default})")
    args = parser.parse_args()
    if args.nice:
        os.nice(args.nice)
    args.tautd, args.tautlet, args.load = (args.bin / name for name in ("tautd", "tautlet", "taut-load"))
    return args


def own_tree():
    """Returns a tree of new cgroups for the benchmark. Exits with a message if the machine permits no cgroups."""
    try:
        return groups.Tree(f"taut-bench-{os.getpid()}")
    except groups.Unavailable as why:
        print(f"SKIPPED: {why}; nothing was measured")
        sys.exit(daemon.SKIPPED)


def row(what, measured, unit, budget=None, at_least=False):
    """Prints one row as bench/run.py does; `budget` has the same unit as the value."""
    def text(value):
        return f"{value:,.0f} {unit}" if abs(value) >= 1000 else f"{value:.4g} {unit}"

    kept = "" if budget is None else "yes" if (measured >= budget if at_least else measured <= budget) else "NO"
    bound = "" if budget is None else f"{'>=' if at_least else '<='} {text(budget)}"
    print(f"{what:<66} {text(measured):>11} {bound:>11}  {kept}".rstrip(), flush=True)


def rows_of_times(what, times, budget_ms=None):
    """Prints p50, p99 and the maximum of `times`, in milliseconds. The budget applies to p99."""
    times = sorted(times)
    for name, at, budget in (("p50", len(times) // 2, None), ("p99", len(times) * 99 // 100, budget_ms),
                             ("max", len(times) - 1, None)):
        row(f"{what}, {name} of {len(times)}", times[min(at, len(times) - 1)], "ms", budget)


def load():
    """Prints the machine's load and number of cores. On a busy machine, the measured figures are upper bounds."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, nice {os.nice(0)}"


class Cost:
    """Measures the CPU time and memory of a process from now on."""

    def __init__(self, pid):
        self.pid = pid
        self.at, self.before = time.monotonic(), self._cpu()

    def _cpu(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) / TICK, int(fields[12]) / TICK

    def shares(self):
        """Returns (user, system) in percent of one core since the start."""
        seconds = time.monotonic() - self.at
        return tuple(100 * (now - before) / seconds for now, before in zip(self._cpu(), self.before))

    def resident_mib(self):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))


class Node:
    """A tautd and a tautlet in real time."""

    def __init__(self, stage, rules, settings="", store="memory", ingest="{grace: 0s}"):
        self.stage = stage
        agents = daemon.free_port()
        self.tautd = stage.tautd(store=store, config=(
            f"clock: samples\ningest: {ingest}\n"
            f"agents: {{listen: [\"127.0.0.1:{agents}\"]}}\nactuator: {{kind: agents}}\n" + settings))
        config = stage.file("tautlet.yaml", f"name: bench\nstate: \"{stage.dir}/tautlet\"\n"
                            f"daemon: {{address: \"127.0.0.1:{agents}\"}}\ntasks: {rules}\n")
        self.tautlet = stage.start("tautlet", [stage.args.tautlet, "--config", config],
                                   lambda p: " connected " in p.output())

    def agent(self):
        """Returns the agent as the daemon reports it."""
        return self.tautd.get("/api/v1/agents")["agents"][0]

    def stop(self):
        self.tautlet.stop()
        self.tautd.stop()
