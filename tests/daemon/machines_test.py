#!/usr/bin/env python3
"""The machines of a tautd: a cluster's node with its pods, as it is measured, learnt, killed, damaged and asked for.

The cluster is that of kubernetes_test.py, whose days go by in seconds.
"""
import re
import threading

import daemon
import kubernetes_test
import schema
from kubernetes_test import MIB, Cluster, Handler, Server

DAY = 86400
PODS = ("web-5d4f8c7b9d-2bxnz", "web-5d4f8c7b9d-4vqtr")


def page(tautd, query=""):
    return tautd.get("/api/v1/machines" + query)


def node(tautd):
    """The only machine; None: none is known."""
    machines = page(tautd)["machines"]
    return machines[0] if machines else None


def without_source(stage):
    tautd = stage.tautd()
    stage.equal((page(tautd)["enabled"], page(tautd)["machines"]), (False, []), "without agents and a cluster there are no machines")
    stage.equal(tautd.ask("/api/v1/machines/node-1").status, 404, "and none is found")
    said = stage.taut(tautd, "machines")
    stage.check(said.returncode == 0 and "agents.listen" in said.stdout, "taut machines says what is missing", said.stdout + said.stderr)
    tautd.stop()


def figures(stage, tautd):
    """Of the node, with two pods that ask for 100m and 256Mi each, use 0.1 cores and 20 MiB, and may use 1 core and 512Mi."""
    one = node(tautd)
    cpu, memory = one["cpu"], one["memory"]
    stage.equal((one["name"], one["source"], one["present"], one["ready"], one["tasks"]), ("node-1", "kubernetes", True, True, 2),
                "the node is a machine with two tasks")
    stage.equal((cpu["capacity"], memory["capacity"]), (8, 16384 * MIB), "its capacity is what is allocatable")
    stage.check(abs(cpu["limits"] - 0.2) < 1e-6 and memory["limits"] == 512 * MIB, "limits are the requests of the pods", (cpu, memory))
    stage.check(abs(cpu["usage"] - 0.2) < 0.01 and memory["usage"] == 40 * MIB, "usage is that of the pods", (cpu, memory))
    stage.check(memory["usage"] < memory["reservations"] < 60 * MIB, "reservations have come down to usage and a margin", memory)
    stage.check(abs(memory["reclaimable_now"] - (memory["limits"] - memory["reservations"])) < 1, "reclaimable now: limits less reservations", memory)
    stage.check(abs(memory["reclaimable"] - (memory["capacity"] - memory["predicted"])) < 1, "reclaimable: capacity less prediction", memory)
    detail = tautd.get("/api/v1/machines/node-1?source=kubernetes")
    stage.equal(sorted(t["task"] for t in detail["task_list"]), sorted(PODS), "its tasks are the pods")
    stage.equal({t["job"] for t in detail["task_list"]}, {kubernetes_test.JOB}, "of the job of their container")
    stage.check(all(abs(t["cpu"]["usage"] - 0.1) < 0.01 and t["memory"]["limit"] == 256 * MIB for t in detail["task_list"]),
                "each with its figures", detail["task_list"])
    return detail


def fits(stage, tautd):
    """The answers have the form of openapi.yaml; without PyYAML that is not looked at."""
    try:
        import yaml
    except ImportError:
        return
    schemas = schema.Schemas(yaml.safe_load(tautd.ask("/api/v1/openapi.yaml").text))
    for path, name in (("/api/v1/machines", "MachinePage"), ("/api/v1/machines/node-1", "MachineDetail")):
        wrong = schemas.errors_of(tautd.get(path), {"$ref": f"#/components/schemas/{name}"})
        stage.equal(wrong, [], f"{path} is a {name}")


def asked(stage, tautd):
    fits(stage, tautd)
    for query, status in (("?sort=size", 400), ("?limit=0", 400), ("?order=up", 400), ("?colour=red", 400)):
        stage.equal(tautd.ask("/api/v1/machines" + query).status, status, f"{query} is refused")
    stage.equal(tautd.ask("/api/v1/machines/nobody").status, 404, "an unknown machine is not found")
    stage.equal(page(tautd, "?source=agents")["total"], 0, "no agent has a machine")
    stage.equal(page(tautd, "?search=NODE&sort=cpu_reclaimable&limit=1")["total"], 1, "a search finds it")
    table = stage.taut(tautd, "machines").stdout
    stage.check("node-1" in table and max(map(len, table.splitlines())) <= 100, "taut machines: a table of 100 columns", table)
    one = stage.taut(tautd, "machines", "node-1").stdout
    stage.check(PODS[0] in one and "Memory: the machine has 16.0 GiB" in one, "taut machines node-1", one)
    metrics = tautd.ask("/metrics").text
    for name in ("tautd_machines_capacity", "tautd_machines_reclaimable", "tautd_machines_usage"):
        stage.check(f'{name}{{source="kubernetes",resource="memory"}}' in metrics, f"the metric {name}")
    stage.equal(len(re.findall(r"^tautd_machines_capacity\{", metrics, re.M)), 2, "a series for each resource and source")


def still(stage, cluster, tautd):
    """No further usage comes, and what came is taken in; the page as it then stays."""
    cluster.scrape_seconds = 0
    seen = []

    def settled():
        seen.append(page(tautd))
        return len(seen) > 15 and all(p == seen[-1] for p in seen[-15:])

    stage.check(daemon.eventually(settled, 60, 0.2), "the figures stand still without usage")
    return seen[-1]


def restarts(stage, cluster, start, tautd):
    before = still(stage, cluster, tautd)
    tautd.kill()
    tautd = start()
    stage.equal(page(tautd), before, "a kill -9 and a restart give the same figures")
    stage.equal(tautd.stop(), 0, "tautd stops")
    tautd = start()
    stage.equal(page(tautd), before, "and so does a stop")
    return tautd


def run(stage, cluster, port):
    kubeconfig = stage.kubeconfig("kubeconfig", port)
    config = f"""clock: samples
ingest: {{kubernetes_jobs: containers}}
machines: {{risk: 0.05}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 1s}}
"""
    store = stage.dir / "tautd.db"
    start = lambda: stage.tautd(config=config, store=str(store))  # noqa: E731
    for pod in PODS:
        cluster.add(pod)
    tautd = start()
    measured = lambda: node(tautd) and (node(tautd)["memory"]["reservations"] or 1e12) < 60 * MIB  # noqa: E731
    stage.check(daemon.eventually(measured, 60), "the node is measured", page(tautd))
    detail = figures(stage, tautd)
    stage.equal((page(tautd)["risk"], page(tautd)["horizon_seconds"]), (0.05, DAY), "the ordered risk and the horizon are said")
    stage.equal(node(tautd)["memory"]["learnt"], False, "the machine is not learnt yet")
    stage.check("known for less than 7 days" in " ".join(detail["explanation"]), "which the explanation says", detail["explanation"])
    asked(stage, tautd)

    tautd = restarts(stage, cluster, start, tautd)

    # ---- some weeks, with a kill -9 in the middle ----
    cluster.scrape_seconds = DAY
    stage.check(daemon.eventually(lambda: cluster.seconds > 15 * DAY, 240), "days go by")
    tautd.kill()
    tautd = start()
    learnt = lambda: node(tautd)["memory"]["learnt"]  # noqa: E731
    stage.check(daemon.eventually(learnt, 300, 0.5), "the pool has learnt the machine, over the kill", node(tautd))
    judged = lambda: page(tautd)["delivered"]["memory"]["promises"]["judged"]  # noqa: E731
    stage.check(daemon.eventually(lambda: judged() >= 2, 60), "what is promised is compared with what came", page(tautd)["delivered"])
    before = still(stage, cluster, tautd)
    memory = before["machines"][0]["memory"]
    stage.check(memory["predicted"] < 60 * MIB, "the prediction is near the usage, and not the limits", memory)
    stage.equal(memory["promises"]["passed"], 0, "no promise was broken")
    text = " ".join(tautd.get("/api/v1/machines/node-1")["explanation"])
    stage.check("reclaimable at a risk of 5 % of machine-days" in text and "machine-days of the cell" in text, "the explanation tells the risk", text)

    # ---- the file of machines is damaged ----
    stage.equal(tautd.stop(), 0, "tautd stops")
    file = stage.dir / "tautd.db.machines"
    stage.check(file.stat().st_mode & 0o077 == 0, "the file is its owner's alone")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    tautd = start()
    stage.check("tautd.db.machines: damaged checkpoint" in tautd.output(), "a damaged file is warned of", tautd.output()[-500:])
    stage.equal(page(tautd)["machines"], [], "and begins from nothing")
    cluster.scrape_seconds = 3600
    stage.check(daemon.eventually(lambda: node(tautd) and node(tautd)["memory"]["usage"], 60), "the next windows measure again")

    # ---- a pod goes ----
    cluster.remove(PODS[1])
    stage.check(daemon.eventually(lambda: node(tautd)["tasks"] == 1, 60), "a pod that is gone is no task", node(tautd))


def main():
    args = daemon.arguments(__doc__)
    cluster = Cluster()
    cluster.nodes = cluster.nodes[:1]
    Handler.cluster = cluster
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with daemon.Stage(args) as stage:
        without_source(stage)
        run(stage, cluster, server.server_address[1])
        stage.finish()


if __name__ == "__main__":
    main()
