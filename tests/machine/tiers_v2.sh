# Run after checks.sh as root in the machine of machine.py: tautlet's tiers over groups of cgroup v2. A group of 192 MiB
# without swap stands for the machine.

load() { # group, MiB
  sh -c 'echo $$ >'"$APPS/$1"'/cgroup.procs; exec taut-load --memory '"$2"'MiB --duration 500s' >/dev/null 2>&1 &
}
holds() { # group, MiB
  read -r used <"$APPS/$1/memory.current"
  [ "$used" -ge $(($2 * MIB)) ]
}
limits() { # group
  (cd "$APPS/$1" && echo "$(cat memory.high memory.low memory.min cpu.weight)" | tr '\n' ' ')
}
is_empty() { [ -z "$(cat "$APPS/$1/cgroup.procs")" ]; }
is_high() { # group: throttled?
  read -r high <"$APPS/$1/memory.high"
  [ "$high" != max ]
}

cat >tautlet.yaml <<'END'
state: /tmp/state
sample: 200ms
find: 1s
tiers:
  cpu_weight: {production: 400, batch: 10}
  protect: {production: low}
  guard: {throttle: true, kill: true, of: /apps, throttle_share: 0.25, kill_share: 0.12, last_share: 0.01, after: 3s, calm: 3s}
tasks:
  - {cgroup: /apps/web, job: shop/web, manage: true, cpu: none, memory: none, tier: production, memory_request: 64MiB}
  - {cgroup: "/apps/batch-*", job: "batch/{1}", manage: true, cpu: none, memory: none, tier: batch, memory_request: 10MiB}
END
mkdir $APPS
echo $((192 * MIB)) >$APPS/memory.max
echo 0 >$APPS/memory.swap.max
echo "+cpu +memory" >$APPS/cgroup.subtree_control
for g in web batch-small batch-large; do mkdir $APPS/$g; done
web_was=$(limits web) small_was=$(limits batch-small)

load web 60
load batch-small 20
load batch-large 70
until_so 60 holds batch-large 70
check "the loads hold 150 of 192 MiB" $? -eq 0
tautlet --config tautlet.yaml >tautlet.log 2>&1 &
agent=$!
until_so 60 says tautlet.log task_throttled
check "memory is short: batch tasks are throttled" $? -eq 0
check "with memory.high" "$(cat $APPS/batch-large/memory.high)" != max
check "and not production" "$(cat $APPS/web/memory.high)" = max
check "whose memory is protected" "$(cat $APPS/web/memory.low)" = $((64 * MIB))
check "and which has the weight of its tier" "$(cat $APPS/web/cpu.weight)" = 400
check "as batch has" "$(cat $APPS/batch-small/cpu.weight)" = 10
sleep 5
check "that sufficed: nothing is killed" -z "$(grep task_killed tautlet.log)"

load web 20
until_so 90 says tautlet.log task_killed
check "memory is about to end, and a task is killed" $? -eq 0
grep task_killed tautlet.log | sed 's/^/      /'
until_so 30 is_empty batch-large
check "the one that is furthest over its request" $? -eq 0
check "production lives" -n "$(cat $APPS/web/cgroup.procs)"
check "the other batch task too" -n "$(cat $APPS/batch-small/cgroup.procs)"
check "with the figures in the log" -n "$(grep 'task_killed.*tier=batch.*request_bytes=10485760.*free_bytes=' tautlet.log)"
check "it is no OOM kill" "$(grep -h '^oom_kill ' $APPS/*/memory.events | sort -u)" = "oom_kill 0"
until_so 60 says tautlet.log task_unthrottled
check "throttling ends when memory is free again" $? -eq 0
check "and memory.high is what it was" "$(cat $APPS/batch-small/memory.high)" = max

load batch-large 50
until_so 60 is_high batch-large
check "it is throttled again" $? -eq 0
kill -9 $agent
wait $agent 2>/dev/null
tautlet --config tautlet.yaml --release >release.log 2>&1
check "after a crash --release gives all back" $? -eq 0
check "of batch" "$(limits batch-small)" = "$small_was"
check "and of production" "$(limits web)" = "$web_was"

if [ $failed != 0 ]; then tail -n 40 tautlet.log release.log; fi
finish
