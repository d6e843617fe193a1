#!/bin/sh
# cli_slurm.sh SUPERARM: sweep --slurm on a Slurm of its own: 9 cells x 3 runs give the bytes of one process and of shards by hand;
# arrays that are longer than the site's limit; a task that fails is named and submitted again.
set -eu
program=$1
for needed in slurmctld slurmd munged flock; do
    PATH="$PATH:/usr/sbin:/sbin"
    if ! command -v $needed >/dev/null; then
        echo "cli_slurm: $needed is not installed (tools/setup --test), so sweep --slurm is not tested" >&2
        [ "${CI:-}" = true ] && exit 1
        exit 77
    fi
done
root=$(mktemp -d)
cd "$root"
chmod 755 "$root"
stop() {
    for file in slurmd.pid slurmctld.pid munged.pid; do
        [ ! -s "$root/$file" ] || kill "$(cat "$root/$file")" 2>/dev/null || true
    done
    [ -z "${holder:-}" ] || kill $holder 2>/dev/null || true
    for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$root" 2>/dev/null && break || sleep 0.3; done
}
trap stop EXIT
die() {
    echo "cli_slurm: $*" >&2
    tail -n 5 slurmctld.log slurmd.log munged.log >&2 2>/dev/null || true
    exit 1
}

# ---- a Slurm on this machine ----
# Two ports that are free, and that the system gives to nobody else by itself: Linux takes those from 32768 on.
user=$(id -un) port=$(python3 - $$ <<END
import socket, sys
for port in range(10000 + int(sys.argv[1]) % 10000 * 2, 32766, 2):
    try:
        for each in (port, port + 1):
            with socket.socket() as one:
                one.bind(("", each))
        print(port)
        break
    except OSError:
        pass
END
)
mkdir state spool
dd if=/dev/urandom of=munge.key bs=1024 count=1 2>/dev/null
chmod 600 munge.key
cat >slurm.conf <<END
ClusterName=superarm
SlurmctldHost=localhost
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$root/munge.socket
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd.pid
SlurmctldLogFile=$root/slurmctld.log
SlurmdLogFile=$root/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_res
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MaxArraySize=6
NodeName=localhost CPUs=2 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$root/slurm.conf"
munged --force --key-file="$root/munge.key" --socket="$root/munge.socket" --pid-file="$root/munged.pid" --log-file="$root/munged.log" \
    --seed-file="$root/munge.seed" --num-threads=2 >out 2>&1 || die "munged: $(cat out)"
slurmctld -i >out 2>&1 || die "slurmctld: $(cat out)"
slurmd -N localhost >out 2>&1 || die "slurmd: $(cat out)"
for _ in $(seq 100); do sinfo -h -o %T 2>/dev/null | grep -q idle && break || sleep 0.2; done
sinfo -h -o %T | grep -q idle || die "the node does not come up: $(sinfo)"
wait_for_jobs() {
    for _ in $(seq 300); do [ -z "$(squeue -h)" ] && return || sleep 0.2; done
    die "jobs do not end: $(squeue)"
}

# ---- the same sweep three times ----
cat >sweep.yaml <<END
environment: h2
algorithm: cn-ucb
rounds: 40
arms: 6
slate: 2
dim: 4
runs: 3
grid:
  gamma: [0.1, 1, 10]
  noise: [0, 0.1, 0.5]
END
"$program" sweep sweep.yaml --out whole --quiet
for shard in 2 0 1; do "$program" sweep sweep.yaml --out shards --shard $shard/3 --quiet; done
"$program" report shards --quiet
"$program" sweep sweep.yaml --out slurm --slurm --tasks 9 --at-once 2 -- --time=5 --mem=0 >out
grep -q '^9 tasks: jobs [0-9]*:[0-9]*; job [0-9]* merges them into .*/slurm/report.html' out || die "not what was expected: $(cat out)"
wait_for_jobs
[ -s slurm/report.html ] || die "the merging job left no report: $(cat slurm/slurm/*.log)"
count=0
for file in whole/*/expected_regret.npy; do
    for other in shards slurm; do cmp "$file" "$other/${file#whole/}" || die "$other has other bytes"; done
    count=$((count + 1))
done
[ $count = 9 ] || die "$count cells and not 9"

# ---- a task that fails, because another process has its lock ----
"$program" sweep sweep.yaml --out failed --shard 0/9 --quiet
(flock -x 9; exec sleep 60) 9>failed/.lock-4-of-9 &
holder=$!
sleep 0.3
"$program" sweep sweep.yaml --out failed --slurm --resume --tasks 9 -- --time=5 >out
grep -q '^Tasks 1-8 of 9 have runs to do' out || die "the tasks that are left are not named: $(cat out)"
status=0
"$program" sweep sweep.yaml --out failed --slurm --resume >out 2>&1 || status=$?
[ $status = 2 ] && grep -q 'still in the queue' out || die "jobs in the queue are submitted again: $(cat out)"
wait_for_jobs
grep -q '^missing: gamma=' failed/slurm/merge-*.log || die "nothing is said of what is missing: $(cat failed/slurm/merge-*.log)"
grep -q 'is being worked in' failed/slurm/task-*-4.log || die "task 4 does not say why it failed"
kill $holder
holder=
"$program" sweep sweep.yaml --out failed --slurm --resume -- --time=5 >out
grep -q '^Tasks 4 of 9 have runs to do, and are submitted again' out || die "the task that failed is not named: $(cat out)"
wait_for_jobs
for file in whole/*/expected_regret.npy; do cmp "$file" "failed/${file#whole/}" || die "failed has other bytes"; done
"$program" sweep sweep.yaml --out failed --slurm --resume >out
grep -q '^Nothing is left to do' out || die "what is done is submitted again: $(cat out)"

# ---- without Slurm, and with words that sbatch does not take ----
refuses() { # STATUS SENTENCE ARGUMENTS...
    wanted=$1 sentence=$2
    shift 2
    status=0
    "$program" sweep "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] || die "sweep $*: exit status $status, not $wanted: $(cat err)"
    grep -qF -e "$sentence" err || die "sweep $*: no \"$sentence\" in: $(cat err)"
}
refuses 1 "sbatch: " sweep.yaml --out wrong --slurm -- --time=never
refuses 2 "--tasks 5: the sweep in $root/failed was cut into 9" sweep.yaml --out failed --slurm --resume --tasks 5
refuses 2 "--at-once is for --slurm" sweep.yaml --out more --at-once 3
refuses 2 "--shard is one too many" sweep.yaml --out more --slurm --shard 0/2
refuses 2 "is not a whole number from 1" sweep.yaml --out more --slurm --tasks 0
status=0
PATH=/nowhere "$program" sweep sweep.yaml --out more --slurm >out 2>err || status=$?
[ $status = 1 ] && grep -q 'there is no scontrol here' err || die "without Slurm: exit status $status: $(cat err)"
[ ! -e more ] || die "a refused sweep was written"
