"""Resources of whole pods (spec.resources) in a real cluster, with the alpha feature gate that lets them be resized in place, and with the defaults.

Containers that share the limit of their pod never get more together than it has: a crash loop gets what is left, in its cgroup, and the decision
says so. The only container of a pod has the pod's limit, which is raised. Some three minutes.
"""
import json

import pytest

import daemon
import first_day
from daemon import metric
from bed import MANIFESTS, cgroup_limit, mebibytes, up
from first_day import template

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


@pytest.fixture(scope="module")
def bed(stage):
    with up(stage, "node", flags=GATES) as its:
        yield its


def about(tautd, name):
    return [d for d in tautd.get("/api/v1/decisions")["decisions"] if f"/{name}/app" in d["job"]]


def test_a_container_gets_what_its_pod_leaves_it(stage, story, bed):
    for way in ("observe", "act", "webhook"):
        bed.kubectl("apply", "-f", str(MANIFESTS / way / "rbac.yaml"))
    admission = daemon.free_port()
    bed.call_webhook(admission)
    config = first_day.CONFIG.format(kubeconfig=bed.kubeconfig_of_tautd(stage), admission=admission)
    story.tautd = stage.tautd(config=config)
    assert daemon.eventually(lambda: metric(story.tautd, "tautd_kubernetes_synced") == 1, 30), "tautd lists the pods"
    for item in (deployment("shared", WHOLE, 32, SIDE), deployment("alone", 32)):
        bed.kubectl("apply", "-f", "-", given=json.dumps(item))
    assert daemon.eventually(lambda: bed.pods("shared") and limits_of(bed.pods("shared")[0])["app"] > 32, 60, 0.2), (
        f"a container is killed, and raised in place: {(about(story.tautd, 'shared'), story.tautd.output()[-600:])}")
    assert limits_of(bed.pods("shared")[0]) == {"app": WHOLE - SIDE, "side": SIDE}, "to what the pod's limit leaves it"
    assert daemon.eventually(lambda: cgroup_limit(bed.pods("shared")[0]) == WHOLE - SIDE, 60, 0.5), (
        f"also in the kernel: {cgroup_limit(bed.pods('shared')[0])}")
    said = lambda: [d["outcome_text"] for d in about(story.tautd, "shared")]  # noqa: E731
    assert daemon.eventually(lambda: any("of the whole pod (spec.resources); 80Mi of " in text for text in said()), 30), (
        f"and the decision says how much fits: {said()}")


def test_the_limit_of_a_pod_of_one_container_is_raised(story, bed):
    whole = lambda: mebibytes(bed.pods("alone")[0]["spec"]["resources"]["limits"]["memory"])  # noqa: E731
    assert daemon.eventually(lambda: bed.pods("alone") and whole() > 60, 90, 0.5), (
        f"the limit of a pod whose only container has none is raised in place: {(about(story.tautd, 'alone'), story.tautd.output()[-600:])}")
    assert daemon.eventually(lambda: [d["outcome"] for d in about(story.tautd, "alone")][:1] == ["applied"], 60), (
        f"and the decision is applied: {{k: v for k, v in bed.pods('alone')[0]['status'].items() if 'esources' in k or k == 'resize'}}")


def test_a_new_pod_starts_with_what_its_pod_leaves(story, bed):
    # A new pod starts with it: more than its pod has together would not be created.
    before = bed.pods("shared")[0]["metadata"]["name"]
    bed.kubectl("delete", "pod", before)
    assert daemon.eventually(lambda: bed.pods("shared") and bed.pods("shared")[0]["metadata"]["name"] != before, 60), (
        f"a new pod is created: {about(story.tautd, 'shared')}")
    assert limits_of(bed.pods("shared")[0]) == {"app": WHOLE - SIDE, "side": SIDE}, "with what the pod's limit leaves it"
