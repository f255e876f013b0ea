#!/usr/bin/env python3
"""KEDA's questions to tautd, as gRPC over HTTP/2 by curl: the number of replicas that is ordered, or an error."""
import struct

import daemon
import replicas_test

CONFIG = """clock: samples
external_scaler: {{listen: ["127.0.0.1:{port}"]}}
ingest: {{grace: 0s}}
defaults:
  {{mode: auto, recommender: moving_window, replicas.policy: hpa, replicas.hpa.target: 0.5, replicas.max: 20}}
rules:
  - {{name: no scaling here, match: {{job: "*/db"}}, set: {{replicas.policy: none}}}}
"""


class Keda:
    """Asks for a job in metadata: the value of the metric, or (code, message)."""

    def __init__(self, stage, port):
        self.stage, self.port = stage, port

    def value(self, job):
        entry = daemon.field(1, b"job") + daemon.field(2, job.encode())
        ref = daemon.field(1, b"web") + daemon.field(2, b"shop") + daemon.field(3, entry)
        message = daemon.field(1, ref) + daemon.field(2, b"tautline_replicas")
        asked, got, headers = (self.stage.dir / name for name in ("asked", "got", "headers"))
        asked.write_bytes(struct.pack(">BI", 0, len(message)) + message)
        got.write_bytes(b"")
        said = self.stage.run("curl", "-sS", "--noproxy", "*", "--http2-prior-knowledge", "--max-time", "20", "-o", got,
                              "-D", headers, "-H", "content-type: application/grpc", "-H", "te: trailers", "--data-binary",
                              f"@{asked}", f"http://127.0.0.1:{self.port}/externalscaler.ExternalScaler/GetMetrics")
        lines = dict(line.split(": ", 1) for line in headers.read_text().splitlines() if ": " in line)
        code = int(lines.get("grpc-status", -1))
        if code != 0:
            return code, lines.get("grpc-message", said.stderr)
        # The double is the last field of the only value.
        return struct.unpack("<d", got.read_bytes()[-8:])[0]


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
        stage.finish()


if __name__ == "__main__":
    main()
