#!/bin/sh
# superarm learn: an agent from a log, the same again, and what is refused leaves nothing behind.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "$*"; exit 1; }

"$program" run --environment h1 --algorithm cn-ucb --rounds 40 --arms 6 --slate 3 --dim 4 --hidden 8 --runs 1 --log log.jsonl --quiet
"$program" learn log.jsonl --algorithm cn-ucb --hidden 8 --out one.npz >said
grep -q '^one.npz: learnt from 40 decisions; 120 observations, 40 trainings$' said || fail "$(cat said)"
"$program" learn log.jsonl --algorithm cn-ucb --dim 4 --slate 3 --hidden=8 --out two.npz --quiet >said
[ -s said ] && fail "--quiet prints: $(cat said)"
cmp one.npz two.npz || fail "the same log and options make another agent"

# in two parts is the same as at once
head -n 25 log.jsonl >first.jsonl
tail -n +26 log.jsonl >rest.jsonl
"$program" learn first.jsonl --algorithm cn-ucb --hidden 8 --out parts.npz --quiet
"$program" learn rest.jsonl --agent parts.npz --out parts.npz --quiet
cmp one.npz parts.npz || fail "two parts make another agent than the whole"
"$program" learn rest.jsonl --agent one.npz --gamma 0.5 --out other.npz --quiet

# a schema goes into the file, and stays
echo '{"context":{"hour":3},"items":[{"id":"a","price":1},{"id":"b","price":2,"new":true}],"slate":["b"],"feedback":[1]}' >named.jsonl
echo 'item: {price: log}' >schema.yaml
"$program" learn named.jsonl --schema schema.yaml --algorithm comblin-ucb --out named.npz >said
grep -q '^2 values are not in the schema and were left out$' said || fail "$(cat said)"
"$program" learn named.jsonl --agent named.npz --out named.npz --quiet
"$program" learn named.jsonl --agent named.npz --schema schema.yaml --out named.npz --quiet
echo 'item: {price: log, new: flag}' >grown.yaml

refuse() { # WORDS COMMAND...
    words=$1
    shift
    set +e
    "$program" learn "$@" >said 2>wrong
    got=$?
    set -e
    [ $got = 2 ] || fail "$*: status $got: $(cat said wrong)"
    grep -q -e "^superarm learn: .*$words" wrong || fail "$*: $(cat wrong)"
    [ ! -e none.npz ] || fail "$*: something was written"
}
refuse 'which log?'
refuse '--out is missing' log.jsonl
refuse '--out needs a value' log.jsonl --out
refuse 'x is one word too many' log.jsonl x --out none.npz
refuse '--gama is not an option; did you mean --gamma?' log.jsonl --gama 1 --out none.npz
refuse '--environment is not an option here' log.jsonl --environment h1 --out none.npz
refuse '--hidden x is not a whole number' log.jsonl --hidden x --out none.npz
refuse 'absent.jsonl cannot be opened' absent.jsonl --out none.npz
refuse 'cannot be read: Is a directory' . --out none.npz
refuse 'log.jsonl:1: contexts have 4 features, and the agent has --dim 5' log.jsonl --dim 5 --out none.npz
refuse 'log.jsonl:1: there are no items' log.jsonl --schema schema.yaml --out none.npz
refuse 'named.jsonl:1: items have named fields, and the agent has no schema' named.jsonl --out none.npz
refuse 'the schema has item.new (flag, 2 columns), and the agent.s has not; an agent keeps' named.jsonl --agent named.npz --schema grown.yaml --out none.npz
refuse 'the agent has no schema' log.jsonl --agent one.npz --schema schema.yaml --out none.npz
refuse '--dim 9 is not that of the schema, 2' named.jsonl --schema schema.yaml --dim 9 --out none.npz
refuse 'named.jsonl' log.jsonl --agent named.jsonl --out none.npz
: >empty.jsonl
refuse 'empty.jsonl has no decisions' empty.jsonl --out none.npz
refuse '--algorithm nope' log.jsonl --algorithm nope --out none.npz
"$program" learn --help | grep -q Examples || fail "no example"
