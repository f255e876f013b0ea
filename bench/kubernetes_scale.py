#!/usr/bin/env python3
"""Measures the time that tautd needs to read a large cluster, and the cost of following its changes.

A simulated API server serves pods of a realistic size (about 5 KB), in pages of 500, and then a watch with changes. Nodes belong to 50
pools with one taint each, and the pods of a workload may run on the nodes of one pool. Budgets: at most 60 s and 1.5 GiB for the first
sync of 100,000 pods on 5,000 nodes, and then at most 10 % of a core.

    python3 bench/kubernetes_scale.py --tautd build/release/bin/tautd --taut build/release/bin/taut
"""
import http.server
import json
import os
import pathlib
import re
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "daemon"))
import daemon  # noqa: E402

MANAGED = [{"manager": m, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": {f"f:field-{i}": {f"f:part-{j}": {} for j in range(6)} for i in range(12)}} for m in
           ("kube-controller-manager", "kubelet")]


POOLS = 50


def node(number):
    pool = f"pool-{number % POOLS}"
    labels = {"pool": pool, "kubernetes.io/hostname": f"node-{number}", "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    labels.update({f"provider.example/label-{i}": "x" * 12 for i in range(15)})
    return {"metadata": {"name": f"node-{number}", "labels": labels},
            "spec": {"taints": [{"key": "pool", "value": pool, "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": str(8 + number % POOLS), "memory": "128Gi"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(number, nodes, version):
    workload = number // 10
    pool = f"pool-{workload % POOLS}"
    resources = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "512Mi"}}
    name = f"web{workload}-5d4f8c7b9d-{number:05x}"
    return {
        "metadata": {"name": name, "namespace": f"team-{workload % 100}", "uid": f"{number:032x}", "resourceVersion": str(version),
                     "labels": {"app": f"web{workload}", "team": f"team-{workload % 100}", "pod-template-hash": "5d4f8c7b9d"},
                     "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"web{workload}-5d4f8c7b9d",
                                          "uid": "0" * 32, "controller": True, "blockOwnerDeletion": True}],
                     "managedFields": MANAGED},
        "spec": {"nodeName": f"node-{number % nodes}", "serviceAccountName": "default", "schedulerName": "default-scheduler",
                 "nodeSelector": {"pool": pool},
                 "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}] * 2 +
                                [{"key": "pool", "operator": "Equal", "value": pool, "effect": "NoSchedule"}],
                 "containers": [{"name": "app", "image": "registry.example/web:1", "resources": resources,
                                 "env": [{"name": f"VARIABLE_{i}", "value": "x" * 20} for i in range(10)]}]},
        "status": {"phase": "Running", "qosClass": "Burstable", "podIP": "10.0.0.1",
                   "conditions": [{"type": t, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"} for t in
                                  ("Initialized", "Ready", "ContainersReady", "PodScheduled")],
                   "containerStatuses": [{"name": "app", "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                                          "image": "registry.example/web:1", "resources": resources}]}}


def owners(pods):
    """Returns the namespaces and Deployments of the pods, by the path of the API's list."""
    namespaces = [{"metadata": {"name": f"team-{i}", "resourceVersion": "5"}} for i in range(100)]
    deployments = [{"metadata": {"name": f"web{w}", "namespace": f"team-{w % 100}", "resourceVersion": "5"}}
                   for w in range(pods // 10)]
    return {"/api/v1/namespaces": namespaces, "/apis/apps/v1/deployments": deployments}


class Handler(daemon.JsonHandler):
    protocol_version = "HTTP/1.1"
    pages, nodes, changes, lists = [], b"", [], {}

    def send(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(path.query))
        if "watch" in query:
            return self.watch(path.path == "/api/v1/pods")
        if path.path == "/api/v1/pods":
            return self.send(self.pages[int(query.get("continue", 0))])
        if path.path == "/api/v1/nodes":
            return self.send(self.nodes)
        if path.path in self.lists:
            return self.send(self.lists[path.path])
        self.send(b'{"kind":"List","metadata":{"resourceVersion":"1"},"items":[]}')

    def watch(self, pods):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for line in self.changes if pods else []:
                self.wfile.write(line)
                self.wfile.flush()
                time.sleep(0.02)  # 50 changes per second
            time.sleep(600)
        except OSError:
            pass


def usage(pid):
    """Returns CPU seconds and resident MiB."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    ticks = os.sysconf("SC_CLK_TCK")
    return ((int(fields[11]) + int(fields[12])) / ticks, int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024,
            int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024)


def metric(tautd, name):
    found = re.search(rf"^{re.escape(name)} (\S+)$", tautd.ask("/metrics").text, re.M)
    return float(found[1]) if found else 0


def main():
    args = daemon.arguments(__doc__.split("\n")[0], pods=(100_000, "pods"), nodes=(5_000, "nodes"),
                            seconds=(60, "seconds of watching"),
                            owners=(1, "1: namespaces and Deployments can be listed; 0: their lists are empty"))
    page = 500
    for begin in range(0, args.pods, page):
        end = min(begin + page, args.pods)
        following = str(end // page) if end < args.pods else ""
        Handler.pages.append(json.dumps({"kind": "PodList", "metadata": {"resourceVersion": "5", "continue": following},
                                         "items": [pod(i, args.nodes, 5) for i in range(begin, end)]}).encode())
    Handler.nodes = json.dumps({"kind": "NodeList", "metadata": {"resourceVersion": "5"}, "items": [
        node(i) for i in range(args.nodes)]}).encode()
    Handler.changes = [(json.dumps({"type": "MODIFIED", "object": pod(i * 7 % args.pods, args.nodes, 6 + i)}) + "\n").encode()
                       for i in range(50 * args.seconds)]
    if args.owners:
        Handler.lists = {path: json.dumps({"kind": "List", "metadata": {"resourceVersion": "5"}, "items": items}).encode()
                         for path, items in owners(args.pods).items()}
    bytes_of_pods = sum(map(len, Handler.pages))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with daemon.Stage(args) as stage:
        kubeconfig = stage.file("kubeconfig", f"""current-context: t
contexts: [{{name: t, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{server.server_address[1]}"}}}}]
users: [{{name: u, user: {{token: secret}}}}]
""")
        begin = time.monotonic()
        tautd = stage.tautd(config=f"""ingest: {{kubernetes_jobs: containers}}
kubernetes: {{kubeconfig: {kubeconfig}, scrape_interval: 0s}}
""")
        while metric(tautd, "tautd_kubernetes_synced") != 1 or metric(tautd, "tautd_kubernetes_pods") < args.pods:
            time.sleep(0.1)
        synced = time.monotonic() - begin
        cpu, resident, peak = usage(tautd.popen.pid)
        print(f"{args.pods} pods on {args.nodes} nodes, {bytes_of_pods / args.pods / 1024:.1f} KiB each: synced in {synced:.1f} s "
              f"({cpu:.1f} s of CPU), {resident:.0f} MiB, at most {peak:.0f} MiB (budget: 60 s, 1536 MiB)", flush=True)
        time.sleep(15)  # the first pass over all pods
        before, _, _ = usage(tautd.popen.pid)
        began = time.monotonic()
        time.sleep(args.seconds - 20)
        after, resident, peak = usage(tautd.popen.pid)
        share = (after - before) / (time.monotonic() - began)
        print(f"then, with 50 changes of pods a second: {share:.1%} of a core, {resident:.0f} MiB, at most {peak:.0f} MiB "
              "(budget: 10 %)")


if __name__ == "__main__":
    main()
