"""A cluster for tests: an API server whose objects and whose pods' usage the test sets, and whose pods get the limits that are written.

Days pass in seconds: the kubelet's samples have their own times, and tautd takes its time from them.
"""
import base64
import contextlib
import copy
import http.client
import http.server
import json
import ssl
import threading
import time
import urllib.parse

import daemon
from daemon import metric

MIB = 1 << 20
START = 1_700_006_400  # a midnight
STEP = 60  # seconds between two samples
JOB = "shop/deployment/web/app"


def mebibytes(quantity):
    """Returns the MiB of "64Mi" or "1000"."""
    return int(quantity[:-2]) if quantity.endswith("Mi") else int(quantity) / MIB


class Cluster:
    """The objects, their events, and the requests that arrived."""

    def __init__(self):
        self.lock = threading.Condition()
        self.version = 10
        self.pods = {}
        self.events = []  # (version, type, object)
        self.requests = []
        self.users = set()  # the Authorization headers of GETs
        self.start = START  # Unix time
        self.seconds = 0  # of usage, since the start
        self.use_mib = 20
        self.scrape_seconds = 6 * 3600  # of usage in each answer of the kubelet
        self.nodes = [{"metadata": {"name": "node-1"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi"},
                                                                  "conditions": [{"type": "Ready", "status": "True"}]}},
                      {"metadata": {"name": "gpu-1"}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
                       "status": {"allocatable": {"cpu": "64", "memory": "16Gi"}, "conditions": []}}]
        self.no_proxy = False
        self.owner = "Deployment"  # of the ReplicaSet
        self.jobs = []  # their metadata
        self.refuse = None  # (status, message) for each resize
        self.refuse_status = None  # likewise for each annotation of a Deployment
        self.hpas = {}
        self.hpa_events = []
        self.scaled_objects = []
        self.deployment = {"metadata": {"name": "web", "namespace": "shop", "uid": "d-1", "annotations": {}}}
        self.deployment_events = []
        self.said = []  # Events
        self.replicas = None
        self.template_memory = "512Mi"  # that the ReplicaSet's template has
        self.is_infeasible = False  # every resize, on the only node
        self.budget = None  # a PodDisruptionBudget that lets no pod be evicted
        self.webhook = {"metadata": {"name": "tautline"}, "webhooks": [{
            "name": "pods.tautline.dev", "clientConfig": {}, "namespaceSelector": {"matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["tautline"]}]}}]}
        self.replaced = 0  # pods, by others that the webhook reviews
        self.workload = None  # the Deployment with its template, where that is set
        self.rollouts = 0
        self.port = None  # of the API server, while it serves
        self.webhook_port = None  # by which pods that replace others are reviewed

    def put(self, pod, what="MODIFIED"):
        with self.lock:
            self.version += 1
            pod["metadata"]["resourceVersion"] = str(self.version)
            self.pods[pod["metadata"]["name"]] = pod
            self.events.append((self.version, what, copy.deepcopy(pod)))
            self.lock.notify_all()

    def scale_by(self, resource):
        """Creates a HorizontalPodAutoscaler of the Deployment on the utilization of this resource; None removes it."""
        hpa = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web"},
            "metrics": [{"type": "Resource", "resource": {"name": resource, "target": {"type": "Utilization", "averageUtilization": 80}}}]}}
        with self.lock:
            self.version += 1
            hpa["metadata"]["resourceVersion"] = str(self.version)
            self.hpas = {"web": hpa} if resource else {}
            self.hpa_events.append((self.version, "ADDED" if resource else "DELETED", hpa))
            self.lock.notify_all()

    def annotate(self, annotations):
        """Sets all annotations of the Deployment."""
        with self.lock:
            self.version += 1
            self.deployment["metadata"].update(annotations=annotations, resourceVersion=str(self.version))
            self.deployment_events.append((self.version, "MODIFIED", copy.deepcopy(self.deployment)))
            self.lock.notify_all()

    def remove(self, name):
        with self.lock:
            self.version += 1
            pod = self.pods.pop(name)
            pod["metadata"]["resourceVersion"] = str(self.version)
            self.events.append((self.version, "DELETED", pod))
            self.lock.notify_all()

    def add(self, name, memory="512Mi", annotations=None, changes=None, started=None, owner=("ReplicaSet", "web-5d4f8c7b9d"), image="registry/app:1"):
        """Adds a pod. `changes`: changes of its resources by the webhook. `started`: Unix time; None: its status lacks it."""
        running = {"startedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started))} if started else {}
        resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": memory}}
        for part in ("requests", "limits"):
            for kind in ("cpu", "memory"):
                resources[part][kind] = (changes or {}).get(f"/spec/containers/0/resources/{part}/{kind}", resources[part][kind])
        self.put({"metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": {"team": "blue"}, "annotations": annotations or {},
                               "ownerReferences": [{"kind": owner[0], "name": owner[1], "controller": True}]},
                  "spec": {"nodeName": "node-1", "initContainers": [{"name": "migrate"}],
                           "containers": [{"name": "app", "image": image, "resources": copy.deepcopy(resources)}]},
                  "status": {"phase": "Running", "qosClass": "Burstable", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [
                      {"name": "app", "restartCount": 0, "state": {"running": running}, "resources": copy.deepcopy(resources)}]}},
                 "ADDED")

    def resize(self, name, patch):
        """Resizes a pod, as the API server and, at once, the kubelet do."""
        with self.lock:
            pod = copy.deepcopy(self.pods[name])
            change = patch["spec"]["containers"][0]["resources"]
            wanted, actual = pod["spec"]["containers"][0]["resources"], pod["status"]["containerStatuses"][0]["resources"]
            if self.is_infeasible:
                pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}, {
                    "type": "PodResizePending", "status": "True", "reason": "Infeasible", "message": "Node didn't have enough capacity"}]
            for resources in (wanted,) if self.is_infeasible else (wanted, actual):
                for part in ("requests", "limits"):
                    resources[part].update(change.get(part, {}))
            pod["metadata"]["managedFields"] = [{"manager": "tautline", "subresource": "resize"}]
            self.put(pod)

    def evict(self, name):
        """Evicts a pod; another one replaces it, which the webhook reviews."""
        self.remove(name)
        with self.lock:
            self.replaced += 1
            bundle = base64.b64decode(self.webhook["webhooks"][0]["clientConfig"]["caBundle"]).decode()
        connection = http.client.HTTPSConnection("127.0.0.1", self.webhook_port, context=ssl.create_default_context(cadata=bundle), timeout=10)
        connection.request("POST", "/admit", json.dumps(review("512Mi")), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["response"]
        changes = {o["path"]: o["value"] for o in json.loads(base64.b64decode(answer.get("patch", "W10=")))}
        self.add(f"web-5d4f8c7b9d-new{self.replaced}", annotations=changes.get("/metadata/annotations"), changes=changes)

    def apply(self, body):
        """Applies a change to the Deployment, server-side; other pods replace the present ones."""
        names = {"app": ["memory", "cpu"]}
        with self.lock:
            self.rollouts += 1
            in_template, applied = self.workload["spec"]["template"], body["spec"]["template"]
            annotations = applied.get("metadata", {}).get("annotations", {})
            in_template["metadata"] = {"annotations": annotations}
            resources = in_template["spec"]["containers"][0]["resources"]
            owned = {}
            for part, amounts in applied["spec"]["containers"][0]["resources"].items():
                resources[part].update(amounts)
                owned[f"f:{part}"] = {f"f:{kind}": {} for kind in names["app"] if kind in amounts}
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.start + self.seconds))
            fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"app"}': {"f:resources": owned}}}}}}
            self.workload["metadata"]["managedFields"] = [{"manager": "tautline", "operation": "Apply", "time": at, "fieldsV1": fields}]
            self.workload["metadata"]["generation"] += 1
            self.workload["status"]["observedGeneration"] += 1
            old = list(self.pods)
        changes = {f"/spec/containers/0/resources/{part}/{kind}": amount for part in resources for kind, amount in resources[part].items()}
        for i, name in enumerate(old):
            self.remove(name)
            self.add(f"web-5d4f8c7b9d-{self.rollouts}x{i}", annotations=annotations, changes=changes)

    def kill_for_memory(self, name, seconds_ago=0, is_restarted=True):
        """Kills a container for its memory. `seconds_ago`: end of its container. A pod that is not restarted has failed."""
        with self.lock:
            pod = copy.deepcopy(self.pods[name])
            status = pod["status"]["containerStatuses"][0]
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.start + self.seconds - seconds_ago))
            end = {"terminated": {"reason": "OOMKilled", "exitCode": 0, "finishedAt": at}}
            if is_restarted:
                status["restartCount"] += 1
                status["lastState"] = end
            else:
                pod["status"]["phase"], status["state"] = "Failed", end
            self.put(pod)

    def limit(self, name):
        with self.lock:
            return mebibytes(self.pods[name]["spec"]["containers"][0]["resources"]["limits"]["memory"])

    def use_of(self, name):
        """Returns the usage of a pod's container, in MiB."""
        return self.use_mib

    def usage(self):
        """Returns the kubelet's text: the samples of some hours at a time."""
        with self.lock:
            begin, self.seconds = self.seconds, self.seconds + self.scrape_seconds
            lines = []
            # Samples are sent by time: with all samples of one pod first, windows would close before the others are read.
            for second in range(begin, self.seconds, STEP):
                at = (self.start + second) * 1000
                for name in self.pods:
                    labels = f'container="app",namespace="shop",pod="{name}"'
                    lines.append(f'container_cpu_usage_seconds_total{{cpu="total",{labels}}} {second * 0.1:.3f} {at}')
                    lines.append(f"container_memory_working_set_bytes{{{labels}}} {self.use_of(name) * MIB} {at}")
                    lines.append(f"container_memory_working_set_bytes{{{labels.replace('app', 'migrate')}}} {400 * MIB} {at}")
        return "\n".join(lines) + "\n"

    def pod_metrics(self):
        """Returns the metrics-server's view: the mean of the last minute of each pod; two and a half minutes pass from one response to the
        next."""
        with self.lock:
            self.seconds += 150
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.start + self.seconds))
            return {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [
                {"metadata": {"name": name, "namespace": "shop"}, "timestamp": at, "window": "1m0.5s", "containers": [
                    {"name": "app", "usage": {"cpu": "125000001n", "memory": f"{self.use_mib * 1024}Ki"}},
                    {"name": "migrate", "usage": {"cpu": "1", "memory": "400Mi"}}]} for name in self.pods]}


class Handler(daemon.JsonHandler):
    cluster = None

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(path.query))
        c = self.cluster
        with c.lock:
            c.requests.append(f"GET {path.path}{' watch' if 'watch' in query else ''}")
            c.users.add(self.headers["Authorization"])
        if path.path == "/api/v1/pods" and "watch" in query:
            return self.watch(c.events, int(query["resourceVersion"]))
        if path.path == "/apis/apps/v1/deployments" and "watch" in query:
            return self.watch(c.deployment_events, int(query["resourceVersion"]))
        if path.path == "/apis/autoscaling/v2/horizontalpodautoscalers" and "watch" in query:
            return self.watch(c.hpa_events, int(query["resourceVersion"]))
        if path.path.startswith("/apis/autoscaling.k8s.io/"):
            return self.answer(404, "404 page not found")
        if "watch" in query:
            return self.watch([], int(query["resourceVersion"]))
        if "/proxy/metrics/" in path.path and c.no_proxy:
            return self.answer(403, json.dumps({"kind": "Status", "message": "nodes \"node-1\" is forbidden: cannot get resource \"nodes/proxy\""}))
        if path.path == "/apis":
            return self.answer(200, json.dumps({"kind": "APIGroupList", "groups": [
                {"name": "apps", "preferredVersion": {"groupVersion": "apps/v1"}},
                {"name": "argoproj.io", "preferredVersion": {"groupVersion": "argoproj.io/v1alpha1"}}]}))
        if path.path == "/apis/argoproj.io/v1alpha1":
            return self.answer(200, json.dumps({"kind": "APIResourceList", "groupVersion": "argoproj.io/v1alpha1", "resources": [
                {"name": "rollouts", "namespaced": True, "kind": "Rollout"},
                {"name": "rollouts/scale", "namespaced": True, "group": "autoscaling", "version": "v1", "kind": "Scale"}]}))
        if path.path == "/apis/metrics.k8s.io/v1beta1/pods":
            return self.answer(200, json.dumps(c.pod_metrics()))
        if path.path.endswith("/proxy/metrics/cadvisor"):
            return self.answer(200, c.usage())
        if path.path.endswith("/proxy/metrics/resource"):
            return self.answer(200, c.usage().replace('cpu="total",', ""))
        if path.path.endswith("/mutatingwebhookconfigurations/tautline"):
            return self.answer(200, json.dumps(c.webhook))
        if path.path.endswith("/deployments/web") and c.workload:
            with c.lock:
                return self.answer(200, json.dumps(c.workload))
        if path.path.endswith("/deployments/web"):
            return self.answer(200, json.dumps({"spec": {"template": {"spec": {"containers": [
                {"name": "app", "resources": {"requests": {"cpu": "100m", "memory": "256Mi"},
                                              "limits": {"cpu": "1", "memory": "1024Mi"}}}]}}}}))
        if path.path.endswith("/namespaces/shop/replicasets"):
            resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": c.template_memory}}
            template = {"spec": {"containers": [{"name": "app", "resources": resources}]}}
            return self.answer(200, json.dumps({"kind": "ReplicaSetList", "metadata": {}, "items": (
                [{"metadata": {"name": "web-5d4f8c7b9d"}, "spec": {"template": template}}]
                if query.get("fieldSelector") == "metadata.name=web-5d4f8c7b9d" else [])}))
        items = []
        with c.lock:
            version = c.version
            if path.path == "/api/v1/pods":
                items = list(c.pods.values())
            if path.path == "/api/v1/namespaces":
                items = [{"metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}}]
            if path.path == "/api/v1/nodes":
                items = c.nodes
            if path.path == "/api/v1/limitranges":
                items = [{"metadata": {"name": "small", "namespace": "shop"}, "spec": {"limits": [
                    {"type": "Container", "min": {"cpu": "20m"}}]}}]
            if path.path == "/apis/apps/v1/deployments":
                items = [copy.deepcopy(c.deployment)]
            if path.path == "/apis/apps/v1/replicasets":
                items = [{"metadata": {"name": "web-5d4f8c7b9d", "namespace": "shop", "ownerReferences": [
                    {"kind": c.owner, "name": "web", "controller": True}]}}]
            if path.path == "/apis/batch/v1/jobs":
                items = [{"metadata": {"namespace": "shop", **metadata}} for metadata in c.jobs]
            if path.path == "/apis/autoscaling/v2/horizontalpodautoscalers":
                items = list(c.hpas.values())
            if path.path == "/apis/keda.sh/v1alpha1/scaledobjects":
                items = c.scaled_objects
            text = json.dumps({"kind": "List", "metadata": {"resourceVersion": str(version)}, "items": items})
        self.answer(200, text)

    def watch(self, events, version):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        c = self.cluster
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with c.lock:
                c.lock.wait(0.2)
                new = [e for e in events if e[0] > version]
            for at, what, pod in new:
                try:
                    self.wfile.write((json.dumps({"type": what, "object": pod}) + "\n").encode())
                    self.wfile.flush()
                except OSError:
                    return
                version = at

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.cluster.lock:
            if self.path.endswith("/events"):
                self.cluster.said.append(body)
            budget = self.cluster.budget
        if self.path.endswith("/eviction"):
            if budget:
                return self.answer(429, json.dumps({"kind": "Status", "code": 429, "message": "Cannot evict pod as it would violate the pod's disruption budget.", "details": {
                    "causes": [{"reason": "DisruptionBudget", "message": f"The disruption budget {budget} needs 2 healthy pods and has 2 currently"}]}}))
            name = self.path.split("/")[-2]
            if body["deleteOptions"]["preconditions"]["uid"] != f"uid-{name}":
                return self.answer(409, json.dumps({"kind": "Status", "message": "the UID in the precondition does not match"}))
            self.cluster.evict(name)
        self.answer(201, json.dumps(body))

    def do_PATCH(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = urllib.parse.urlsplit(self.path).path
        c = self.cluster
        with c.lock:
            c.requests.append(f"PATCH {path} {self.headers['Content-Type']} {json.dumps(body)}")
            refuse = c.refuse
        if path.endswith("/resize"):
            if refuse:
                return self.answer(refuse[0], json.dumps({"kind": "Status", "message": refuse[1]}))
            c.resize(path.split("/")[-2], body)
        if "/mutatingwebhookconfigurations/" in path:
            c.webhook["webhooks"][0]["clientConfig"].update(body["webhooks"][0]["clientConfig"])
        if path.endswith("/deployments/web") and "merge-patch" in self.headers["Content-Type"]:
            if c.refuse_status:
                return self.answer(c.refuse_status[0], json.dumps({"kind": "Status", "message": c.refuse_status[1]}))
            if body["metadata"]["uid"] != c.deployment["metadata"]["uid"]:
                return self.answer(422, json.dumps({"kind": "Status", "message": "metadata.uid: Invalid value: field is immutable"}))
            changed = {**c.deployment["metadata"]["annotations"], **body["metadata"]["annotations"]}
            c.annotate({key: value for key, value in changed.items() if value is not None})
        elif path.endswith("/deployments/web"):
            c.apply(body)
        if path.endswith("/scale"):
            c.replicas = body["spec"]["replicas"]
        self.answer(200, "{}")


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64  # more than the watches that tautd begins at once: of the rest the connections would wait a second


@contextlib.contextmanager
def serving(cluster, handler=Handler):
    """Serves the cluster by an API server, whose port it then has."""
    server = Server(("127.0.0.1", 0), type("Handler", (handler,), {"cluster": cluster}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    cluster.port = server.server_address[1]
    try:
        yield cluster
    finally:
        server.shutdown()
        server.server_close()


def decisions(tautd, target="memory"):
    return [d for d in tautd.get("/api/v1/decisions?limit=1000")["decisions"] if d["target"] == target]


def await_scrapes(tautd, count):
    """Waits until usage was read this many more times, a second or more apart, after which the expected effect must have occurred."""
    name = 'tautd_kubernetes_scrapes_total{result="read"}'
    wanted = (metric(tautd, name) or 0) + count
    assert daemon.eventually(lambda: (metric(tautd, name) or 0) >= wanted, 20 + 2 * count), f"{count} scrapes: {tautd.output()[-500:]}"


def seen_during(tautd, count, value):
    """Returns the values of value() during this many scrapes."""
    name, seen = 'tautd_kubernetes_scrapes_total{result="read"}', set()
    wanted = (metric(tautd, name) or 0) + count
    assert daemon.eventually(lambda: seen.add(value()) or (metric(tautd, name) or 0) >= wanted, 20 + 2 * count, 0.05), f"{count} scrapes: {tautd.output()[-500:]}"
    return seen


def await_pods(tautd, cluster):
    """Waits until tautd has seen all pods."""
    assert daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_pods") == len(cluster.pods), 20), f"pods are seen: {metric(tautd, 'tautd_kubernetes_pods')}"


def container(tautd):
    """Returns the API's view of the job's container; it is absent right after a start."""
    return tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")["container"]


def setting(tautd, key):
    return next(s for s in tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}/settings")["values"] if s["key"] == key)


def review(memory="1024Mi", **more):
    """Returns the review that the API server requests before it creates a pod of the Deployment."""
    resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": memory}}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "r-1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE", "namespace": "shop",
        "object": {"metadata": {"generateName": "web-5d4f8c7b9d-", "ownerReferences": [
            {"kind": "ReplicaSet", "name": "web-5d4f8c7b9d", "controller": True}], **more},
            "spec": {"containers": [{"name": "app", "resources": resources}]}}}}


def owners_limit(tautd):
    """Returns the owner's limit in MiB; 0: not known. It is that of the last window, which after a start may contain pods whose owner's
    limits are not known yet."""
    job = tautd.get(f"/api/v1/jobs/{daemon.quoted(JOB)}")
    return (job["memory"]["owner_limit"] or 0) / MIB
