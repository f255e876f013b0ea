#!/usr/bin/env python3
"""The number of tasks follows the owner's own function of two named signals; over a kill, through a silence, and with wrong
names refused."""
import signal

import daemon
import replicas_test

CONFIG = """clock: samples
log: {level: debug}
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {name: requests, metric: http_requests_total, kind: load_total, signal: requests,
       job: "{namespace}/deployment/web", task: "{pod}"}
defaults:
  {mode: auto, recommender: moving_window, replicas.max: 100}
rules:
  - {name: by signals, match: {job: "*/web"}, set: {replicas.policy: function, replicas.autopilot.small_change: 0, replicas.autopilot.half_life_h: 0,
     replicas.function.target: "ceil(max(requests, 15m) / 50) + avg(cpu, 5m)"}}
"""


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    with daemon.Stage(args) as stage:
        wrong = stage.file("wrong.yaml", CONFIG.replace("max(requests", "max(request"))
        said = stage.run(args.tautd, "--check-config", "--config", wrong)
        stage.check(said.returncode != 0 and 'unknown name "request"; did you mean "requests"' in said.stderr,
                    "a name that no rule gives is refused at the start", said.stderr)
        cell = replicas_test.Cell(stage)
        store = stage.dir / "tautd.db"
        tautd = stage.tautd(config=CONFIG, store=store)
        cell.send(tautd, 2, 4, 0.5, requests_each=75)
        web = next(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
        path = f"/api/v1/jobs/{daemon.quoted(web)}"
        stage.equal(tautd.get(path)["replicas"]["would_be"], 8, "6 for 300 requests a second, 2 for two cores")
        url = f"http://127.0.0.1:{tautd.port}"
        said = stage.run(args.taut, "explain", web, "--server", url).stdout
        stage.check("requests: 300" in said or "requests 300" in said, "taut explain says the signals", said)
        cell.send(tautd, 1, 4, 0.5, requests_each=10)
        stage.equal(tautd.get(path)["replicas"]["would_be"], 8, "the span holds the requests of before")
        tautd.stop(signal.SIGKILL)
        tautd = stage.tautd(config=CONFIG, store=store)
        cell.send(tautd, 1, 4, 0.5, requests_each=10)
        stage.equal(tautd.get(path)["replicas"]["would_be"], 8, "after a kill too: windows are stored with their signals")
        cell.send(tautd, 2, 4, 0.5, requests_each=10)
        stage.equal(tautd.get(path)["replicas"]["would_be"], 3, "until it is over")
        cell.send(tautd, 2, 4, 0.5)
        url = f"http://127.0.0.1:{tautd.port}"
        said = stage.run(args.taut, "explain", web, "--server", url).stdout
        stage.check("requests was not measured, so the count stays 3" in said, "a silent signal holds the number", said)
        stage.equal(tautd.get(path)["replicas"]["held"]["cause"], "not_measured", "the API says that it is held, and why")
        gauge = 'tautd_replica_jobs_held{cause="not_measured"} %d'
        stage.check("replicas held since" in said and gauge % 1 in tautd.ask("/metrics").text and
                    "replicas_held" in tautd.output(), "so do taut explain, a metric and an event", said)
        cell.send(tautd, 12, 4, 0.5)
        replicas = tautd.get(path)["replicas"]
        stage.equal(replicas["would_be"], 8, "for an hour; then the highest of the last day is safe")
        cell.send(tautd, 2, 4, 0.5, requests_each=10)
        stage.check(tautd.get(path)["replicas"]["held"] is None and gauge % 0 in tautd.ask("/metrics").text and
                    "replicas_hold_ended" in tautd.output(), "and that it is over", tautd.output())
        said = stage.run(args.taut, "set", web, "replicas.function.target=-1", "--server", url)
        stage.check(said.returncode != 0 and "the value is always -1: expected a number of tasks" in said.stderr,
                    "a function that is always negative is refused", said.stderr)
        said = stage.run(args.taut, "set", web, "replicas.function.target=requets / 50", "--server", url)
        stage.check(said.returncode != 0 and 'did you mean "requests"' in said.stderr, "a wrong name is refused", said.stderr)
        said = stage.run(args.taut, "set", web, "replicas.function.target=requests / 0", "--server", url)
        stage.check(said.returncode != 0 and "division by zero" in said.stderr, "and a division by zero", said.stderr)
        ended = tautd.output().count("replicas_hold_ended")
        cell.send(tautd, 2, 4, 0.5)
        stage.check(tautd.get(path)["replicas"]["held"] is not None, "silent once more")
        stage.equal(stage.run(args.taut, "set", web, "mode=off", "--server", url).returncode, 0, "mode off")
        replicas = tautd.get(path)["replicas"]
        stage.check(replicas["held"] is None and replicas["hold"] == "" and gauge % 0 in tautd.ask("/metrics").text and
                    daemon.eventually(lambda: tautd.output().count("replicas_hold_ended") == ended + 1, 10),
                    "ends the hold at once: the API, the metric and an event", replicas)
        stage.equal(tautd.output().count("warning replicas_held"), 1, "of the two holds of one cause, one is a warning")
        tautd.stop(signal.SIGKILL)
        tautd = stage.tautd(config=CONFIG, store=store)
        stage.check(tautd.get(path)["replicas"]["held"] is None, "and so it is after a kill")
        cell.send(tautd, 2, 4, 0.5)
        stage.check(tautd.get(path)["replicas"]["held"] is None and "replicas_held" not in tautd.output(),
                    "nothing is held of a job that nobody scales", tautd.output())
        stage.finish()


if __name__ == "__main__":
    main()
