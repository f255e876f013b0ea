#!/usr/bin/env python3
"""KEDA's questions to tautd, as gRPC over HTTP/2 by curl: the number of replicas that is ordered, or an error."""
import struct

import daemon
import replicas_test

CONFIG = """clock: samples
external_scaler: {{listen: ["127.0.0.1:{port}"]}}
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {{name: requests, metric: http_requests_total, kind: load_total, job: "{{namespace}}/deployment/web", task: "{{pod}}"}}
defaults:
  {{mode: auto, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 20}}
rules:
  - {{name: no scaling here, match: {{job: "*/db"}}, set: {{replicas.policy: none}}}}
"""


class Keda:
    """Asks for a job in metadata: the value of the metric, or (code, message)."""

    def __init__(self, stage, port):
        self.stage, self.port = stage, port

    def ask(self, method, message):
        """The bytes of the answer, or (code, message)."""
        return daemon.grpc(self.stage, self.port, f"externalscaler.ExternalScaler/{method}", message)

    @staticmethod
    def object_of(job):
        entry = daemon.field(1, b"job") + daemon.field(2, job.encode())
        return daemon.field(1, b"web") + daemon.field(2, b"shop") + daemon.field(3, entry)

    def value(self, job):
        answer = self.ask("GetMetrics", daemon.field(1, self.object_of(job)) + daemon.field(2, b"tautline_replicas"))
        if isinstance(answer, tuple):
            return answer
        # The double is the last field of the only value; a 0 is not written.
        return 0.0 if answer.endswith(b"tautline_replicas") else struct.unpack("<d", answer[-8:])[0]

    def is_active(self, job):
        answer = self.ask("IsActive", self.object_of(job))
        return answer if isinstance(answer, tuple) else answer == b"\x08\x01"


def main():
    args = daemon.arguments(__doc__.splitlines()[0])
    daemon.skip_without("curl")
    with daemon.Stage(args) as stage:
        cell = replicas_test.Cell(stage)
        port = daemon.free_port()
        tautd = stage.tautd(config=CONFIG.format(port=port))
        stage.check(f"listening for KEDA on port {port}" in tautd.output(), "the log says the port", tautd.output())
        keda = Keda(stage, port)
        cell.send(tautd, 6, 4, 0.5)
        names = [job["name"] for job in tautd.get("/api/v1/jobs")["jobs"]]
        web, db = (next(name for name in names if part in name) for part in ("web", "db"))
        code, message = keda.value(web)
        stage.check(code == 9 and f"job {web} has no ordered number of tasks" in message, "without an order: an error",
                    message)
        cell.send(tautd, 3, 4, 0.9)
        stage.equal(keda.value(web), 8.0, "3.6 cores at half of a core each are 8 replicas")
        code, message = keda.value(db)
        stage.check(code == 9 and "set its replicas.policy" in message, "a job without a policy: an error", message)
        code, message = keda.value("shop/deployment/none")
        stage.check(code == 5 and "no job shop/deployment/none" in message, "an unknown job: an error", message)
        url = f"http://127.0.0.1:{tautd.port}"
        stage.equal(stage.run(args.taut, "set", web, "mode=observe", "--server", url).returncode, 0, "web only observes")
        code, message = keda.value(web)
        stage.check(code == 9 and "set its mode to auto" in message, "a mode that does not act: an error", message)
        metrics = tautd.ask("/metrics").text
        for line in ('{result="answered"} 1', '{result="unknown_job"} 1', '{result="no_number"} 3', '{result="failed"} 0'):
            stage.check(f"tautd_external_scaler_requests_total{line}" in metrics, f"counted: {line}")

        for setting in ("mode=auto", "replicas.policy=keda", "replicas.task_capacity=10", "replicas.min=0",
                        "replicas.keda.activation=1"):
            said = stage.run(args.taut, "set", web, setting, "--server", url)
            stage.equal(said.returncode, 0, f"web has {setting}: {said.stderr}")
        cell.send(tautd, 3, 4, 0.5, 20)
        stage.equal((keda.value(web) > 0, keda.is_active(web)), (True, True), "with requests it runs")
        cell.send(tautd, 4, 4, 0.1, 0.01)
        stage.equal((keda.value(web), keda.is_active(web)), (0.0, False), "an ordered 0 is a 0, and not active")
        stage.finish()


if __name__ == "__main__":
    main()
