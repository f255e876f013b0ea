#!/bin/sh
# build.sh [TAG]: builds the image TAG (default: tautline) from the packages in out/, which ./dev package creates.
# ENGINE is the container engine (default: docker), and BASE is the base image. BASE=scratch creates a base image from Debian packages
# with debootstrap (as root), for machines that reach a Debian mirror but no image registry.
set -eu
cd "$(dirname "$0")/../.."
engine=${ENGINE:-docker}
base=${BASE:-debian:12-slim}
tag=${1:-tautline}
ls out/tautd_*.deb out/taut_*.deb >/dev/null || { echo "build.sh: no packages in out/: run ./dev package first" >&2; exit 1; }
if [ "$base" = scratch ]; then
  command -v debootstrap >/dev/null || { echo "build.sh: BASE=scratch needs debootstrap" >&2; exit 1; }
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  debootstrap --variant=minbase bookworm "$root" >/dev/null
  cp /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || true
  cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$root/etc/apt/" 2>/dev/null || true
  tar -C "$root" -c . | "$engine" import - tautline-base:12 >/dev/null
  base=tautline-base:12
fi
# The build context contains only out/.
context=$(mktemp -d)
mkdir "$context/out"
cp out/*.deb "$context/out/"
cp packaging/container/Containerfile "$context/Containerfile"
"$engine" build ${BUILD_OPTIONS:-} --build-arg BASE="$base" -t "$tag" -f "$context/Containerfile" "$context"
rm -rf "$context"
"$engine" run --rm --entrypoint /usr/bin/tautd "$tag" --version
