"""tautd as the external scaler of a real KEDA: operator, metrics adapter and HPA set the replicas of a Deployment.

./up.sh builds and starts a control plane with KEDA (13 CPU minutes once: ./dev test keda). No node runs: the Deployment's
pods stay pending, and only its number of replicas is checked. Usage and requests arrive by remote write.
"""
import time

import pytest

import daemon
import scaled_cell
from bed import CONTROL, up

CONFIG = """clock: samples
external_scaler: {{listen: ["127.0.0.1:{port}"]}}
ingest:
  kubernetes_jobs: pods
  grace: 0s
  mapping:
    - {{name: requests, metric: http_requests_total, kind: load_total, job: "{{namespace}}/deployment/web", task: "{{pod}}"}}
defaults:
  {{mode: auto, recommender: moving_window, replicas.policy: keda, replicas.task_capacity: 10, replicas.hpa.target: 0.5,
   replicas.min: 0, replicas.max: 20, replicas.keda.activation: 1}}
"""
WORKLOAD = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "bed.local/busybox:1"}]}
"""
SCALED = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{name: web, namespace: shop}}
spec:
  scaleTargetRef: {{kind: Deployment, name: web}}
  pollingInterval: 2
  cooldownPeriod: 5
  minReplicaCount: 0
  maxReplicaCount: 40
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleUp: {{stabilizationWindowSeconds: 0, policies: [{{type: Percent, value: 1000, periodSeconds: 15}}]}}
        scaleDown: {{stabilizationWindowSeconds: 0, policies: [{{type: Percent, value: 100, periodSeconds: 15}}]}}
  triggers:
    - {{type: external, metricType: AverageValue, metadata: {{scalerAddress: "127.0.0.1:{port}", job: {job}}}}}
"""


@pytest.fixture(scope="module")
def bed(stage):
    with up(stage, "keda", programs=(*(p for p in CONTROL if p != "kube-scheduler"), "keda-operator", "keda-adapter"), part="keda") as its:
        yield its


def replicas(bed):
    return int(bed.kubectl("get", "deploy/web", "-n", "shop", "-o", "jsonpath={.spec.replicas}"))


def comes_to(bed, number, seconds, what):
    began = time.monotonic()
    reached = daemon.eventually(lambda: replicas(bed) == number, seconds, 0.5)
    assert reached, f"{what}: {number} replicas: {replicas(bed)}; {bed.kubectl('get', 'scaledobject,hpa', '-n', 'shop', '-o', 'wide')}"
    print(f"{what}: {number} replicas after {time.monotonic() - began:.1f} s")


def test_kedas_hpa_follows_the_order(stage, bed, story):
    bed.kubectl("apply", "-f", "-", given=WORKLOAD)
    story.cell = scaled_cell.Cell()
    port = daemon.free_port()
    story.config, story.store = CONFIG.format(port=port), str(stage.dir / "tautd.db")
    story.tautd = stage.tautd(config=story.config, store=story.store)

    # 20 requests a second for each of 4 tasks, of which each should serve 5 of its 10: 16 tasks.
    story.cell.send(story.tautd, 6, 4, 0.5, 5)
    story.web = next(job["name"] for job in story.tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
    bed.kubectl("apply", "-f", "-", given=SCALED.format(port=port, job=story.web))
    story.cell.send(story.tautd, 3, 4, 0.9, 10)
    ordered = story.tautd.get(f"/api/v1/jobs/{daemon.quoted(story.web)}")["replicas"]["ordered"]
    assert ordered == 8, "40 requests a second at 5 each are ordered 8 tasks"
    comes_to(bed, 8, 60, "KEDA's HPA follows the order")


def test_an_unreachable_tautd_leaves_the_number(bed, story):
    # A scaler without a response is an error, never 0.
    story.tautd.kill()
    assert not daemon.eventually(lambda: replicas(bed) != 8, 10 / daemon.PATIENCE, 0.5), (
        f"while tautd is unreachable the number stays: {replicas(bed)}")


def test_after_a_restart_it_follows_again(stage, bed, story):
    story.tautd = stage.tautd(config=story.config, store=story.store)
    story.cell.send(story.tautd, 4, 8, 0.9, 10)
    ordered = story.tautd.get(f"/api/v1/jobs/{daemon.quoted(story.web)}")["replicas"]["ordered"]
    assert ordered == 16, "80 requests a second are ordered 16 tasks"
    comes_to(bed, 16, 60, "after the restart")


def test_below_the_activation_threshold_it_is_zero(bed, story):
    story.cell.send(story.tautd, 6, 16, 0.01, 0.001)
    assert story.tautd.get(f"/api/v1/jobs/{daemon.quoted(story.web)}")["replicas"]["ordered"] == 0, "without requests 0 is ordered"
    comes_to(bed, 0, 90, "below the activation threshold")
    metrics = story.tautd.ask("/metrics").text
    assert 'tautd_external_scaler_requests_total{result="failed"} 0' in metrics, "no request of KEDA failed"
