"""Shared parts of the tests of a first day: the defaults, and pods of the real node."""

CONFIG = """actuator: {{kind: kubernetes}}
kubernetes: {{kubeconfig: {kubeconfig}, admission: {{listen: 127.0.0.1:{admission}, name: 127.0.0.1}}}}
rules:
  - {{name: all, match: {{job: "*"}}, set: {{mode: auto}}}}
"""


def template(name, memory, command, restart="Always", labels=(), annotations=()):
    resources = {"requests": {"cpu": "20m", "memory": f"{memory // 2}Mi"}, "limits": {"cpu": "200m", "memory": f"{memory}Mi"}}
    container = {"name": "app", "image": "bed.local/busybox:1", "command": command, "resources": resources}
    return {"metadata": {"labels": {"app": name, **dict(labels)}, "annotations": dict(annotations)},
            "spec": {"terminationGracePeriodSeconds": 1, "restartPolicy": restart, "nodeSelector": {"kubernetes.io/hostname": "real-0"}, "containers": [container]}}
