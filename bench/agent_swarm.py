#!/usr/bin/env python3
"""Measures the cost of a thousand agents for tautd: a real tautd (SQLite, mode auto, moving_window) and agent_swarm, which
simulates the agents. Each agent has its own connection and 20 tasks, and answers every order. It sends a window's message
every PERIOD seconds instead of 300, and heartbeats are faster by the same factor. At real speed, the cost of messages is
PERIOD/300 of the result, and the cost of ticks and open connections is unchanged. --period 300 --warmup 0 --windows 1
measures at real speed, in five minutes.

    bench/agent_swarm.py [--bin build/release/bin] [--agents 1000] [--tasks 20] [--jobs 4000] [--period 10] [--windows 12]
"""
import subprocess
import sys
import threading

import agent_bench as bench
from agent_bench import daemon, row

SETTINGS = """\
defaults: {mode: auto, recommender: moving_window, change_period: 30m}
recommenders: {moving_window: {min_history: 24m, memory_half_life: 1h, cpu_half_life: 1h, hold_windows: 2}}
"""


class Passes(threading.Thread):
    """Records tautd's passes as they happen."""

    def __init__(self, tautd):
        super().__init__(daemon=True)
        self.tautd, self.seen, self.over = tautd, {}, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.5):
            last = self.tautd.get("/api/v1/status")["last_pass"]
            if last:
                self.seen[last["window_end"]] = last

    def stop(self):
        self.over.set()
        self.join()
        return sorted(self.seen.values(), key=lambda p: p["milliseconds"])


def main():
    args = bench.arguments(__doc__, agents=(1000, "agents"), tasks=(20, "of each"), jobs=(4000, "that they are of"),
                           period=(10.0, "seconds in which a window goes by"), windows=(12, "measured"),
                           warmup=(10, "windows before"))
    with daemon.Stage(args) as stage:
        print(f"  {bench.load()} at the start", flush=True)
        port = daemon.free_port()
        tautd = stage.tautd(store=str(stage.dir / "tautd.db"), config=(
            f"clock: samples\nagents: {{listen: [\"127.0.0.1:{port}\"]}}\nactuator: {{kind: agents}}\n" + SETTINGS))
        words = [str(args.bin / "agent_swarm"), "--to", f"127.0.0.1:{port}"]
        for name in ("agents", "tasks", "jobs", "period", "windows", "warmup"):
            words += [f"--{name}", str(getattr(args, name))]
        swarm = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, preexec_fn=daemon.end_with_parent)
        cost = passes = None
        for line in swarm.stdout:
            if line == "begin\n":
                cost, passes = bench.Cost(tautd.popen.pid), Passes(tautd)
                connected = tautd.get("/api/v1/status")["agents"]["connected"]
            elif line == "end\n":
                user, system = cost.shares()
                row("agents connected", connected, "", args.agents, at_least=True)
                row(f"tautd, a window in {args.period:g} s: CPU of one core", user + system, "%")
                row("  of it: its own code", user, "%")
                row("tautd: resident", cost.resident_mib(), "MiB")
                seen = passes.stop()
                if seen:
                    row(f"tautd: a pass over {seen[0]['jobs']} jobs, median of {len(seen)}",
                        seen[len(seen) // 2]["milliseconds"], "ms")
                    row("  longest", seen[-1]["milliseconds"], "ms")
            else:
                what, value, unit, budget = line.rstrip("\n").split("|")
                row(what, float(value), unit, None if budget == "-" else float(budget))
        if swarm.wait() != 0:
            sys.exit(f"agent_swarm failed; tautd said: {tautd.output()[-2000:]}")
        counts = tautd.ask("/metrics").text.splitlines()
        wanted = ("tautd_agent_refused_total ", "tautd_agent_repeated_messages_total ",
                  "tautd_agent_unacknowledged_messages ", 'tautd_order_seconds{', "tautd_agent_outcomes_total{")
        print("\n".join("  " + c for c in counts if c.startswith(wanted)))
        print(f"  {bench.load()} at the end", flush=True)


if __name__ == "__main__":
    main()
