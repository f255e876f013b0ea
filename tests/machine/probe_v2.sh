# Run after checks.sh as root in the machine of machine.py: tautlet probes the memory of a group on cgroup v2. The group
# has read a file of 160 MiB once, and reads 60 MiB of it again and again: page cache, as there is no way to reclaim
# other memory without swap.
WORK=$APPS/work

high() { cat $WORK/memory.high; }
mib() { echo $(($(cat $WORK/$1) / MIB)); } # file
is_below() { # MiB
  [ "$(high)" != max ] && [ "$(mib memory.high)" -lt "$1" ]
}
stall() { sed -n 's/^some.*total=//p' $WORK/memory.pressure; }

cat >tautlet.yaml <<'END'
state: /tmp/state
sample: 500ms
find: 1s
probe: {jobs: "apps/*", interval: 1s, target: 30ms, max_probe: 0.08, min: 20MiB}
tasks:
  - {cgroup: "/apps/*", job: "apps/{1}", manage: true, cpu: none, memory: none}
END
mkdir $APPS
echo "+cpu +memory" >$APPS/cgroup.subtree_control
mkdir $WORK
echo 0 >$WORK/memory.swap.max
dd if=/dev/zero of=/disk/file bs=1M count=160 2>/dev/null
sync
echo 3 >/proc/sys/vm/drop_caches
sh -c 'echo $$ >'"$WORK"'/cgroup.procs; cat /disk/file >/dev/null; while true; do dd if=/disk/file of=/dev/null bs=1M count=60 2>/dev/null; done' &
holds() { [ "$(mib memory.current)" -ge 155 ]; }
until_so 30 holds
check "the group holds the file" $? -eq 0
sleep 2
stalled=$(stall)

tautlet --config tautlet.yaml >tautlet.log 2>&1 &
agent=$!
until_so 10 says tautlet.log probe_started
check "its probe begins" $? -eq 0
until_so 30 is_below 100
check "memory.high is below 100 of 160 MiB: what was read once is given back" $? -eq 0
seen=0 lowest=1000 highest=0
while [ $seen -lt 20 ]; do
  sleep 0.5
  seen=$((seen + 1))
  now=$(mib memory.high)
  [ "$now" -lt $lowest ] && lowest=$now
  [ "$now" -gt $highest ] && highest=$now
done
echo "      memory.high $lowest to $highest MiB, in use $(mib memory.current) MiB, stalled $((($(stall) - stalled) / 1000)) ms in all"
check "it stays about what the group reads again" $lowest -ge 50 -a $highest -le 130
check "nothing is killed" "$(grep -h '^oom_kill ' $WORK/memory.events)" = "oom_kill 0"

kill -9 $agent
wait $agent 2>/dev/null
check "a crash leaves the limit" "$(high)" != max
tautlet --config tautlet.yaml --release >release.log 2>&1
check "--release gives memory.high back" "$(high)" = max
tautlet --config tautlet.yaml >>tautlet.log 2>&1 &
agent=$!
until_so 10 is_below 170
check "the next start probes again" $? -eq 0
kill $agent
wait $agent
check "and gives memory.high back when it stops" "$(high)" = max

if [ $failed != 0 ]; then tail -n 40 tautlet.log release.log; fi
finish
