#!/usr/bin/env python3
"""The commands of README that ask a daemon run as they are printed there."""
import os
import pathlib
import time

import daemon

README = pathlib.Path(__file__).resolve().parent.parent.parent / "README.md"
MIB = 2**20


def blocks(heading):
    """The shell blocks under this heading."""
    section = README.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [piece.split("```")[0] for piece in section.split("```sh\n")[1:]]


def body(at, seconds):
    """A container of README's job: shop/deployment/web/app, with half a core and 300 MiB of 2 cores and a GiB."""
    its = {"namespace": "shop", "pod": "web-5d9c7-x2x4z", "container": "app", "image": "x"}
    limit = {"__name__": "kube_pod_container_resource_limits", **{k: its[k] for k in ("namespace", "pod", "container")}}
    return daemon.write_body([
        ({"__name__": "container_cpu_usage_seconds_total", **its}, [(at, 0.5 * seconds)]),
        ({"__name__": "container_memory_working_set_bytes", **its}, [(at, 300 * MIB)]),
        ({**limit, "resource": "cpu"}, [(at, 2)]), ({**limit, "resource": "memory"}, [(at, 1024 * MIB)]),
        ({"__name__": "kube_pod_owner", "namespace": "shop", "pod": its["pod"], "owner_kind": "ReplicaSet", "owner_name": "web-5d9c7", "owner_is_controller": "true"}, [(at, 1)]),
        ({"__name__": "kube_replicaset_owner", "namespace": "shop", "replicaset": "web-5d9c7", "owner_kind": "Deployment", "owner_name": "web", "owner_is_controller": "true"}, [(at, 1)])])


def main():
    with daemon.Stage(daemon.arguments(__doc__)) as stage:
        commands = [b for b in blocks("Watch your own cluster") if "taut jobs" in b]
        stage.equal(len(commands), 1, "README has one block of commands that ask a daemon")
        lines = [line for line in commands[0].splitlines() if line.startswith("taut ")]
        stage.check(len(lines) >= 4, "with these commands", commands[0])
        tautd = stage.tautd(config="clock: samples\n")
        begin = int(time.time()) // 300 * 300 - 26 * 3600
        for step in range(0, 25 * 3600, 150):
            answer = daemon.write(tautd.port, body(begin + step, 1000 + step))
            if answer.status != 204:
                raise RuntimeError(f"the write was answered with {answer.status}: {answer.text}")
        daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= begin + 88_000, 60)
        # README's address is the default; a test has a port of its own.
        env = {**os.environ, "PATH": f"{pathlib.Path(stage.args.taut).resolve().parent}:{os.environ['PATH']}", "TAUT_SERVER": f"http://127.0.0.1:{tautd.port}"}
        for line in lines:
            said = stage.run("bash", "-e", "-c", line, env=env)
            stage.check(said.returncode == 0 and said.stdout.strip(), f"`{line}` runs", said.stdout[-300:] + said.stderr[-300:])
        stage.equal(tautd.get("/api/v1/jobs/" + daemon.quoted("shop/deployment/web/app"))["mode"], "canary", "and the job is in the mode that README sets")
        tautd.stop()
        stage.finish()


if __name__ == "__main__":
    main()
