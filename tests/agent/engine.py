"""A Docker engine for one test: private socket, data and cgroup parent, no network, and removed whatever happens."""
import ctypes
import glob
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tarfile
import time

import cell
from cell import daemon

DOCKERD = "/usr/sbin/dockerd"
CGROUPS = "/sys/fs/cgroup"
PATIENCE_S = 20
MNT_DETACH = 2
LIBC = ctypes.CDLL(None, use_errno=True)


def lacking():
    """Returns why no engine can be started here; None: it can."""
    if os.geteuid() != 0:
        return "not root"
    if not os.access(DOCKERD, os.X_OK):
        return f"{DOCKERD} is not installed (see tools/packages.txt)"
    return None if os.access(CGROUPS, os.W_OK) else "cgroups are read-only here"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("docker", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


def pids_below(folder):
    """Returns the processes in a cgroup and in the cgroups below it."""
    for procs in glob.glob(f"{folder}/**/cgroup.procs", recursive=True):
        try:
            yield from map(int, pathlib.Path(procs).read_text().split())
        except OSError:
            pass


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def processes_of(folder):
    """Returns the processes whose command line contains the private folder: shims and the engine's containerd."""
    for entry in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if f"{folder}/exec/".encode() in pathlib.Path(entry).read_bytes():
                yield int(entry.split("/")[2])
        except OSError:
            pass


def sweep(folder, parent):
    """Removes the remains of an engine in `folder`: processes, cgroups, mounts, files."""
    kill(processes_of(folder))
    for top in glob.glob(f"{CGROUPS}/*/{parent}") + glob.glob(f"{CGROUPS}/{parent}"):
        end = time.monotonic() + PATIENCE_S
        while os.path.exists(top) and time.monotonic() < end:
            kill(pids_below(top))
            for group, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(group)
                except OSError:
                    time.sleep(0.02)
    mounts = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    for mount in reversed(mounts):
        if mount.startswith(f"{folder}/"):
            LIBC.umount2(mount.encode(), MNT_DETACH)
    shutil.rmtree(folder, ignore_errors=True)


def start_sweeper(folder, parent):
    """Starts a child that sweeps if this test is killed: it waits for the pipe to break. Returns the pipe's end; a byte in it means that
    there is nothing to sweep."""
    waits, held = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(held)
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)
        if os.read(waits, 1) == b"":
            # The engine gets its own signal, and some time to end.
            daemon.eventually(lambda: not os.path.exists(f"{folder}/pid"), PATIENCE_S)
            sweep(folder, parent)
        os._exit(0)
    os.close(waits)
    return held


class Engine:
    """`with Engine(stage, programs) as docker`: an engine, and an image "load:1" with these programs in /bin."""

    def __init__(self, stage, programs):
        self.dir = stage.dir / "docker"
        self.socket = self.dir / "sock"
        self.parent = f"taut-docker-{os.getpid()}"
        self.dir.mkdir()
        self.sweeper = start_sweeper(self.dir, self.parent)
        try:
            self.start()
            self.make_image(programs)
        except BaseException:
            self.end()
            raise

    def start(self):
        (self.dir / "none.json").write_text("{}")  # not the machine's configuration
        argv = [DOCKERD, "--data-root", self.dir / "data", "--exec-root", self.dir / "exec",
                "--pidfile", self.dir / "pid", "-H", f"unix://{self.socket}",
                "--bridge=none", "--iptables=false", "--ip6tables=false",
                "--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", f"/{self.parent}",
                "--config-file", self.dir / "none.json"]

        def in_child():
            LIBC.prctl(daemon.PR_SET_PDEATHSIG, signal.SIGTERM)
            os.setsid()

        with open(self.dir / "log", "ab") as log:
            self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=in_child)

        def answers():
            try:
                return self.ask("GET", "/_ping") == b"OK"
            except OSError:
                return False

        if not daemon.eventually(answers, PATIENCE_S):
            raise RuntimeError(f"dockerd did not start:\n{(self.dir / 'log').read_text()[-3000:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        try:
            for container in json.loads(self.ask("GET", "/containers/json?all=1")):
                self.ask("DELETE", f"/containers/{container['Id']}?force=1&v=1")
        except (OSError, RuntimeError, http.client.HTTPException) as error:
            print(f"containers could not be removed: {error}")
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        sweep(self.dir, self.parent)
        os.write(self.sweeper, b"x")
        os.close(self.sweeper)

    # ---- a client's actions ----

    def ask(self, method, path, body=None, kind="application/json"):
        """Returns the body of the response; raises RuntimeError if it is an error."""
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, f"/v1.41{path}", body, {"Content-Type": kind} if body else {})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode(errors='replace')}")
        return text

    def make_image(self, programs):
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as files:
            for program in programs:
                files.add(program, f"bin/{pathlib.Path(program).name}")
                loads = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
                for library in re.findall(r"(/\S+) \(0x", loads):
                    files.add(os.path.realpath(library), library.lstrip("/"))
        self.ask("POST", "/images/create?fromSrc=-&repo=load&tag=1", tar.getvalue(), "application/x-tar")

    def run(self, name, argv, compose=None, **host_config):
        """Starts a container and returns its id. `compose`: (project, service)."""
        labels = {}
        if compose:
            labels = {"com.docker.compose.project": compose[0], "com.docker.compose.service": compose[1]}
        made = self.ask("POST", f"/containers/create?name={name}", json.dumps(
            {"Image": "load:1", "Cmd": argv, "Labels": labels, "HostConfig": {"NetworkMode": "none", **host_config}}))
        self.ask("POST", f"/containers/{json.loads(made)['Id']}/start")
        return json.loads(made)["Id"]

    def inspect(self, name):
        return json.loads(self.ask("GET", f"/containers/{name}/json"))

    def group(self, container):
        """Returns the container's cgroup, for reading (groups.Group)."""
        return ContainerGroup(self.parent, container)


class ContainerGroup(cell.groups.Group):
    """A cgroup that the engine creates and removes."""

    def __init__(self, parent, container):  # pylint: disable=super-init-not-called
        class Parent:
            name = parent
            hierarchies = cell.groups.hierarchies()
            v2 = set(hierarchies) == {"unified"}

        self.tree, self.name, self.v2 = Parent, container, Parent.v2
