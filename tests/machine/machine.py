#!/usr/bin/env python3
"""A throw-away machine with cgroup v2: Debian's cloud kernel under QEMU, in memory alone, up in five seconds.

    machine.py [--binary BIN]... [--forward HOSTPORT:GUESTPORT] [--memory MIB] [--seconds S] [--systemd] -- 'COMMAND'

COMMAND is run by sh as root with the binaries (and their libraries) in PATH, cgroup2 at /sys/fs/cgroup with all
controllers enabled, 256 MiB of swap, and /disk, a file system on a block device, to work in. The exit code is COMMAND's;
77 if such a machine cannot run here, 124 if it took too long. Nothing is installed: the kernel's package is
fetched by its name through apt and unpacked below the build tree, as is, with --systemd, a Debian that boots systemd.
The machine sees no network; --forward lets 127.0.0.1:HOSTPORT in to its GUESTPORT.
"""
import argparse
import contextlib
import ctypes
import fcntl
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED, TOO_LONG = 77, 124
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
SYSTEMD_MIB = 512  # its files lie in memory
KERNEL_PACKAGE = "linux-image-cloud-amd64"  # depends on the newest kernel's
# Modules in the order of their dependencies; 9p is not in this kernel.
MODULES = ("virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover net_failover virtio_net "
           "zsmalloc lzo lzo-rle zram").split()

# Script of both machines; /taut contains this run's files, and busybox for other commands.
RUN = """
/bin/busybox --install -s /taut/busybox
export PATH=/taut/bin:$PATH:/taut/busybox HOME=/root GTEST_COLOR=no
for m in @MODULES@; do insmod /taut/modules/$m.ko 2>/dev/null; done
ip link set lo up
ip link set eth0 up 2>/dev/null && ip addr add 10.0.2.15/24 dev eth0
if [ -e /sys/block/zram0 ]; then
  echo 256M >/sys/block/zram0/disksize && /taut/busybox/mkswap /dev/zram0 >/dev/null && /taut/busybox/swapon /dev/zram0
  disk=$(cat /sys/class/zram-control/hot_add)
  echo 256M >/sys/block/zram$disk/disksize && /taut/busybox/mke2fs -b 4096 /dev/zram$disk >/dev/null
  mkdir -p /disk && mount -t ext4 /dev/zram$disk /disk
fi
cd /disk
echo "MACHINE-READY $(cut -d' ' -f1 /proc/uptime)"
sh /taut/command
echo "MACHINE-ENDED $?"
sync
/bin/busybox poweroff -f
""".replace("@MODULES@", " ".join(MODULES))

BUSYBOX_INIT = """#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
busybox mount -t tmpfs tmp /tmp
busybox mount -t cgroup2 none /sys/fs/cgroup
echo "+cpu +memory +io +pids +cpuset" >/sys/fs/cgroup/cgroup.subtree_control
export PATH=/bin
exec /bin/busybox sh /taut/run
"""

# systemd runs COMMAND when everything that a service needs is up.
SYSTEMD_FILES = {
    "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "etc/hostname": "taut-machine\n",
    "etc/systemd/system/taut.target": "[Unit]\nRequires=basic.target taut.service\nAllowIsolate=yes\n",
    "etc/systemd/system/taut.service": "[Service]\nExecStart=/bin/sh /taut/run\nStandardOutput=tty\n"
                                       "StandardError=tty\nTTYPath=/dev/ttyS0\n",
}


class Unavailable(Exception):
    """Raised if no such machine can run here; contains the reason."""


def cache_dir():
    return ROOT / os.environ.get("TAUT_BUILD_ROOT", "build") / "machine"


@contextlib.contextmanager
def only_one(cache):
    """Lets one process at a time make the cached files."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def said_by(*command, cwd=None, seconds=600):
    """Returns the standard output of a command that must succeed."""
    try:
        ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from error
    if ended.returncode != 0:
        raise Unavailable(f"{' '.join(map(str, command))}: {ended.stderr.strip()[-500:]}")
    return ended.stdout


def need(*programs):
    missing = [p for p in programs if shutil.which(p) is None]
    if missing:
        raise Unavailable(f"{', '.join(missing)} not installed (see tools/packages.txt)")


def kernel():
    """Returns the folder of an unpacked kernel package."""
    unpacked = cache_dir() / "kernel"
    with only_one(cache_dir()):
        if glob.glob(str(unpacked / "boot" / "vmlinuz-*")):
            return unpacked
        need("apt-get", "apt-cache", "dpkg")
        depends = re.search(r"Depends: (linux-image-\S+)", said_by("apt-cache", "depends", KERNEL_PACKAGE))
        if not depends:
            raise Unavailable(f"apt knows no {KERNEL_PACKAGE} (apt-get update)")
        with tempfile.TemporaryDirectory(dir=cache_dir()) as work:
            said_by("apt-get", "download", depends[1], cwd=work)
            said_by("dpkg", "-x", *glob.glob(f"{work}/*.deb"), f"{work}/kernel")
            os.rename(f"{work}/kernel", unpacked)
    return unpacked


def copy_program(binary, root):
    """Copies a binary without its debugging symbols to /taut/bin, and the libraries that it loads."""
    target = root / "taut/bin" / pathlib.Path(binary).name
    if not shutil.which("strip") or subprocess.run(["strip", "-o", target, binary], capture_output=True,
                                                   check=False).returncode != 0:
        shutil.copy(binary, target)
    loads = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", loads):
        copy = root / library.lstrip("/")
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, copy)


def fill(root, unpacked, binaries, command):
    """Adds the files of a run below /taut of a root folder."""
    for folder in ("bin", "taut/bin", "taut/busybox", "taut/modules"):
        (root / folder).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin/busybox")
    for module in MODULES:
        for path in glob.glob(f"{unpacked}/lib/modules/*/**/{module}.ko", recursive=True):
            shutil.copy(path, root / "taut/modules")
    (root / "taut/command").write_text(command + "\n")
    (root / "taut/run").write_text(RUN)
    for binary in binaries:
        copy_program(binary, root)


def archive(folder, target):
    """Appends a folder to an initramfs: the kernel unpacks one archive over the other."""
    with subprocess.Popen(["find", ".", "-print0"], cwd=folder, stdout=subprocess.PIPE) as names, \
            subprocess.Popen(["cpio", "-o", "-H", "newc", "-0", "--quiet", "-R", "0:0"], cwd=folder,
                             stdin=names.stdout, stdout=subprocess.PIPE) as packed, \
            open(target, "ab") as out:
        if subprocess.run(["gzip", "-1"], stdin=packed.stdout, stdout=out, check=False).returncode != 0:
            raise Unavailable(f"{target} cannot be written")


def add_busybox_root(root):
    for folder in ("proc", "sys", "dev", "tmp", "run", "etc", "root"):
        (root / folder).mkdir(exist_ok=True)
    (root / "bin/sh").symlink_to("busybox")
    (root / "init").write_text(BUSYBOX_INIT)
    (root / "init").chmod(0o755)


def merge_usr(root):
    """Moves files to /usr: /bin and /lib of a Debian are links into /usr."""
    for folder in ("bin", "lib", "lib64"):
        if (root / folder).exists():
            (root / "usr").mkdir(exist_ok=True)
            shutil.copytree(root / folder, root / "usr" / folder, dirs_exist_ok=True)
            shutil.rmtree(root / folder)


def systemd_archive():
    """Makes a Debian with systemd by debootstrap, from apt's package sources; made once."""
    cached = cache_dir() / "systemd.cpio.gz"
    with only_one(cache_dir()):
        if cached.exists():
            return cached
        need("apt-get", "debootstrap")
        if os.geteuid() != 0:
            raise Unavailable("not root: debootstrap cannot make a system with systemd")
        sources = said_by("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Identifier: Packages")
        source = re.search(r"^(\S+/debian/?) ([a-z]+)$", sources, re.MULTILINE)
        if not source:
            raise Unavailable("apt has no source of Debian packages")
        with tempfile.TemporaryDirectory(dir=cache_dir()) as work:
            said_by("debootstrap", "--variant=minbase", "--include=systemd", source[2], f"{work}/root",
                    source[1])
            for dear in ("usr/share/doc", "usr/share/locale", "usr/share/man", "var/cache/apt", "var/lib/apt"):
                shutil.rmtree(f"{work}/root/{dear}", ignore_errors=True)
            for name, text in SYSTEMD_FILES.items():
                pathlib.Path(work, "root", name).write_text(text)
            archive(f"{work}/root", f"{work}/archive")
            os.rename(f"{work}/archive", cached)
    return cached


def qemu(unpacked, initramfs, memory, forward, kernel_words):
    """Returns the command that runs the machine; its serial line is standard output."""
    let_in = ""
    if forward:
        host, guest = forward.split(":")
        let_in = f",hostfwd=tcp:127.0.0.1:{host}-:{guest}"
    return ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2",
            "-m", str(memory), "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot",
            "-netdev", f"user,id=n,restrict=on{let_in}", "-device", "virtio-net-pci,netdev=n,romfile=",
            "-kernel", *glob.glob(f"{unpacked}/boot/vmlinuz-*")[:1], "-initrd", initramfs,
            "-append", f"console=ttyS0 quiet panic=-1 psi=1 {kernel_words}"]


def watch(command, seconds, show):
    """Returns (exit code of COMMAND, its output). `show` gets each line; without output of COMMAND, all lines of the boot."""
    boot, said, code = [], None, None
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)) as machine:
        timer = threading.Timer(seconds, machine.kill)
        timer.start()
        try:
            for line in machine.stdout:
                line = line.rstrip("\r\n")
                if ended := re.search(r"MACHINE-ENDED (\d+)$", line):
                    code = int(ended[1])
                elif line.startswith("MACHINE-READY"):
                    said = []
                    show(f"machine: up after {line.split()[1]} s")
                elif said is not None and code is None:
                    said.append(line)
                    show(line)
                else:
                    boot.append(line)
        finally:
            timer.cancel()
            machine.kill()
    if said is None:
        for line in boot[-50:]:
            show(line)
    return (TOO_LONG if code is None else code), "\n".join(said or [])


def run(command, binaries=(), memory=768, seconds=240, forward=None, systemd=False, show=print):
    """Boots, runs COMMAND and returns (its exit code, its output). Raises Unavailable."""
    need("qemu-system-x86_64", "busybox", "cpio")
    unpacked = kernel()
    with tempfile.TemporaryDirectory(prefix="taut-machine-") as work:
        root, initramfs = pathlib.Path(work) / "root", pathlib.Path(work) / "initramfs"
        root.mkdir()
        fill(root, unpacked, binaries, command)
        kernel_words = ""
        if systemd:
            shutil.copy(systemd_archive(), initramfs)
            merge_usr(root)
            kernel_words = "rdinit=/usr/lib/systemd/systemd systemd.unit=taut.target systemd.show_status=0"
            memory += SYSTEMD_MIB
        else:
            add_busybox_root(root)
        archive(root, initramfs)
        return watch(qemu(unpacked, initramfs, memory, forward, kernel_words), seconds, show)


def passes_tests(binary, pattern, may_skip=(), **options):
    """Runs the tests of a gtest binary that match a pattern in the machine. A test that skips itself there has failed, unless it is in
    `may_skip`."""
    import pytest  # pylint: disable=import-outside-toplevel  # the machine alone needs none
    command = f"{pathlib.Path(binary).name} --gtest_filter='{pattern}'"
    try:
        code, said = run(command, [binary], **options)
    except Unavailable as why:
        pytest.skip(str(why))
    skipped = set(re.findall(r"\[  SKIPPED \] (\w+\.\w+)", said)) - set(may_skip)
    assert not skipped, f"skipped themselves: {', '.join(sorted(skipped))}"
    passed = re.search(r"\[  PASSED  \] (\d+) test", said)
    assert code == 0 and passed and passed[1] != "0", f"exit code {code}: {said[-3000:]}"


def passes_script(name, binaries, **options):
    """Runs checks.sh and the script NAME of this folder in the machine."""
    import pytest  # pylint: disable=import-outside-toplevel
    here = pathlib.Path(__file__).resolve().parent
    script = (here / "checks.sh").read_text() + (here / name).read_text()
    try:
        code, said = run(script, binaries, **options)
    except Unavailable as why:
        pytest.skip(str(why))
    assert code == 0 and "checked everything, 0 failed" in said, f"exit code {code}: {said[-3000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", action="append", default=[], help="a program to take along; may be given again")
    parser.add_argument("--forward", help="HOSTPORT:GUESTPORT of TCP, from 127.0.0.1")
    parser.add_argument("--memory", type=int, default=768, help="MiB (768)")
    parser.add_argument("--seconds", type=int, default=240, help="at most so long (240)")
    parser.add_argument("--systemd", action="store_true", help="boot systemd, and run COMMAND under it")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    try:
        code, _ = run(" ".join(args.command), args.binary, args.memory, args.seconds, args.forward, args.systemd,
                      show=lambda line: print(line, flush=True))
    except Unavailable as why:
        print(f"SKIPPED: {why}")
        code = SKIPPED
    sys.exit(code)


if __name__ == "__main__":
    main()
