#!/usr/bin/env python3
"""tautd as the external scaler of a real KEDA: operator, metrics adapter and HPA set the replicas of a Deployment.

./up.sh builds and starts a control plane with KEDA (13 CPU minutes once: ./dev test keda). No node runs: the Deployment's
pods stay pending, and its number of replicas is what is looked at. Usage and requests come by remote write.
"""
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "daemon"))
sys.path.insert(0, str(HERE))
import daemon  # noqa: E402
import real_cluster_test  # noqa: E402
import replicas_test  # noqa: E402

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


def main():
    args = daemon.arguments(__doc__.split("\n")[0])
    with daemon.Stage(args) as stage:
        bed = real_cluster_test.Bed(stage, ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "keda-operator",
                                            "keda-adapter"), "keda")
        try:
            bed.up("keda")
            run(stage, bed)
        finally:
            bed.down()
        stage.finish()


def run(stage, bed):
    bed.kubectl("apply", "-f", "-", given=WORKLOAD)
    cell = replicas_test.Cell(stage)
    port = daemon.free_port()
    config, store = CONFIG.format(port=port), str(stage.dir / "tautd.db")
    tautd = stage.tautd(config=config, store=store)

    def replicas():
        return int(bed.kubectl("get", "deploy/web", "-n", "shop", "-o", "jsonpath={.spec.replicas}"))

    def comes_to(number, seconds, what):
        began = time.monotonic()
        reached = daemon.eventually(lambda: replicas() == number, seconds, 0.5)
        stage.check(reached, f"{what}: {number} replicas",
                    f"{replicas()}; {bed.kubectl('get', 'scaledobject,hpa', '-n', 'shop', '-o', 'wide')}")
        print(f"{what}: {number} replicas after {time.monotonic() - began:.1f} s")

    # 20 requests a second for each of 4 tasks, of which each should serve 5 of its 10: 16 tasks.
    cell.send(tautd, 6, 4, 0.5, 5)
    web = next(job["name"] for job in tautd.get("/api/v1/jobs")["jobs"] if "web" in job["name"])
    bed.kubectl("apply", "-f", "-", given=SCALED.format(port=port, job=web))
    cell.send(tautd, 3, 4, 0.9, 10)
    ordered = tautd.get(f"/api/v1/jobs/{daemon.quoted(web)}")["replicas"]["ordered"]
    stage.equal(ordered, 8, "40 requests a second at 5 each are ordered 8 tasks")
    comes_to(8, 60, "KEDA's HPA follows the order")

    # A scaler that does not answer is an error, never 0.
    tautd.kill()
    time.sleep(10)
    stage.equal(replicas(), 8, "while tautd is unreachable the number stays")
    tautd = stage.tautd(config=config, store=store)
    cell.send(tautd, 4, 8, 0.9, 10)
    ordered = tautd.get(f"/api/v1/jobs/{daemon.quoted(web)}")["replicas"]["ordered"]
    stage.equal(ordered, 16, "80 requests a second are ordered 16 tasks")
    comes_to(16, 60, "after the restart")

    cell.send(tautd, 6, 16, 0.01, 0.001)
    stage.equal(tautd.get(f"/api/v1/jobs/{daemon.quoted(web)}")["replicas"]["ordered"], 0, "without requests 0 is ordered")
    comes_to(0, 90, "below the activation threshold")
    metrics = tautd.ask("/metrics").text
    stage.check('tautd_external_scaler_requests_total{result="failed"} 0' in metrics, "no request of KEDA failed")


if __name__ == "__main__":
    main()
