#!/usr/bin/env python3
"""Runs two cells, each with its own tautd and page: a simulated cell, and this machine as a cell with one node that is only measured.

    demo/run.py --bin build/release/bin [--port 7070] [--out out] [--days 15] [--seconds 60]

The programs log to files in --out. The terminal shows the URLs, the progress of the history, and what to look at first. The exit status
is 0 after --seconds or a signal, and 1 if a program ends by itself.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import groups

BAR = 30  # columns
JOBS = 200

SIMULATED = """\
cell: {{name: simulated, links: ["this machine=http://{machine}/"]}}
clock: samples
store: {{path: {out}/demo.db}}
server: {{listen: ["{simulated}"]}}
prices: {{core_hour: 0.03, gib_hour: 0.004, currency: EUR, budgets: ["all: 20000", "namespace=maps: 4000"], file: demo/prices.yaml}}
quota: {{file: demo/quota.yaml}}
defaults: {{mode: auto}}
rules:
  - {{name: one team watches first, match: {{namespace: infra}}, set: {{mode: observe}}}}
  - {{name: one team scales, match: {{namespace: maps}}, set: {{replicas.policy: forecast, replicas.max: 100}}}}
"""

MACHINE = """\
cell: {{name: this machine, links: ["simulated=http://{simulated}/"]}}
clock: samples
store: {{path: {out}/machine.db}}
server: {{listen: ["{machine}"]}}
agents: {{listen: ["{agents}"]}}
ingest: {{grace: 0s}}
defaults: {{mode: observe, recommender: moving_window, change_period: 30m}}
recommenders: {{moving_window: {{min_history: 30m}}}}
machine: {{cores: {cores}, memory: {kib}KiB}}
"""

TAUTLET = """\
state: {out}/tautlet
speed: 60
sample: 100ms
observe: true
daemon: {{address: "{agents}"}}
tasks:
{docker}  - {{cgroup: "/tautline/*", job: "tautline/{{1}}"}}
  - {{systemd: "*.service"}}
  - {{cgroup: "/*/*", job: "groups/{{1}}"}}
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of taut, tautd and tautlet")
    parser.add_argument("--port", type=int, default=7070, help="of the simulated cell (7070); this machine's is the next, the agents' the one after")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder of stores, configurations and logs (out)")
    parser.add_argument("--days", type=int, default=15, help="of history of the simulated cell (15)")
    parser.add_argument("--seconds", type=float, help="ends by itself after this time")
    return parser.parse_args()


def write_configurations(args, words):
    args.out.mkdir(parents=True, exist_ok=True)
    for old in [*args.out.glob("demo.db*"), *args.out.glob("machine.db*")]:
        old.unlink()
    shutil.rmtree(args.out / "tautlet", ignore_errors=True)
    for name, text in (("demo", SIMULATED), ("machine", MACHINE), ("tautlet", TAUTLET)):
        (args.out / f"{name}.yaml").write_text(text.format(**words))


def start(args, tree, name, *command):
    """Starts a program, in a separate cgroup if the machine permits one, so that tautlet finds tasks on any machine."""
    words = [str(word) for word in command]
    with open(args.out / f"{name}.log", "w") as log:
        if tree is not None:
            return tree.group(name).run(*words, output=log)
        print(f"{name} runs in no cgroup of its own", file=log, flush=True)
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def status_of(address):
    """Returns the status of a tautd; None if there is no response."""
    try:
        with urllib.request.urlopen(f"http://{address}/api/v1/status", timeout=5) as answer:
            return json.load(answer)
    except (urllib.error.URLError, OSError, ValueError):
        return None


def show_urls(args, words, history_is_in):
    says = "fleet, jobs, risks and money" if history_is_in else f"its {args.days} days of history arrive now, the first jobs in some seconds"
    print(f"\n  http://{words['simulated']}/   a simulated cluster: {says}"
          f"\n  http://{words['machine']}/   this machine, only measured: a window every 5 s, the first recommendations after 30 s", flush=True)
    if history_is_in:
        print(f"""
  Look first at
    the page Jobs, the first job   its limit, why, what another setting would do, and its decisions
    the page Fleet                 the step at the end of its charts is where the feed begins to run as many tasks as tautd orders;
                                   its jobs and savings are simulated, and say nothing of yours
    {args.bin}/taut get jobs   the same in the shell""")
    print(f"\n  logs: {args.out}/*.log; ^C ends\n", flush=True)


def show_progress(share):
    if sys.stdout.isatty():
        done = round(BAR * share)
        print(f"\r\033[K  history [{'#' * done}{'.' * (BAR - done)}] {100 * share:3.0f} %", end="", flush=True)


def watch(args, words, programs):
    began, start_s = time.time(), time.monotonic()
    show_urls(args, words, history_is_in=False)
    is_in = False
    while args.seconds is None or time.monotonic() - start_s < args.seconds:
        for name, program in programs.items():
            if program.poll() is not None:
                print(f"\n{name} ended with {program.returncode}; the end of {args.out / name}.log:", file=sys.stderr)
                sys.exit("".join((args.out / f"{name}.log").read_text().splitlines(keepends=True)[-5:]) or 1)
        end = (status_of(words["simulated"]) or {}).get("last_window_end")
        if not is_in and end is not None:
            missing_s = began - end
            show_progress(max(0.0, min(1.0, 1 - missing_s / (args.days * 86400))))
            if missing_s < 900:
                is_in = True
                print(f"\n  the history of {args.days} day{'s' if args.days != 1 else ''} is in, after {time.monotonic() - start_s:.0f} s", flush=True)
                show_urls(args, words, history_is_in=True)
        time.sleep(0.5)


def main():
    args = arguments()
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(s, lambda number, _: sys.exit(0))
    words = {name: f"127.0.0.1:{args.port + i}" for i, name in enumerate(("simulated", "machine", "agents"))}
    with open("/proc/meminfo") as meminfo:
        words["kib"] = next(line.split()[1] for line in meminfo if line.startswith("MemTotal"))
    docker = pathlib.Path("/var/run/docker.sock").is_socket()
    words.update(out=args.out, cores=os.cpu_count(), docker='  - {docker: "*"}\n' if docker else "")
    write_configurations(args, words)
    programs = {}
    try:
        tree = groups.Tree("tautline")
    except groups.Unavailable:
        tree = None
    try:
        programs["tautd-simulated"] = start(args, tree, "tautd-simulated", args.bin / "tautd", "--config", args.out / "demo.yaml")
        programs["tautd-machine"] = start(args, tree, "tautd-machine", args.bin / "tautd", "--config", args.out / "machine.yaml")
        time.sleep(1)
        programs["tautlet"] = start(args, tree, "tautlet", args.bin / "tautlet", "--config", args.out / "tautlet.yaml")
        programs["feed"] = start(args, tree, "feed", args.bin / "taut-dev", "feed", "--to", f"http://{words['simulated']}", "--jobs", JOBS, "--history", f"{args.days}d", "--speed", 600, "--ooms", "--follow")
        watch(args, words, programs)
    finally:
        for program in reversed(programs.values()):
            program.terminate()
        for program in programs.values():
            try:
                program.wait(20)
            except subprocess.TimeoutExpired:
                program.kill()


if __name__ == "__main__":
    main()
