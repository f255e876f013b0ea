# Run after checks.sh as root in the machine of machine.py: tautd and tautlet over groups of cgroup v2. The machine is
# about ten times slower than ours: it waits long.
SPEED=60 # a window of five minutes goes by in five seconds

is_below() { # file, number: a limit that is there, and lower
  read -r value _ <"$1"
  [ "$value" != max ] && [ "$value" -lt "$2" ]
}
answers() { # path; Debian's static wget crashes here
  printf 'GET %s HTTP/1.0\r\n\r\n' "$1" | nc -w 5 127.0.0.1 7070 2>/dev/null
}
told_of() { answers "$1" | grep -q "$2"; }

group() { # name, memory.max
  mkdir "$APPS/$1"
  echo "$2" >"$APPS/$1/memory.max"
  echo "100000 100000" >"$APPS/$1/cpu.max"
}
load() { # group, then taut-load's words
  sh -c 'echo $$ >'"$APPS/$1"'/cgroup.procs; shift; exec taut-load "$@"' sh "$@" --duration 500s >/dev/null 2>&1 &
}
limits() { # group: all of them in a line
  (cd "$APPS/$1" && echo "$(cat memory.max memory.high cpu.max cpu.weight)" | tr '\n' ' ')
}
count_kills() { # group, to $count
  while read -r key value; do
    [ "$key" = oom_kill ] && count=$value
  done <"$APPS/$1/memory.events"
}
kills() {
  count_kills "$1"
  echo "$count"
}
now_cs() { # uptime in 1/100 s, to $now
  read -r now _ </proc/uptime
  now=${now%.*}${now#*.}
}
start_tautlet() { tautlet --config tautlet.yaml >>tautlet.log 2>&1 & agent=$!; }

cat >tautd.yaml <<'EOF'
clock: samples
ingest: {grace: 0s}
agents: {listen: ["127.0.0.1:7071"]}
actuator: {kind: agents}
defaults: {mode: auto, recommender: moving_window, change_period: 10m}
recommenders:
  moving_window: {min_history: 15m, memory_half_life: 2h, hold_windows: 2}
EOF
cat >tautlet.yaml <<EOF
name: guest
host: guest
state: /tmp/state
speed: $SPEED
sample: 200ms
find: 1s
daemon: {address: "127.0.0.1:7071"}
tasks:
  - {cgroup: /apps/soft, job: v2/soft, manage: true, add_limits: true, cpu: soft, memory: soft}
  - {cgroup: /apps/seen, job: v2/seen}
  - {cgroup: "/apps/m-*", job: "v2/{1}", manage: true, add_limits: true, cpu: hard}
EOF

mkdir $APPS
echo "+cpu +memory" >$APPS/cgroup.subtree_control
for g in m-steady m-bursts soft seen stranger; do group $g $((200 * MIB)); done
echo 0 >$APPS/m-bursts/memory.swap.max
for g in m-steady soft seen stranger; do load $g --memory 40MiB --cpu 0.05; done
load m-bursts --memory step:20MiB..90MiB@60s --cpu 0.02 --restart
steady_was=$(limits m-steady) bursts_was=$(limits m-bursts) soft_was=$(limits soft)
seen_was=$(limits seen) stranger_was=$(limits stranger)

tautd --config tautd.yaml --store memory --listen 127.0.0.1:7070 >tautd.log 2>&1 &
until_so 60 told_of /readyz '^ready' || cat tautd.log
start_tautlet
until_so 30 says tautlet.log "cgroup v2"
check "it sees that this is cgroup v2" $? -eq 0
until_so 90 told_of "/api/v1/jobs?limit=100" '"v2/steady"'
check "tautd is told of jobs" $? -eq 0

# ---- an OOM kill: looked at first, and closely, from before it happens ----
until_so 60 is_below $APPS/m-bursts/memory.max $((60 * MIB))
check "a job that uses 20 of 200 MiB is given a lower memory.max" $? -eq 0
now_cs
end=$((now + 9000)) met=0
# The limit is read before the kills: the raise may be there with the kill. Nothing here starts a process.
while now_cs && [ $now -lt $end ]; do
  read -r limit <$APPS/m-bursts/memory.max
  count_kills m-bursts
  [ "$count" != 0 ] && break
  met=$limit
done
killed_at=$now
while read -r raised <$APPS/m-bursts/memory.max && [ "$raised" -le "$met" ] && now_cs && [ $now -lt $end ]; do :; done
now_cs
took=$((now - killed_at))
check "it wants more at once and is killed" "$(kills m-bursts)" -gt 0
check "memory.max is raised by a fifth or more" "$raised" -ge $((met * 119 / 100))
echo "      figure: OOM kill to raised limit ${took}0 ms (read every 10), $((met / MIB)) to $((raised / MIB)) MiB"
until_so 30 told_of /api/v1/ooms '"v2/bursts"'
check "and tautd is told of the kill" $? -eq 0

# ---- less ----
until_so 60 is_below $APPS/m-steady/memory.max $((100 * MIB))
check "memory.max comes down towards what is used" $? -eq 0
read -r limit <$APPS/m-steady/memory.max
read -r used <$APPS/m-steady/memory.current
check "and is above what is in use" "$limit" -gt "$used"
check "and nothing of it was pushed out to swap" "$(cat $APPS/m-steady/memory.swap.current)" -lt $((4 * MIB))
until_so 120 is_below $APPS/m-steady/cpu.max 80000 # the emulator takes CPU too
check "cpu.max comes down" $? -eq 0
until_so 60 is_below $APPS/soft/memory.high $((100 * MIB))
check "with memory: soft memory.high is set" $? -eq 0
sleep 3
read -r high <$APPS/soft/memory.high
read -r limit <$APPS/soft/memory.max
above=$(((limit - high) * 100 / high))
check "and memory.max is a tenth above it" $above -ge 9 -a $above -le 11
check "with cpu: soft cpu.weight is set" "$(cat $APPS/soft/cpu.weight)" != 100
check "and cpu.max stays" "$(cat $APPS/soft/cpu.max)" = "100000 100000"
check "no task was killed but the one that burst" "$(kills m-steady)$(kills soft)$(kills seen)$(kills stranger)" = 0000
check "what is only measured stays" "$(limits seen)" = "$seen_was"
check "what no rule names stays" "$(limits stranger)" = "$stranger_was"

# ---- without the agent ----
kill -9 $agent
wait $agent 2>/dev/null
ours="$(limits m-steady)$(limits m-bursts)$(limits soft)"
sleep 3
check "tautlet is killed: limits stay" "$(limits m-steady)$(limits m-bursts)$(limits soft)" = "$ours"
tautlet --config tautlet.yaml --release >release.log 2>&1
check "--release gives all back" $? -eq 0
sed 's/^/      /' release.log
check "memory.max and cpu.max are what they were" "$(limits m-steady)" = "$steady_was"
check "of the one that was killed too" "$(limits m-bursts)" = "$bursts_was"
check "memory.high and cpu.weight as well" "$(limits soft)" = "$soft_was"
check "and nobody else's has changed" "$(limits seen)$(limits stranger)" = "$seen_was$stranger_was"

if [ $failed != 0 ]; then
  tail -n 20 tautd.log tautlet.log
  answers "/api/v1/jobs?limit=100"
fi
finish
