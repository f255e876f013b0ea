#!/usr/bin/env python3
"""Runs the whole control loop on this machine. A real tautlet measures loads in separate cgroups and sets the limits
that a real tautd decides, at 120 times real time: a window of five minutes takes two and a half seconds.

    demo/loop.py --bin build/release/bin [--port 7070] [--seconds 600]
"""
import argparse
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import groups

MIB = 1 << 20
SPEED = 120

# name, arguments of taut-load, the owner's memory and CPU limits, description
LOADS = [
    ("web", ["--cpu", "day:0.05..0.25~20%", "--memory", "80MiB~3%", "--speed", SPEED * 6], 512 * MIB, 1.0,
     "serving, days of two minutes: its CPU limit keeps clear of throttling"),
    ("cache", ["--cpu", "0.02", "--memory", "grow:40MiB..160MiB/150s"], 96 * MIB, 0.5,
     "grows to four times what it was, past its owner's limit: raised before it is killed"),
    ("importer", ["--cpu", "0.05", "--memory", "step:50MiB..180MiB@90s", "--restart"], 128 * MIB, 0.5,
     "wants much more at once after 90 s: killed, and comes back with more"),
    ("report", ["--cpu", "0.05", "--memory", "fall:300MiB..60MiB@60s"], 512 * MIB, 0.5,
     "needs little after a minute: gives its slack back"),
    ("watched", ["--cpu", "0.03", "--memory", "64MiB"], 400 * MIB, 0.5,
     "mode observe: told what it would get, and left alone"),
]

DAEMON = """\
cell: {{name: "this machine, {speed} times as fast"}}
clock: samples
server: {{listen: ["127.0.0.1:{port}"]}}
store: {{path: "{dir}/tautd.db"}}
ingest: {{grace: 0s}}
agents: {{listen: ["127.0.0.1:{agents}"]}}
actuator: {{kind: agents}}
defaults: {{mode: auto, recommender: moving_window, oom_tolerance: low, change_period: 20m}}
rules:
  - {{name: somebody wants to look first, match: {{job: demo/watched}}, set: {{mode: observe}}}}
recommenders:
  moving_window: {{min_history: 18m, memory_half_life: 12m, cpu_half_life: 3h, hold_windows: 4}}
  oom: {{hold: 6h}}
"""

AGENT = """\
name: {host}
state: "{dir}/tautlet"
speed: {speed}
sample: 50ms
find: 1s
daemon: {{address: "127.0.0.1:{agents}"}}
tasks:
  - {{cgroup: "/{tree}/*", job: "demo/{{1}}", manage: true, add_limits: true, cpu: hard}}
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of tautd, tautlet and taut-load")
    parser.add_argument("--port", type=int, default=7070, help="of the dashboard (7070); agents connect to the next one")
    parser.add_argument("--seconds", type=int, default=540, help="ends by itself after so long (540)")
    return parser.parse_args()


def mib(value):
    return "none" if value is None else f"{value / MIB:.0f} MiB"


def cores(value):
    return "none" if value is None else f"{value:.2f}"


def show(tree, start):
    """Prints one line per load with its current usage and limits."""
    print(f"\n{time.monotonic() - start:5.0f} s  {'load':<10}{'memory used':>13}{'limit':>10}{'CPU limit':>11}"
          f"{'OOM kills':>11}", flush=True)
    for name, group in tree.groups.items():
        print(f"         {name:<10}{mib(group.memory_used):>13}{mib(group.memory_limit):>10}"
              f"{cores(group.cpu_limit):>11}{group.oom_kills:>11}", flush=True)


def main():
    args = arguments()
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(s, lambda number, _: sys.exit(0))
    try:
        tree = groups.Tree("taut-demo")
    except groups.Unavailable as why:
        sys.exit(f"demo-loop: {why}")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="taut-demo-"))
    words = {"dir": folder, "port": args.port, "agents": args.port + 1, "speed": SPEED, "tree": tree.name,
             "host": "here"}
    (folder / "tautd.yaml").write_text(DAEMON.format(**words))
    (folder / "tautlet.yaml").write_text(AGENT.format(**words))
    processes = []
    try:
        for name, load, memory, cpu, what in LOADS:
            group = tree.group(name)
            group.memory_limit, group.cpu_limit = memory, cpu
            processes.append(group.run(args.bin / "taut-load", *load, "--duration", f"{args.seconds + 60}s"))
            print(f"   {name:<9} {what}", flush=True)
        for program, config in (("tautd", "tautd.yaml"), ("tautlet", "tautlet.yaml")):
            log = open(folder / f"{program}.log", "w")
            processes.append(subprocess.Popen([args.bin / program, "--config", folder / config], stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log))
            time.sleep(1)
            if processes[-1].poll() is not None:
                sys.exit(f"demo-loop: {program} did not start: {(folder / f'{program}.log').read_text()}")
        print(f"\n== open http://127.0.0.1:{args.port}/ (a window every {300 / SPEED:g} s, first limits after 20 s; "
              "^C ends)", flush=True)
        start = time.monotonic()
        while time.monotonic() - start < args.seconds:
            time.sleep(min(15, max(0, args.seconds - (time.monotonic() - start))))
            show(tree, start)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        tree.remove()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
