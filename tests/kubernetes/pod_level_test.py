#!/usr/bin/env python3
"""Resources of whole pods (spec.resources) in a real cluster, with the alpha feature gate that lets them be resized in place, and with the defaults.

Containers that share the limit of their pod never get more together than it has: a crash loop gets what is left, in its cgroup, and the decision
says so. The only container of a pod has the pod's limit, which is raised. Some three minutes.

    TAUT_KUBERNETES=1 BED_BIN=... tests/kubernetes/pod_level_test.py --tautd build/release/bin/tautd --taut build/release/bin/taut
"""
import json

import first_day_test
import real_cluster_test
from first_day_test import template
from real_cluster_test import MANIFESTS, cgroup_limit, daemon, mebibytes, metric

GATES = "--feature-gates=InPlacePodLevelResourcesVerticalScaling=true,NodeDeclaredFeatures=true"
WHOLE, SIDE = 128, 48  # MiB


def needs(mib):
    return ["sh", "-c", f"sleep 4; dd if=/dev/zero of=/dev/null bs={mib}M count=1 || exit 1; sleep 100000"]


def deployment(name, pod, memory=None, side=None):
    """`pod`: the memory limit of the whole pod in MiB; `memory`: that of the container app; `side`: that of a second one. None: it has none."""
    of_template = template(name, memory or 32, needs(60))
    spec = of_template["spec"]
    spec["resources"] = {"requests": {"cpu": "100m", "memory": f"{pod // 2}Mi"}, "limits": {"cpu": "400m", "memory": f"{pod}Mi"}}
    if memory is None:
        del spec["containers"][0]["resources"]
    if side is not None:
        spec["containers"].append(template(name, side, ["sleep", "100000"])["spec"]["containers"][0] | {"name": "side"})
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": of_template}}


def limits_of(pod):
    return {c["name"]: mebibytes(c["resources"]["limits"]["memory"]) for c in pod["spec"]["containers"] if c.get("resources", {}).get("limits")}


def run(stage, bed):
    for way in ("observe", "act", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    admission = daemon.free_port()
    bed.call_webhook(stage, admission)
    config = first_day_test.CONFIG.format(kubeconfig=bed.kubeconfig_of_tautd(stage), admission=admission)
    tautd = stage.tautd(config=config)
    stage.check(daemon.eventually(lambda: metric(tautd, "tautd_kubernetes_synced") == 1, 30), "tautd lists the pods")
    for item in (deployment("shared", WHOLE, 32, SIDE), deployment("alone", 32)):
        bed.kubectl("apply", "-f", "-", given=json.dumps(item))
    about = lambda name: [d for d in tautd.get("/api/v1/decisions")["decisions"] if f"/{name}/app" in d["job"]]  # noqa: E731

    def pod(name):
        return bed.pods(name)[0]

    stage.check(daemon.eventually(lambda: bed.pods("shared") and limits_of(pod("shared"))["app"] > 32, 60, 0.2),
                "a container is killed, and raised in place", (about("shared"), tautd.output()[-600:]))
    stage.equal(limits_of(pod("shared")), {"app": WHOLE - SIDE, "side": SIDE}, "to what the pod's limit leaves it")
    stage.check(daemon.eventually(lambda: cgroup_limit(pod("shared")) == WHOLE - SIDE, 60, 0.5), "also in the kernel", cgroup_limit(pod("shared")))
    said = lambda: [d["outcome_text"] for d in about("shared")]  # noqa: E731
    stage.check(daemon.eventually(lambda: any("of the whole pod (spec.resources); 80Mi of " in text for text in said()), 30),
                "and the decision says how much fits", said())
    whole = lambda: mebibytes(pod("alone")["spec"]["resources"]["limits"]["memory"])  # noqa: E731
    stage.check(daemon.eventually(lambda: bed.pods("alone") and whole() > 60, 90, 0.5), "the limit of a pod whose only container has none is raised in place",
                (about("alone"), tautd.output()[-600:]))
    stage.check(daemon.eventually(lambda: [d["outcome"] for d in about("alone")][:1] == ["applied"], 60), "and the decision is applied",
                {k: v for k, v in pod("alone")["status"].items() if "esources" in k or k == "resize"})
    # A new pod starts with it: more than its pod has together would not be created.
    before = pod("shared")["metadata"]["name"]
    bed.kubectl("delete", "pod", before)
    stage.check(daemon.eventually(lambda: bed.pods("shared") and pod("shared")["metadata"]["name"] != before, 60), "a new pod is created", about("shared"))
    stage.equal(limits_of(pod("shared")), {"app": WHOLE - SIDE, "side": SIDE}, "with what the pod's limit leaves it")


def main():
    args = daemon.arguments(__doc__.split("\n")[0])
    with daemon.Stage(args) as stage:
        bed = real_cluster_test.Bed(stage, ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"))
        bed.env |= {"BED_APISERVER_FLAGS": GATES, "BED_KUBELET_FLAGS": GATES}
        try:
            bed.up("node")
            run(stage, bed)
        finally:
            bed.down()
        stage.finish()


if __name__ == "__main__":
    main()
