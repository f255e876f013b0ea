"""KEDA's requests to tautd, as gRPC over HTTP/2 by curl: the ordered number of replicas, or an error."""
import struct

import daemon
import scaled_cell

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


pytestmark = daemon.needs("curl")


class Keda:
    """Requests a job given in metadata: returns the value of the metric, or (code, message)."""

    def __init__(self, stage, port):
        self.stage, self.port = stage, port

    def ask(self, method, message):
        """Returns the bytes of the response, or (code, message)."""
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


def test_without_an_order_it_answers_an_error(stage, story):
    story.cell = scaled_cell.Cell()
    port = daemon.free_port()
    story.tautd = stage.tautd(config=CONFIG.format(port=port))
    assert f"listening for KEDA on port {port}" in story.tautd.output(), "the log says the port"
    story.keda = Keda(stage, port)
    story.cell.send(story.tautd, 6, 4, 0.5)
    names = [job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"]]
    story.web, story.db = (next(name for name in names if part in name) for part in ("web", "db"))
    code, message = story.keda.value(story.web)
    assert code == 9 and f"job {story.web} has no ordered number of tasks" in message, "without an order: an error"


def test_the_ordered_number_is_answered(story):
    story.cell.send(story.tautd, 3, 4, 0.9)
    assert story.keda.value(story.web) == 8.0, "3.6 cores at half of a core each are 8 replicas"


def test_what_nobody_scales_is_an_error(stage, story):
    code, message = story.keda.value(story.db)
    assert code == 9 and "set its replicas.policy" in message, "a job without a policy: an error"
    code, message = story.keda.value("shop/deployment/none")
    assert code == 5 and "no job shop/deployment/none" in message, "an unknown job: an error"
    assert stage.taut(story.tautd, "set", story.web, "mode=observe").returncode == 0, "web only observes"
    code, message = story.keda.value(story.web)
    assert code == 9 and "set its mode to auto" in message, "a mode that does not act: an error"


def test_metrics_count_the_answers(story):
    metrics = story.tautd.ask("/metrics").text
    for line in ('{result="answered"} 1', '{result="unknown_job"} 1', '{result="no_number"} 3', '{result="failed"} 0'):
        assert f"tautd_external_scaler_requests_total{line}" in metrics, f"counted: {line}"


def test_with_requests_it_is_active(stage, story):
    for setting in ("mode=auto", "replicas.policy=keda", "replicas.task_capacity=10", "replicas.min=0",
                    "replicas.keda.activation=1"):
        said = stage.taut(story.tautd, "set", story.web, setting)
        assert said.returncode == 0, f"web has {setting}: {said.stderr}"
    story.cell.send(story.tautd, 3, 4, 0.5, 20)
    assert (story.keda.value(story.web) > 0, story.keda.is_active(story.web)) == (True, True), "with requests it runs"


def test_an_ordered_zero_is_a_zero_and_not_active(story):
    story.cell.send(story.tautd, 4, 4, 0.1, 0.01)
    assert (story.keda.value(story.web), story.keda.is_active(story.web)) == (0.0, False), "an ordered 0 is a 0, and not active"
