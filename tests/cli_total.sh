#!/bin/sh
# --feedback total: runs, logs that hold totals, agents from them, and what is refused.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "$*"; exit 1; }
run() { "$program" run --environment h1 --rounds 40 --arms 6 --slate 3 --dim 4 --hidden 8 --runs 1 --quiet "$@"; }

"$program" list feedback | grep -q '^total  *only the sum of the slate' || fail "list feedback does not name it"
run --algorithm cn-ucb --feedback total --log totals.jsonl
grep -q '"feedback":null,"total":' totals.jsonl || fail "$(head -n 1 totals.jsonl)"
"$program" learn totals.jsonl --feedback total --algorithm cn-ucb --hidden 8 --out one.npz >said
grep -q '^one.npz: learnt from 40 decisions; 120 observations, 40 trainings$' said || fail "$(cat said)"

# the agent of a log is the agent that made it: what it would choose next is the same
run --algorithm cn-ucb --feedback total --log again.jsonl
cmp totals.jsonl again.jsonl || fail "the same run has another log"
head -n 25 totals.jsonl >first.jsonl
tail -n +26 totals.jsonl >rest.jsonl
"$program" learn first.jsonl --feedback total --algorithm cn-ucb --hidden 8 --out parts.npz --quiet
"$program" learn rest.jsonl --agent parts.npz --out parts.npz --quiet
cmp one.npz parts.npz || fail "two parts make another agent than the whole"

# single scores are added up, and null counts as 0; "total" wins
echo '{"contexts":[[1,0],[0,1],[1,1]],"slate":[0,2],"feedback":[1,null]}' >scores.jsonl
echo '{"contexts":[[1,0],[0,1],[1,1]],"slate":[0,2],"total":1}' >total.jsonl
echo '{"contexts":[[1,0],[0,1],[1,1]],"slate":[0,2],"feedback":[5,5],"total":1}' >both.jsonl
for log in scores total both; do
    "$program" learn $log.jsonl --feedback total --algorithm comblin-ucb --out $log.npz --quiet
done
cmp scores.npz total.npz || fail "the sum of scores is not their total"
cmp both.npz total.npz || fail "the total is not taken where both are there"

refuse() { # WORDS COMMAND...
    words=$1
    shift
    set +e
    "$@" >said 2>wrong
    got=$?
    set -e
    [ $got = 2 ] || fail "$*: exit $got, not 2"
    grep -q -- "$words" wrong || fail "$*: $(cat wrong)"
}
refuse 'nothing to learn from: 1 decisions are without feedback' "$program" learn total.jsonl --algorithm comblin-ucb --out no.npz
refuse '--confidence sketch cannot count the total of a slate' run --feedback total --confidence sketch
refuse '--confidence auto cannot count the total of a slate' run --feedback total --confidence auto
refuse 'does not go with --algorithm cn-ts-d' run --feedback total --algorithm cn-ts-d
refuse '--algorithm cc-mab cannot learn from totals' run --feedback total --algorithm cc-mab
echo '{"contexts":[[1,0]],"slate":[0],"total":"many"}' >wrong.jsonl
refuse 'total is "many", and a finite number or null is wanted' "$program" learn wrong.jsonl --feedback total --out no.npz
[ ! -e no.npz ] || fail "what is refused leaves a file behind"
