# Run after checks.sh as root in the machine of machine.py: who dies when memory ends, on cgroup v2. A group of 233 MiB
# without swap stands for the machine, and production has 200 of it.
ROUNDS=3

load() { # group, shape
  sh -c 'echo $$ >'"$APPS/$1"'/cgroup.procs; exec taut-load --memory '"$2"' --duration 500s' >/dev/null 2>&1 &
}
holds() { # group, MiB
  read -r used <"$APPS/$1/memory.current"
  [ "$used" -ge $(($2 * MIB)) ]
}
has_ended() { ! [ -e "/proc/$1/exe" ]; } # pid
is_empty() { [ -z "$(cat "$APPS/$1/cgroup.procs")" ]; }
scores() { # group
  for pid in $(cat "$APPS/$1/cgroup.procs"); do cat /proc/$pid/oom_score_adj; done | sort -u | tr '\n' ' '
}
scores_are() { [ "$(scores "$1")" = "$2 " ]; } # group, value
kills() { sed -n 's/^oom_kill //p' "$APPS/$1/memory.events"; } # group

config() { # guard
  cat >tautlet.yaml <<END
state: /tmp/state
find: 1s
tiers:
  guard: {$1, of: /apps}
tasks:
  - {cgroup: /apps/web, job: shop/web, manage: true, cpu: none, memory: none, tier: production}
  - {cgroup: /apps/batch, job: batch/a, manage: true, tier: batch}
END
}
begin() { # guard
  config "$1"
  tautlet --config tautlet.yaml >tautlet.log 2>&1 &
  agent=$!
  until_so 60 scores_are web -800
  check "production is the kernel's last choice" $? -eq 0
}

mkdir $APPS
echo $((233 * MIB)) >$APPS/memory.max
echo 0 >$APPS/memory.swap.max
echo "+cpu +memory" >$APPS/cgroup.subtree_control
mkdir $APPS/web $APPS/batch
load web 200MiB
until_so 60 holds web 198
check "production holds 200 of 233 MiB" $? -eq 0

begin "throttle: true, kill: true"
round=0
while [ $round -lt $ROUNDS ]; do
  round=$((round + 1))
  load batch 150MiB
  until_so 60 has_ended $!
  check "a batch task that takes 150 MiB at once ends, round $round" $? -eq 0
  check "and production lives" -n "$(cat $APPS/web/cgroup.procs)"
  load batch grow:1MiB..150MiB/5.5s # throttled or killed
  sleep 12
  check "production lives beside one that grows by 27 MiB a second" -n "$(cat $APPS/web/cgroup.procs)"
  echo 1 >$APPS/batch/cgroup.kill
  until_so 30 is_empty batch
done
check "the kernel never killed production" "$(kills web)" = 0
echo "      $(grep -c task_killed tautlet.log) kills by the guard, $(kills batch) by the kernel"
kill $agent
wait $agent
check "at the end production has its owner's oom_score_adj" "$(scores web)" = "0 "

begin "throttle: true"
echo max >$APPS/batch/memory.high
before=$(kills batch)
load batch 150MiB
until_so 90 has_ended $!
check "without guard.kill the kernel ends the batch task" "$(kills batch)" -gt "$before"
check "and not production" "$(kills web)" = 0
until_so 30 says tautlet.log oom_kill
grep oom_kill tautlet.log | sed 's/^/      /'
check "as the group's limit" -n "$(grep 'oom_kill.*at the limit of cgroup /apps above it (233 MiB)' tautlet.log)"

load batch 2MiB
until_so 30 scores_are batch 800
check "a batch task that came later is the kernel's first choice" $? -eq 0
kill -9 $agent
wait $agent 2>/dev/null
tautlet --config tautlet.yaml --list
check "--list has the limit in force and whose it is" -n "$(tautlet --config tautlet.yaml --list | grep 'shop/web.*233MiB.* /apps$')"
tautlet --config tautlet.yaml --release >release.log 2>&1
check "after a crash --release gives all back" $? -eq 0
check "of batch" "$(scores batch)" = "0 "
check "and of production" "$(scores web)" = "0 "

if [ $failed != 0 ]; then tail -n 40 tautlet.log release.log; fi
finish
