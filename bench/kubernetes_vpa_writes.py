#!/usr/bin/env python3
"""Measures the time that tautd needs to write the status of 1,000 VerticalPodAutoscalers to a real API server, one after the other.

TAUT_KUBERNETES=1 BED_BIN=... bench/kubernetes_vpa_writes.py --tautd build/release/bin/tautd --taut build/release/bin/taut
Requires root and the programs of tests/kubernetes/up.sh, which ./dev test kubernetes builds. Budget: 60 s."""
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "daemon"), str(ROOT / "tests" / "kubernetes")]
import daemon  # noqa: E402
import bed as beds  # noqa: E402

VPAS = 1000
BUDGET_S = 60


def manifests():
    for i in range(VPAS):
        yield f"""apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {{name: web-{i}, namespace: default}}
spec: {{targetRef: {{apiVersion: apps/v1, kind: Deployment, name: web-{i}}}, recommenders: [{{name: tautline}}]}}
"""


def main():
    args = daemon.arguments(__doc__.split("\n")[0])
    with daemon.Stage(args) as stage:
        bed = beds.Bed(stage)
        try:
            bed.up("vpa")
            bed.kubectl("create", "--validate=false", "-f", "-", given="---\n".join(manifests()), timeout=300)
            kubeconfig = bed.config
            begin = time.monotonic()
            tautd = stage.tautd(config=f"""ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 0s, vpa: true}}
""")
            name = 'tautd_kubernetes_vpa_writes_total{result="written"}'
            daemon.eventually(lambda: (daemon.metric(tautd, name) or 0) >= VPAS, 300, 0.2)
            seconds = time.monotonic() - begin
            written = daemon.metric(tautd, name)
            described = bed.kubectl("get", "vpa", f"web-{VPAS - 1}", "-o", "jsonpath={.status.conditions[*].type}")
            print(f"{written:.0f} statuses written in {seconds:.1f} s from tautd's start, {1000 * seconds / VPAS:.1f} ms each "
                  f"(budget {BUDGET_S} s); the last has the conditions: {described}")
            tautd.stop()
        finally:
            bed.down()
    sys.exit(0 if written >= VPAS and seconds <= BUDGET_S else 1)


if __name__ == "__main__":
    main()
