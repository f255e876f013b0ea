#!/usr/bin/env python3
"""tautd recommends and orders the number of tasks: by the load of all of them, over a kill, by a webhook, and
back to the owner."""
import json
import pathlib
import signal

import daemon

RECEIVER = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "webhook_receiver.py"

START = 1_700_006_400  # a midnight
STEP = 30
WINDOW = 300
CONFIG = """clock: samples
webhook: {{url: "http://127.0.0.1:{port}/", secret_file: {secret}, targets: replicas}}
ingest: {{grace: 0s, kubernetes_jobs: pods}}
defaults:
  {{mode: auto, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 20}}
rules:
  - {{name: no scaling here, match: {{job: "*/db"}}, set: {{replicas.policy: none}}}}
"""
LETTERS = "bcdfghjklmnpqrstvwxz"


class Cell:
    """Two workloads of containers with a limit of one core each."""

    def __init__(self, stage):
        self.stage = stage
        self.second = 0
        self.cpu = {}
        self.requests = {}

    def send(self, tautd, windows, tasks, cores_each, requests_each=0, said=None):
        """The usage of all tasks of web, and the requests a second that they serve; db has two. said: how many tasks of web run
        and are ready, by kube-state-metrics."""
        for _ in range(windows * WINDOW // STEP):
            series = []
            if said is not None:
                for workload in ("web", "unmeasured"):
                    for metric, value in zip(("replicas", "replicas_ready"), said):
                        labels = {"__name__": f"kube_deployment_status_{metric}", "deployment": workload, "namespace": "shop"}
                        series.append((labels, [(START + self.second, value)]))
            for name, count, cores in (("web", tasks, cores_each), ("db", 2, 0.9)):
                for task in range(count):
                    pod = f"{name}-5d4f8c7b9d-x{LETTERS[task]}{LETTERS[task]}{LETTERS[task]}z"
                    self.cpu[pod] = self.cpu.get(pod, 0) + cores * STEP
                    labels = {"namespace": "shop", "pod": pod, "container": "app"}
                    at = START + self.second
                    for metric, value, more in (("container_cpu_usage_seconds_total", self.cpu[pod], {"cpu": "total"}),
                                                ("container_memory_working_set_bytes", 2e8, {}),
                                                ("container_spec_cpu_quota", 100_000, {}),
                                                ("container_spec_memory_limit_bytes", 1e9, {})):
                        series.append(({"__name__": metric, **more, **labels}, [(at, value)]))
                    self.requests[pod] = self.requests.get(pod, 0) + requests_each * STEP
                    if requests_each > 0 and name == "web":
                        series.append(({"__name__": "http_requests_total", **labels}, [(at, self.requests[pod])]))
            answer = daemon.write(tautd.port, daemon.write_body(series))
            if answer.status != 204:
                self.stage.check(False, f"second {self.second} is taken", f"{answer.status} {answer.text}")
            self.second += STEP
        end = START + (self.second - STEP) // WINDOW * WINDOW
        self.stage.check(daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= end, 20),
                         f"windows up to {end - START} s are closed")


def decisions(tautd):
    page = tautd.get("/api/v1/decisions?target=replicas")["decisions"]
    return [(d["kind"], d["before"], d["after"]) for d in reversed(page)]


def newest(tautd):
    return tautd.get("/api/v1/decisions?target=replicas")["decisions"][0]


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    with daemon.Stage(args) as stage:
        cell = Cell(stage)
        store = stage.dir / "tautd.db"
        port, secret, received = daemon.free_port(), stage.file("secret", "webhook-0123456789\n"), stage.dir / "orders"
        config = CONFIG.format(port=port, secret=secret)
        stage.start("receiver", ["python3", RECEIVER, "--secret-file", secret, "--state", received, "--port", port],
                    lambda p: "listening" in p.output())
        tautd = stage.tautd(config=config, store=store)
        cell.send(tautd, 6, 4, 0.5)
        names = [job["name"] for job in tautd.get("/api/v1/jobs")["jobs"]]
        web = next(name for name in names if "web" in name)
        path = f"/api/v1/jobs/{daemon.quoted(web)}"
        stage.equal(decisions(tautd), [], "at the target nothing is ordered")

        cell.send(tautd, 3, 4, 0.9)
        stage.equal(decisions(tautd), [("set", 4, 8)], "3.6 cores at half of a core each are 8 tasks")
        replicas = tautd.get(path)["replicas"]
        stage.equal((replicas["policy"], replicas["tasks"], replicas["would_be"], replicas["ordered"]),
                    ("hpa", 4, 8, 8), "the job says so")
        stage.check(abs(replicas["load"] - 3.6) < 0.05 and abs(replicas["utilization"] - 0.9) < 0.02,
                    "with its load and utilization", replicas)
        stage.check(daemon.eventually(lambda: newest(tautd)["outcome"] == "applied", 20), "the webhook takes the order",
                    newest(tautd))
        stage.equal((newest(tautd)["target"], newest(tautd)["resource"]), ("replicas", None), "a decision on replicas")
        orders = [json.loads(line)["order"] for line in received.read_text().splitlines()]
        stage.equal([(o["job"], o["target"], o["value"], o["unit"]) for o in orders], [(web, "replicas", 8, "tasks")],
                    "and nothing but it is sent: limits go elsewhere")
        url = f"http://127.0.0.1:{tautd.port}"
        said = stage.run(args.taut, "job", web, "--server", url)
        stage.check("replicas (hpa): 4 tasks, would be 8 tasks, ordered 8 tasks" in said.stdout, "taut job", said.stdout)
        said = stage.run(args.taut, "explain", web, "--server", url)
        stage.check("hpa · replicas: 8 tasks" in said.stdout, "taut explain says why", said.stdout)

        sums = tautd.get("/api/v1/fleet")["replicas"]
        stage.equal({k: sums[k] for k in ("jobs", "tasks", "would_be", "jobs_overloaded", "jobs_held")},
                    {"jobs": 1, "tasks": 4, "would_be": 8, "jobs_overloaded": 1, "jobs_held": {"not_measured": 0, "no_number": 0}},
                    "the fleet sums up its scaled jobs")
        overloaded = (replicas["overloaded_windows_day"], replicas["windows_day"])
        stage.check(1 <= overloaded[0] <= 4 and overloaded[0] < overloaded[1] <= 9 and
                    overloaded == (sums["overloaded_windows_day"], sums["windows_day"]),
                    "windows at 90 % are overloaded, those at 50 % are not", (overloaded, sums))
        said = stage.run(args.taut, "jobs", "--server", url)
        stage.check("replicas of 1 job: 4 tasks run, 8 recommended; overloaded in" in said.stdout, "taut jobs, too", said.stdout)
        stage.check("tautd_replica_jobs_overloaded 1" in tautd.ask("/metrics").text, "and a metric")

        tautd.stop(signal.SIGKILL)
        tautd = stage.tautd(config=config, store=store)
        stage.equal(tautd.get("/api/v1/fleet")["replicas"]["overloaded_windows_day"], overloaded[0],
                    "overloaded windows are those of before the kill")
        stage.check(daemon.eventually(lambda: tautd.get(path)["replicas"]["ordered"] == 8, 20),
                    "after a kill it is ordered still")
        cell.send(tautd, 3, 8, 0.45)
        stage.equal(decisions(tautd), [("set", 4, 8)], "with 8 tasks nothing more is ordered")
        cell.send(tautd, 4, 5, 0.5)
        replicas = tautd.get(path)["replicas"]
        stage.check(replicas["ordered"] is None and "without an order" in replicas["hold"],
                    "another program sets the number: tautd steps back", replicas)
        stage.check(any("another program may set it" in notice for notice in tautd.get(path)["notices"]),
                    "a notice of the job says so", str(tautd.get(path)["notices"]))
        stage.check("replicas_step_back" in tautd.output() and
                    "tautd_replica_step_backs_total 1" in tautd.ask("/metrics").text, "and an event and a metric")

        url = f"http://127.0.0.1:{tautd.port}"
        said = stage.run(args.taut, "set", web, "replicas.max=many", "--server", url)
        stage.check(said.returncode != 0 and "expected a whole number" in said.stderr, "nonsense is refused", said.stderr)
        said = stage.run(args.taut, "set", web, "replicas.min=30", "--server", url)
        stage.check(said.returncode != 0 and "replicas.max, 20" in said.stderr, "and a minimum above the maximum",
                    said.stderr)
        cell.send(tautd, 13, 5, 0.9)
        stage.equal(decisions(tautd)[-1][:2], ("set", 5), "an hour later it orders again")
        said = stage.run(args.taut, "set", web, "replicas.policy=none", "--server", url)
        stage.equal(said.returncode, 0, "the policy is taken away")
        stage.equal((decisions(tautd)[-1][0], decisions(tautd)[-1][2]), ("release", None), "the number is the owner's again")
        cell.send(tautd, 2, 5, 0.9)
        stage.equal(tautd.get(path)["replicas"], None, "and nothing is recommended")
        page = tautd.ask("/api/v1/decisions?target=limits")
        stage.check(page.status == 400 and "cpu, memory or replicas" in page.text, "an unknown target is refused", page.text)
        stage.finish()


if __name__ == "__main__":
    main()
