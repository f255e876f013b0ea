#!/usr/bin/env python3
"""The number of tasks follows a series of requests that a mapping rule makes the load of a job; over a kill, and back
to the CPU. kube-state-metrics says how many tasks run."""
import signal

import daemon
import replicas_test

CONFIG = """clock: samples
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {name: requests, metric: http_requests_total, kind: load_total, job: "{namespace}/deployment/web", task: "{pod}"}
defaults:
  {mode: auto, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 20}
rules:
  - {name: by requests, match: {job: "*/web"}, set: {replicas.task_capacity: "100"}}
"""


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    with daemon.Stage(args) as stage:
        cell = replicas_test.Cell(stage)
        store = stage.dir / "tautd.db"
        tautd = stage.tautd(config=CONFIG, store=store)
        cell.send(tautd, 4, 4, 0.1)
        web = next(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
        path = f"/api/v1/jobs/{daemon.quoted(web)}"
        replicas = tautd.get(path)["replicas"]
        stage.equal((replicas["load_of"], replicas["load"], replicas["would_be"]), ("series", None, None),
                    "without a load nothing is recommended")
        stage.check("replicas.task_capacity asks for series" in replicas["hold"], "and the job says what is missing",
                    replicas)
        cell.send(tautd, 3, 4, 0.1, requests_each=75)
        replicas = tautd.get(path)["replicas"]
        stage.equal((round(replicas["load"]), replicas["task_capacity"], replicas["would_be"]), (300, 100, 6),
                    "300 requests a second at half of 100 each are 6 tasks, whatever the CPU")
        url = f"http://127.0.0.1:{tautd.port}"
        said = stage.run(args.taut, "job", web, "--server", url).stdout
        stage.check("load 300 (of series)" in said, "taut job says the load", said)
        tautd.stop(signal.SIGKILL)
        tautd = stage.tautd(config=CONFIG, store=store)
        cell.send(tautd, 1, 6, 0.1)
        stage.equal(tautd.get(path)["replicas"]["would_be"], 6, "after a kill, and without the series, the number stays")
        history = tautd.get(f"{path}/replicas?columns=100")
        stage.equal(history["load_of"], "series", "the history is of the series")
        loads = [round(load) for load in history["load"] if load is not None]
        stage.check(300 in loads and max(loads) <= 301, "and has its load", str(loads))
        url = f"http://127.0.0.1:{tautd.port}"
        stage.equal(stage.run(args.taut, "set", web, "replicas.task_capacity=0", "--server", url).returncode, 0,
                    "back to the CPU")
        cell.send(tautd, 2, 6, 0.9)
        replicas = tautd.get(path)["replicas"]
        # 11 tasks, or 7 where the policy has ordered fewer in between and may add only four at a time.
        stage.check(replicas["load_of"] == "cpu" and round(replicas["load"], 1) == 5.4 and replicas["would_be"] in (7, 11),
                    "by the CPU that the tasks use", replicas)
        cell.send(tautd, 4, 4, 0.5, said=(9, 7))
        job = tautd.get(path)
        stage.equal(job["replicas"]["tasks"], 9, "kube-state-metrics says how many tasks run, of which four are measured")
        stage.check(any("9 tasks run, and 4 are measured" in notice for notice in job["notices"]), "a notice names both",
                    str(job["notices"]))
        shown = stage.run(args.taut, "explain", web, "--server", url).stdout
        stage.check("of them ready" in shown, "taut explain says how many are ready", shown)
        stage.equal([name for name in (j["name"] for j in tautd.get("/api/v1/jobs")["jobs"]) if "unmeasured" in name], [],
                    "a number alone makes no job")
        tautd.stop(signal.SIGKILL)
        tautd = stage.tautd(config=CONFIG, store=store)
        url = f"http://127.0.0.1:{tautd.port}"
        stage.equal(tautd.get(path)["replicas"]["tasks"], 9, "after a kill, too: the number is stored")
        end = replicas_test.START + cell.second // 300 * 300
        drawn = tautd.get(f"{path}/replicas?from={end - 900}&to={end - 600}")["tasks"]
        stage.equal(drawn, [9, 9], "and it is drawn over time")
        cell.send(tautd, 2, 4, 0.5)
        stage.equal(tautd.get(path)["replicas"]["tasks"], 4, "a silent series says nothing: the measured tasks count")
        said = stage.run(args.taut, "set", web, "replicas.task_capacity=-1", "--server", url)
        stage.check(said.returncode != 0 and "outside 0" in said.stderr, "nonsense is refused", said.stderr)
        stage.finish()


if __name__ == "__main__":
    main()
