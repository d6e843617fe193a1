#!/bin/sh
# cli_grow.sh SUPERARM: results that grow by runs and by agents, folders that are worked in, inputs that change, runs that are alike.
set -eu
program=$1
root=$(mktemp -d)
worker=
trap '[ -z "$worker" ] || kill -9 $worker 2>/dev/null; rm -rf "$root"' EXIT
cd "$root"

die() { echo "cli_grow: $*" >&2; exit 1; }
refuses() { # SENTENCE ARGUMENTS...
    sentence=$1
    shift
    status=0
    "$program" "$@" >out 2>err || status=$?
    [ "$status" = 2 ] || die "$*: exit status $status, not 2: $(cat err)"
    [ "$(wc -l <err)" = 1 ] || die "$*: not one line: $(cat err)"
    grep -qF -e "$sentence" err || die "$*: no \"$sentence\" in: $(cat err)"
}
run() { "$program" run --environment h2 --dim 5 --rounds 60 --hidden 8 --quiet "$@"; }
same() { # FOLDER FOLDER
    for file in cn-ucb cn-ts random; do
        for curve in expected_regret realised_regret reward; do
            cmp "$1/$file/$curve.npy" "$2/$file/$curve.npy" || die "$2/$file/$curve.npy is not that of $1"
        done
    done
    cmp "$1/spec.yaml" "$2/spec.yaml" || die "the specs of $1 and $2 differ"
    [ ! -e "$2/parts" ] && [ ! -e "$2/.lock" ] || die "$2 was not tidied up"
}

# Growing gives the bytes of all at once, whatever grows first.
run --algorithm cn-ucb,cn-ts,random --runs 6 --out whole
run --algorithm cn-ucb --runs 3 --out grown
run --algorithm cn-ucb --runs 6 --out grown --resume
run --algorithm cn-ts,random --runs 6 --out grown --resume
same whole grown
run --algorithm cn-ucb,cn-ts --first-run 3 --runs 3 --out back
run --algorithm cn-ucb,cn-ts,random --first-run 0 --runs 3 --out back --resume
same whole back
python3 - <<'END' || die "summary.json of what has grown is wrong"
import json
whole, grown = (json.load(open(f"{name}/summary.json")) for name in ("whole", "grown"))
assert grown["complete"] and len(grown["sessions"]) == 3, grown["sessions"]
for label, agent in whole["agents"].items():
    for field in ("runs", "rounds", "expected_regret", "realised_regret", "options", "algorithm"):
        assert agent[field] == grown["agents"][label][field], (label, field)
for field in ("version", "commit", "date", "host", "cpu", "command", "inputs"):
    assert grown["sessions"][0][field] is not None, field
assert "--runs 3 --out grown" in grown["sessions"][0]["command"]
END

# Merging by agent and by run, without a summary in between.
run --algorithm cn-ucb,random,cn-ts --runs 6 --out ordered
run --algorithm cn-ucb,random --runs 6 --out two
run --algorithm cn-ts --runs 4 --out one
run --algorithm cn-ts --first-run 4 --runs 2 --out rest
"$program" report two one rest --out merged --quiet
same ordered merged
"$program" report two one --out partly >out
grep -qx 'missing: cn-ts runs 4 to 5' out || die "nothing is said of what is missing: $(cat out)"
python3 -c 'import json, sys
summary = json.load(open("partly/summary.json"))
sys.exit(summary["complete"] or summary["agents"]["cn-ts"]["runs"] != 4)' || die "partly/summary.json is wrong"

# A folder that is worked in.
"$program" run --environment h2 --rounds 4000 --runs 1 --algorithm cn-ucb --out busy --quiet &
worker=$!
while [ ! -e busy/spec.yaml ]; do sleep 0.05; done
refuses "busy is being worked in by process $worker on" run --environment h2 --rounds 4000 --runs 1 --out busy --resume
kill -9 $worker
wait $worker 2>/dev/null || true
refuses "busy has no finished run so far" report busy
"$program" run --environment h2 --rounds 4000 --runs 1 --algorithm random,cn-ucb --out busy --resume --quiet & # the lock was its own
worker=$!
while [ ! -e busy/parts/random-0.npz ]; do sleep 0.05; done
"$program" report busy >out 2>err || die "an unfinished folder cannot be reported: $(cat err)"
grep -qx 'missing: cn-ucb run 0' out || die "nothing is said of what is missing: $(cat out)"
grep -q "busy is being worked in by process $worker on" err || die "nothing is said of who works there: $(cat err)"
[ ! -e busy/summary.json ] || die "a report wrote into a folder that is worked in"
kill -9 $worker
wait $worker 2>/dev/null || true
worker=

# Inputs that change.
"$program" draw --environment h2 --dim 5 --rounds 60 --runs 6 --out draws --quiet
npy() { "$program" run --environment npy --contexts draws/contexts.npy --scores draws/scores.npy --algorithm random --quiet "$@"; }
npy --runs 3 --out kept
npy --runs 2 --first-run 3 --out before
sha256sum draws/contexts.npy | cut -d ' ' -f 1 >hash
grep -qf hash kept/summary.json || die "the hash of the contexts is not in summary.json"
"$program" draw --environment h2 --dim 5 --rounds 60 --runs 6 --seed 2 --out others --quiet
cp others/contexts.npy draws/contexts.npy
refuses "/draws/contexts.npy has changed since runs of kept were made of it (sha256 $(cut -c -12 hash)... then, " \
    run --environment npy --contexts draws/contexts.npy --scores draws/scores.npy --algorithm random --runs 4 --out kept --resume
npy --runs 1 --first-run 5 --out after
refuses "/draws/contexts.npy has changed since runs of kept" report kept after --out mixed
"$program" report kept before --out unmixed --quiet || die "the same input is refused"
[ ! -e mixed ] || die "a refused merge was written"

[ "$(grep -c '"option":"contexts","path":"/' kept/summary.json)" = 1 ] || die "an input has no full path: $(grep inputs kept/summary.json)"

# Runs that are all alike count as one; scores of one run for contexts of many are taken only when asked for.
"$program" draw --environment h2 --dim 5 --rounds 20 --runs 1 --out single --quiet
first_run() { # FROM TO: the first run of an npy file, without the axis of runs
    python3 - "$1" "$2" <<'END'
import ast, struct, sys
raw = open(sys.argv[1], "rb").read()
size = 10 + struct.unpack("<H", raw[8:10])[0]
head = ast.literal_eval(raw[10:size].decode())
runs, head["shape"] = head["shape"][0], head["shape"][1:]
text = repr(head).encode()
text += b" " * (-(len(text) + 11) % 64) + b"\n"
open(sys.argv[2], "wb").write(raw[:8] + struct.pack("<H", len(text)) + text + raw[size:size + (len(raw) - size) // runs])
END
}
first_run single/contexts.npy contexts.npy
first_run single/scores.npy scores.npy
"$program" run --environment npy --contexts contexts.npy --scores scores.npy --noise 0 --algorithm comblin-ucb,random \
    --runs 3 --out alike >out
[ "$(grep -c 'all of these runs are alike' out)" = 1 ] || die "nothing, or too much, is said of runs that are alike: $(cat out)"
"$program" report alike >out
grep -q 'CombLinUCB (tuned): its 3 runs are all alike' out || die "the report says nothing of runs that are alike: $(cat out)"
python3 -c 'import json, sys
agents = json.load(open("alike/summary.json"))["agents"]
linear, random = agents["comblin-ucb"], agents["random"]
sys.exit(not linear["alike"] or linear["expected_regret"]["sd"] is not None or "alike" in random or random["expected_regret"]["sd"] is None)' ||
    die "alike/summary.json is wrong"
mixed="run --environment npy --contexts others/contexts.npy --scores flat.npy --algorithm random --runs 2"
first_run others/scores.npy flat.npy
refuses "the same scores for all: give scores (R, T, N)" $mixed --out mixed
refuses "shared-scores is gone: it is always false" $mixed --shared-scores --out mixed

# A report of a folder that was stopped leaves a summary; the folder is not called finished.
mkdir stopped && cat >stopped.yaml <<'END'
environment: h1
dim: 4
rounds: 20
runs: 2
algorithm: [random, best]
END
"$program" run stopped.yaml --out half --quiet
mkdir -p half/parts && python3 - <<'END'
import json
summary = json.load(open("half/summary.json"))
assert summary["complete"] is True
text = open("half/summary.json").read().replace('"complete": true', '"complete": false', 1)
open("half/summary.json", "w").write(text)
END
status=0
"$program" run stopped.yaml --out half --quiet 2>err || status=$?
[ "$status" = 2 ] && grep -q "holds an unfinished experiment, with which --resume goes on" err || die "a stopped folder is called: $(cat err)"
