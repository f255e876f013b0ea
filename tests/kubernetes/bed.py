"""A real cluster for tests: etcd, an API server and a kubelet that up.sh builds and starts, and functions to read it."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
MANIFESTS = HERE.parent.parent / "packaging" / "kubernetes"
MIB = 1 << 20
CONTROL = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
NODE = (*CONTROL, "kubelet")


class Unavailable(Exception):
    """Raised if no cluster can run here."""


class Bed:
    def __init__(self, stage, programs=NODE, part="kubernetes"):
        self.bin = pathlib.Path(os.environ.get("BED_BIN") or HERE / "bin")
        missing = [p for p in programs if not (self.bin / p).exists()]
        no_node = "kubelet" in programs and (os.getuid() != 0 or shutil.which("containerd") is None)
        if missing or no_node or "TAUT_KUBERNETES" not in os.environ:
            why = f"{', '.join(missing)} not built in {self.bin}" if missing else "it needs root, containerd and a request"
            raise Unavailable(f"{why}: run ./dev test {part}")
        self.env = {**os.environ, "BED_BIN": str(self.bin), "BED_STATE": str(stage.dir / "bed")}
        self.config = stage.dir / "bed" / "admin.conf"

    def up(self, *parts):
        subprocess.run([HERE / "up.sh", "up", *parts], env=self.env, check=True, stdout=subprocess.DEVNULL, timeout=300)

    def down(self):
        subprocess.run([HERE / "up.sh", "down"], env=self.env, check=False, timeout=120)

    def kubectl(self, *argv, given=None, timeout=60):
        return subprocess.run([self.bin / "kubectl", "--kubeconfig", self.config, *argv], input=given, text=True,
                              check=True, capture_output=True, timeout=timeout).stdout

    def pods(self, app="web"):
        """Returns the pods that are not terminating, newest first."""
        found = json.loads(self.kubectl("get", "pods", "-l", f"app={app}", "--show-managed-fields", "-o", "json"))["items"]
        found = [p for p in found if "deletionTimestamp" not in p["metadata"]]
        return sorted(found, key=lambda p: p["metadata"]["creationTimestamp"], reverse=True)

    def call_webhook(self, port):
        """Returns the configuration of packaging/kubernetes/webhook with an address, because the bed has no network of Services."""
        webhook = (MANIFESTS / "webhook" / "webhook.yaml").read_text().split("---\n")[-1]
        by_service = "{service: {name: tautd, namespace: tautline, path: /admit}}"
        assert by_service in webhook, "the webhook of the manifests is called through the Service"
        self.kubectl("apply", "-f", "-", given=webhook.replace(by_service, f'{{url: "https://127.0.0.1:{port}/admit"}}'))

    def kubeconfig_of_tautd(self, stage):
        """Writes a kubeconfig with a token of tautd's service account only."""
        token = self.kubectl("create", "token", "tautd", "-n", "tautline").strip()
        text = re.sub(r"user: \{client-certificate-data.*\}\}\]", f"user: {{token: {token}}}}}]", self.config.read_text())
        assert "token:" in text and "client-key" not in text, "tautd has a token only"
        return stage.file("kubeconfig", text)

    def apiserver(self):
        return int((self.config.parent / "pid" / "apiserver").read_text().split()[0])


@contextlib.contextmanager
def up(stage, *parts, programs=NODE, flags="", part="kubernetes"):
    """Starts a cluster with these parts of up.sh, and removes it whatever happens. `flags`: of the API server and the kubelet."""
    import pytest  # pylint: disable=import-outside-toplevel  # benchmarks use this file without it
    try:
        its = Bed(stage, programs, part)
    except Unavailable as why:
        pytest.skip(str(why))
    if flags:
        its.env |= {"BED_APISERVER_FLAGS": flags, "BED_KUBELET_FLAGS": flags}
    try:
        its.up(*parts)
        yield its
    except subprocess.CalledProcessError as e:
        raise AssertionError(f"{e}: {e.stderr}") from e
    finally:
        its.down()


def mebibytes(quantity):
    units = {"Ki": 1 / 1024, "Mi": 1, "Gi": 1024}
    return int(quantity[:-2]) * units[quantity[-2:]] if quantity[-2:] in units else int(quantity) / MIB


def limit_of(pod):
    return mebibytes(pod["spec"]["containers"][0]["resources"]["limits"]["memory"])


def restarts_of(pod):
    statuses = pod["status"].get("containerStatuses")
    return statuses[0]["restartCount"] if statuses else None  # not started yet


def cgroup_limit(pod):
    """Returns the kernel's limit, in MiB; None before the container runs."""
    status = next(s for s in pod["status"]["containerStatuses"] if s["name"] == "app")
    container = status.get("containerID", "").removeprefix("containerd://")
    for file in pathlib.Path("/sys/fs/cgroup").glob(f"**/pod{pod['metadata']['uid']}/{container or 'none'}/memory*"):
        if file.name in ("memory.limit_in_bytes", "memory.max"):
            return int(file.read_text()) / MIB
    return None


def millicores(quantity):
    return int(quantity[:-1]) if quantity.endswith("m") else 1000 * int(quantity)


def cpu_limit_of(pod):
    return millicores(pod["spec"]["containers"][0]["resources"]["limits"]["cpu"])


def cgroup_cpu_limit(pod):
    """Returns the kernel's limit, in millicores; None before the container runs."""
    container = pod["status"].get("containerStatuses", [{}])[0].get("containerID", "").removeprefix("containerd://")
    for file in pathlib.Path("/sys/fs/cgroup").glob(f"**/pod{pod['metadata']['uid']}/{container or 'none'}/cpu.*"):
        if file.name == "cpu.cfs_quota_us":
            return int(file.read_text()) // 100
        if file.name == "cpu.max":
            quota, period = file.read_text().split()
            return 1000 * int(quota) // int(period)
    return None


def deployment(name, replicas=1, memory="128Mi, 256Mi", command='[sleep, "100000"]'):
    """Returns a deployment of one container, app, on the real node. memory: request and limit."""
    request, limit = memory.split(", ")
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      terminationGracePeriodSeconds: 1
      nodeSelector: {{kubernetes.io/hostname: real-0}}
      containers:
      - name: app
        image: bed.local/busybox:1
        command: {command}
        resources: {{requests: {{cpu: 100m, memory: {request}}}, limits: {{cpu: 200m, memory: {limit}}}}}
"""
