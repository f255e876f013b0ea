"""Shared parts of the agent's tests: cgroups of their own, and a tautd and a tautlet over them with a fast clock."""
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "daemon"), str(HERE.parent.parent / "demo")]

import daemon  # noqa: E402
import groups  # noqa: E402,F401  # of this path

MIB = 1 << 20


class Cell:
    """One tautd and one tautlet over a tree of groups. `rules` has the agent's task rules, as YAML lines."""

    def __init__(self, stage, tree, speed, rules, settings="", limits=""):
        self.stage, self.tree, self.speed = stage, tree, speed
        self.port, self.agent_port = daemon.free_port(), daemon.free_port()
        self.daemon_config = (
            "clock: samples\n"
            "ingest: {grace: 0s}\n"
            f"agents: {{listen: [\"127.0.0.1:{self.agent_port}\"]}}\n"
            "actuator: {kind: agents}\n" + settings)
        self.agent_config = stage.file(
            "tautlet.yaml",
            f"name: here\nstate: \"{stage.dir}/state\"\nspeed: {speed}\nsample: 100ms\nfind: 1s\n"
            f"daemon: {{address: \"127.0.0.1:{self.agent_port}\"}}\n{limits}tasks:\n{rules}")
        self.tautd = self.agent = None
        self.loads = []

    def start_daemon(self, store="tautd.db", mode="auto"):
        config = self.daemon_config.replace("mode: auto", f"mode: {mode}")
        self.tautd = self.stage.tautd(config=config, store=str(self.stage.dir / store), port=self.port)
        return self.tautd

    def start_agent(self, *more):
        argv = [self.stage.args.tautlet, "--config", self.agent_config, *more]
        self.agent = self.stage.start("tautlet", argv, lambda p: "rules" in p.output())
        return self.agent

    def tautlet(self, *more):
        """Runs a tautlet that ends by itself."""
        return self.stage.run(self.stage.args.tautlet, "--config", self.agent_config, *more)

    def job(self, name):
        """Returns the job as the daemon shows it, or {}."""
        try:
            for job in self.tautd.get("/api/v1/jobs?limit=100")["jobs"]:
                if job["name"] == name:
                    return job
        except OSError:
            pass
        return {}

    def decisions(self, job):
        path = f"/api/v1/decisions?job={daemon.quoted(job)}&limit=500"
        return self.tautd.get(path)["decisions"]

    def load(self, group, *argv, output=None):
        more = {} if output is None else {"output": output}
        self.loads.append(group.run(self.stage.args.load, *argv, **more))
        return self.loads[-1]

    def end_loads(self):
        for load in self.loads:
            load.kill()
            load.wait()

    def await_windows(self, count):
        """Waits until this many more windows have closed, after which the expected effect must have occurred."""
        time_of = lambda: self.tautd.get("/api/v1/fleet")["time"]  # noqa: E731
        begin = time_of() or daemon.eventually(time_of, 60) - 300
        wanted = begin + count * 300
        assert daemon.eventually(lambda: time_of() >= wanted, 20 + 2 * count * 300 / self.speed), f"{count} windows: {self.tautd.output()[-500:]}"

    def await_agent(self):
        """Waits until the agent is connected to its daemon."""
        met = lambda: [a for a in self.tautd.get("/api/v1/agents")["agents"] if a["connected"]]  # noqa: E731
        assert daemon.eventually(met, 60), f"the agent and its daemon meet: {self.agent.output()[-500:]}"


def watch(value, wanted, seconds, pause=0.001):
    """Returns (value, seconds) once wanted(value()) is true; the last value and None if it is not within `seconds` (times daemon.PATIENCE)."""
    start = time.monotonic()
    while True:
        got = value()
        took = time.monotonic() - start
        if wanted(got):
            return got, took
        if took > seconds * daemon.PATIENCE:
            return got, None
        time.sleep(pause)
