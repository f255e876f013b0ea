# What the scripts of this folder begin with: machine.py puts it before each, in the machine, for busybox sh. A line "ok" or
# "FAIL" for each thing that is looked at.
MIB=1048576
APPS=/sys/fs/cgroup/apps
cd /tmp
failed=0

check() { # what, then a test(1) expression
  what=$1
  shift
  if [ "$@" ]; then echo "ok    $what"; else
    failed=$((failed + 1))
    echo "FAIL  $what: $*"
  fi
}
until_so() { # seconds, a command that is tried again until it succeeds
  end=$(($(date +%s) + $1))
  shift
  until "$@"; do
    [ "$(date +%s)" -ge $end ] && return 1
    sleep 0.3
  done
}
says() { grep -q "$2" "$1"; } # file, pattern
finish() {
  echo "checked everything, $failed failed"
  [ $failed = 0 ]
}
