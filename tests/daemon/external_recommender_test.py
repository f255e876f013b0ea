#!/usr/bin/env python3
"""tautd asks examples/external_recommender.py, a service in Python, and takes its limits and numbers of tasks; without
it the jobs' own recommenders go on."""
import pathlib
import subprocess
import sys

import daemon
import replicas_test

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "external_recommender.py"
PYTHON = "/usr/bin/python3"  # whose modules Debian's packages are

CONFIG = """clock: samples
external_recommender: {{address: "127.0.0.1:{port}", deadline: 5s, hold: 15m}}
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {{name: requests, metric: http_requests_total, kind: load_total, signal: requests,
       job: "{{namespace}}/deployment/web", task: "{{pod}}"}}
defaults:
  {{mode: auto, recommender: moving_window, min_change: 0, change_period: 0s, replicas.policy: hpa, replicas.max: 20}}
rules:
  - {{name: answered, match: {{job: "*/web"}}, set: {{external: true}}}}
  - {{name: no scaling here, match: {{job: "*/db"}}, set: {{replicas.policy: none}}}}
"""


def has_grpc():
    found = subprocess.run([PYTHON, "-c", "import grpc, google.protobuf"], capture_output=True)
    return found.returncode == 0


def start_service(stage, port, *more):
    return stage.start("service", [PYTHON, EXAMPLE, "--listen", f"127.0.0.1:{port}", *more],
                       ready=lambda process: "listening" in process.output())


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    daemon.skip_without("protoc")
    if not has_grpc():
        print("SKIPPED: python3-grpcio is not installed (see tools/packages.txt); nothing was tested")
        sys.exit(daemon.SKIPPED)
    with daemon.Stage(args) as stage:
        cell = replicas_test.Cell(stage)
        port = daemon.free_port()
        service = start_service(stage, port)
        tautd = stage.tautd(config=CONFIG.format(port=port), store=stage.dir / "tautd.db")

        def decisions(job, target):
            return tautd.get(f"/api/v1/decisions?job={job}&target={target}")["decisions"]

        def metric(name):
            for line in tautd.ask("/metrics").text.splitlines():
                if line.startswith(name + " "):
                    return float(line.split()[-1])
            return None

        cell.send(tautd, 2, 4, 0.5)
        web = next(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
        taken = 'tautd_external_recommender_answers_total{result="taken"}'
        stage.check(daemon.eventually(lambda: (metric(taken) or 0) >= 3, 20), "its answers are taken",
                    tautd.ask("/metrics").text)
        newest = decisions(web, "memory")[0]
        stage.check(abs(newest["after"] / 2.4e8 - 1) < 0.1, "memory: 200 MB and 20 %", str(newest))
        stage.check("the highest usage of the last" in newest["sentence"] + str(newest.get("reason", "")),
                    "the decision says why", str(newest))
        stage.equal(decisions(web, "replicas")[0]["after"], 4, "2 cores of load on tasks of 1 core at 60 %")
        stage.equal(decisions(web.replace("web", "db"), "memory"), [], "a job without the setting is not asked about")
        explained = stage.run(args.taut, "explain", "--job", web, "--server", f"http://127.0.0.1:{tautd.port}").stdout
        stage.check("The external recommender: the highest usage" in explained, "taut explain says so", explained)
        cell.send(tautd, 2, 4, 0.9)
        stage.check(daemon.eventually(lambda: decisions(web, "replicas")[0]["after"] == 6, 20),
                    "3.6 cores on tasks of 1 core at 60 % are 6 tasks", str(decisions(web, "replicas")))

        service.kill()
        cell.send(tautd, 2, 6, 0.6)
        down = "tautd_external_recommender_up"
        stage.check(daemon.eventually(lambda: metric(down) == 0, 20), "a service that was killed is seen")
        warnings = tautd.get("/api/v1/status")["warnings"]
        stage.check(any("external recommender does not answer" in w for w in warnings), "status says it", str(warnings))
        stage.check("external recommender" in tautd.output(), "and the log")
        stage.equal(decisions(web, "replicas")[0]["after"], 6, "the last answer holds")
        tautd.kill()
        tautd = stage.tautd(config=CONFIG.format(port=port), store=stage.dir / "tautd.db")
        stage.equal(decisions(web, "replicas")[0]["after"], 6, "over a kill of tautd, too")
        cell.send(tautd, 6, 6, 0.6)
        explained = stage.run(args.taut, "explain", "--job", web, "--server", f"http://127.0.0.1:{tautd.port}").stdout
        stage.check("answer has expired" in explained, "then the job's own recommender takes over", explained)

        start_service(stage, port, "--signal", "requests", "--per-task", "50")
        before = metric(taken) or 0

        def taken_again():  # gRPC connects again within some seconds
            cell.send(tautd, 1, 6, 0.6)
            return daemon.eventually(lambda: (metric(taken) or 0) > before, 2)

        stage.check(daemon.eventually(taken_again, 30), "a service that is back is asked")
        cell.send(tautd, 2, 6, 0.6, requests_each=100)
        stage.check(daemon.eventually(lambda: decisions(web, "replicas")[0]["after"] == 12, 20),
                    "600 requests a second, a named signal of the job, are 12 tasks", str(decisions(web, "replicas")))
        cell.send(tautd, 2, 12, 0.3)
        stage.equal(decisions(web, "replicas")[0]["after"], 12, "requests that are not measured are not 0")
        stage.finish()


if __name__ == "__main__":
    main()
