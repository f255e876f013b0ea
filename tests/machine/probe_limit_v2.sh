# Run after checks.sh as root in the machine of machine.py: two groups of cgroup v2 use 50 MiB again and again, and are
# probed alike. Then the probe pauses, and each group reads 65 MiB more. The limit of one is learnt from what it needs
# (memory.signal: probe), that of the other from its usage. It is page cache, as there is no way to reclaim other
# memory without swap.
SPEED=60 # a window of five minutes goes by in five seconds

answers() { # path; Debian's static wget crashes here
  printf 'GET %s HTTP/1.0\r\n\r\n' "$1" | nc -w 5 127.0.0.1 7070 2>/dev/null
}
told_of() { answers "$1" | grep -q "$2"; }
limit_mib() { # group: its memory.max
  read -r value <$APPS/"$1"/memory.max
  [ "$value" = max ] && value=$((4096 * MIB))
  echo $((value / MIB))
}
is_limited() { [ "$(limit_mib "$1")" -lt "$2" ]; } # group, MiB
kills() { grep -h '^oom_kill ' $APPS/"$1"/memory.events; }

cat >tautd.yaml <<'END2'
clock: samples
ingest: {grace: 0s}
agents: {listen: ["127.0.0.1:7071"]}
actuator: {kind: agents}
defaults: {mode: auto, recommender: peak, change_period: 10m}
rules:
  - {name: probed, match: {job: v2/by-need}, set: {memory.signal: probe}}
recommenders:
  peak: {min_history: 2.5h} # 150 s here: no limit is set before the pause
END2
cat >tautlet.yaml <<END2
name: guest
host: guest
state: /tmp/state
speed: $SPEED
sample: 500ms
find: 1s
daemon: {address: "127.0.0.1:7071"}
probe: {jobs: "v2/*", interval: 1s, target: 100ms, max_probe: 0.03, min: 20MiB, rest: 30s}
tasks:
  - {cgroup: "/apps/*", job: "v2/{1}", manage: true, add_limits: true, cpu: none, memory: hard}
END2
mkdir $APPS
echo "+cpu +memory" >$APPS/cgroup.subtree_control
for g in by-need by-usage; do
  mkdir $APPS/$g
  echo 0 >$APPS/$g/memory.swap.max
  echo $((400 * MIB)) >$APPS/$g/memory.max
  dd if=/dev/zero of=/disk/$g bs=1M count=115 2>/dev/null
done
sync
sleep 1
echo 3 >/proc/sys/vm/drop_caches
# Read several times, so that it counts as in use: the kernel calls what was read once inactive.
for g in by-need by-usage; do
  sh -c 'echo $$ >'"$APPS/$g"'/cgroup.procs
    while true; do
      dd if=/disk/'$g' of=/dev/null bs=1M count=50 2>/dev/null
      if [ -e /tmp/more ] && [ ! -e /tmp/'$g'.held ]; then
        for i in 1 2 3 4; do cat /disk/'$g' >/dev/null; done
        touch /tmp/'$g'.held
      fi
      sleep 0.05
    done' &
done
mib() { echo $(($(cat $APPS/"$1"/memory.current) / MIB)); }
hold() { [ "$(mib by-need)" -ge "$1" ] && [ "$(mib by-usage)" -ge "$1" ]; }
until_so 30 hold 46
check "both groups hold what they use" $? -eq 0

tautd --config tautd.yaml --store memory --listen 127.0.0.1:7070 >tautd.log 2>&1 &
until_so 60 told_of /readyz '^ready' || cat tautd.log
tautlet --config tautlet.yaml >>tautlet.log 2>&1 &
agent=$!
until_so 60 says tautlet.log probe_started
check "their probes begin" $? -eq 0
sleep 25 # five windows
# Readings that come too late, three in a row, release memory.high for a while.
tries=0
until says tautlet.log probe_ended || [ $tries -ge 10 ]; do
  tries=$((tries + 1))
  kill -STOP $agent
  sleep 6.5
  kill -CONT $agent
  sleep 0.3
done
says tautlet.log probe_ended
check "the probe pauses" $? -eq 0
touch /tmp/more
until_so 30 hold 110
check "both groups hold all they read" $? -eq 0
echo "      by-need holds $(mib by-need) MiB, by-usage $(mib by-usage); memory.max $(limit_mib by-need) and $(limit_mib by-usage)"
until_so 180 is_limited by-need 400
check "the limit learnt from the need comes down" $? -eq 0
until_so 60 is_limited by-usage 400
check "and so does the one learnt from the usage" $? -eq 0
sleep 20 # four more windows
need=$(limit_mib by-need) usage=$(limit_mib by-usage)
echo "      figure: memory.max learnt from the need $need MiB, from the usage $usage MiB, of 115 MiB held in the pause and 50 used"
check "that of the need is near it" "$need" -ge 48 -a "$need" -le 90
check "that of the usage holds all" "$usage" -ge 112
check "nothing is killed" "$(kills by-need)$(kills by-usage)" = "oom_kill 0oom_kill 0"
told_of /api/v1/jobs/v2%2Fby-need/explain 'memory.signal: probe'
check "the explanation says of what it was learnt" $? -eq 0
told_of /api/v1/jobs/v2%2Fby-usage/explain 'memory.signal'
check "and of the other says nothing of it" $? -ne 0
kill $agent
wait $agent

if [ $failed != 0 ]; then
  tail -n 30 tautd.log tautlet.log
  for g in by-need by-usage; do
    answers /api/v1/jobs/v2%2F$g/explain
    answers /api/v1/jobs/v2%2F$g
  done
fi
finish
