"""Replicas of a StatefulSet that differ, known only from series: the job reports it."""
import time

import daemon

MIB = 2**20


def series_of(at, seconds):
    series = []
    for pod, memory in (("db-0", 8192 * MIB), ("db-1", 200 * MIB)):
        labels = {"namespace": "shop", "pod": pod, "container": "app", "image": "x"}
        series += [({"__name__": "container_cpu_usage_seconds_total", **labels}, [(at, 0.5 * seconds)]),
                   ({"__name__": "container_memory_working_set_bytes", **labels}, [(at, memory)]),
                   ({"__name__": "kube_pod_owner", "namespace": "shop", "pod": pod, "owner_kind": "StatefulSet", "owner_name": "db", "owner_is_controller": "true"}, [(at, 1)])]
    return series


def test_the_job_names_replicas_that_differ(stage):
    tautd = stage.tautd(config="clock: samples\n")
    begin = int(time.time()) // 300 * 300 - 14 * 3600
    for step in range(0, 13 * 3600, 150):
        daemon.send(tautd.port, series_of(begin + step, 1000 + step))
    path = "/api/v1/jobs/" + daemon.quoted("shop/statefulset/db/app")
    found = daemon.eventually(lambda: [n for n in tautd.get(path)["notices"] if "Its replicas differ" in n] if daemon.answers(tautd.port, path) else [], 60)
    assert found and "db-0 uses 8192Mi of memory and db-1 200Mi" in found[0], "the job's notice names the two"
    assert found and "where tautd watches the cluster (kubernetes.kubeconfig)" in found[0], "and what a split of the workload needs"
    said = stage.taut(tautd, "get", "job", "shop/statefulset/db/app")
    assert "Its replicas differ" in said.stdout.replace("\n", " "), f"taut get job says it, too: {said.stdout + said.stderr}"
    tautd.stop()
