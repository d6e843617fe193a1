#!/bin/sh
# A world that drifts, from the command line: forgetting at least halves the regret, draws of it replay, feedback may be in files,
# and what makes no sense is refused with a sentence.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "$*"; exit 1; }
refused() { # the sentence, then the options
    sentence=$1
    shift
    if "$program" run --quiet --rounds 5 --runs 1 "$@" 2>err; then fail "not refused: $*"; fi
    grep -qF -- "$sentence" err || fail "$* gives: $(cat err)"
}

# mean regrets, by agent
turning="--environment h1 --turn 0.0126 --dim 8 --arms 10 --rounds 500 --runs 2"
"$program" run $turning --algorithm comblin-ucb --agent discount:algorithm=comblin-ucb,discount=0.95 \
    --agent window:algorithm=comblin-ucb,window=30 --agent net:algorithm=cn-ucb,hidden=16 \
    --agent net-discount:algorithm=cn-ucb,hidden=16,discount=0.95 --agent net-window:algorithm=cn-ucb,hidden=16,window=30 >table
awk '{ regret[$1] = $3 }
     END { exit !(regret["comblin-ucb"] > 0 && regret["discount"] < regret["comblin-ucb"] / 2 &&
                  regret["window"] < regret["comblin-ucb"] / 2 && regret["net-discount"] < regret["net"] / 2 &&
                  regret["net-window"] < regret["net"] / 2) }' table || fail "forgetting does not help: $(cat table)"

# what was drawn is what was played
small="--dim 8 --arms 10 --rounds 40 --runs 1"
"$program" draw --environment h2 --turn 0.05 $small --out drawn --quiet
"$program" run --environment h2 --turn 0.05 $small --algorithm comblin-ts --trace played --quiet
"$program" run --environment npy --contexts drawn/contexts.npy --scores drawn/scores.npy --noise-values drawn/noise.npy --runs 1 \
    --algorithm comblin-ts --trace replayed --quiet
cmp played replayed

# feedback in files, one for each agent and run, written over by the next experiment
small="--environment h2 --dim 6 --arms 10 --rounds 30 --hidden 8 --runs 2 --algorithm cn-ucb,comblin-ucb"
"$program" run $small --trace one --quiet
for again in 1 2; do
    "$program" run $small --trace two --history feedback --threads 2 --quiet
    cmp one two
done
for name in cn-ucb.0 cn-ucb.1 comblin-ucb.0 comblin-ucb.1; do [ -s feedback.$name ] || fail "no feedback.$name"; done
echo mine >feedback.cn-ucb.0
if "$program" run $small --history feedback --quiet 2>err; then fail "a file that is no history was written over"; fi
grep -q "feedback.cn-ucb.0 exists" err
[ "$(cat feedback.cn-ucb.0)" = mine ]
status=0 # the last of all jobs is looked at before the first begins
rm feedback.cn-ucb.0
mv feedback.comblin-ucb.1 kept
mkdir feedback.comblin-ucb.1
"$program" run $small --history feedback --quiet --out made 2>err || status=$?
[ $status = 2 ] || fail "status $status: $(cat err)"
grep -q "feedback.comblin-ucb.1 exists, and is no history" err
[ ! -e made ] || fail "--out was begun"
[ ! -e feedback.cn-ucb.0 ] || fail "a history was begun"

refused "--window 5 and --discount 0.9 are two ways to forget" --window 5 --discount 0.9
refused "whose cells cannot forget" --algorithm cc-mab --discount 0.9
refused "whose epochs begin with all feedback" --algorithm cn-ucb-d --window 50
refused "--turn is for --environment h1, h2 and h3" --environment npy --turn 0.1
refused "needs a plane to turn in" --turn 0.1 --dim 1
refused "--turn" --turn 7
refused "--discount" --discount 0
refused "cannot be written" --history nowhere/feedback
