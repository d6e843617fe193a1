#!/bin/sh
# The list of options: at most 80 lines, each option set by somebody (a test, a page, an example, a script), a short --help, and a
# sentence for an option that no agent named would read.
set -eu
program=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "$*"; exit 1; }

"$program" list options >options
[ "$(wc -l <options)" -le 81 ] || fail "superarm list options has $(wc -l <options) lines, more than 81"
tail -n +2 options | awk '{ print $1, $2 }' >names
awk 'seen[$2] && $2 != last { print $2; exit 1 } { seen[$2] = 1; last = $2 }' names || fail "a group of options is in two places"

# set as a flag, a key (YAML, JSON), a keyword (Python), a word of a test's line, or an entry of a table
unused=
while read -r name group; do
    word=$(echo "$name" | tr - _)
    grep -rqE -- "--(no-)?$name([ =\`]|\$)|\"$name\" *[,:]|(^|[^a-z-])($name|$word)(=|: )" \
        "$root/tests" "$root/docs" "$root/README.md" "$root/examples" "$root/python" "$root/tools" "$root/cli" || unused="$unused $name"
done <names
[ -z "$unused" ] || fail "nobody sets$unused: what are they for?"

for command in run sweep draw; do
    "$program" $command --help >help
    count=$(grep -c '^  --' help)
    [ "$count" -le 22 ] || fail "superarm $command --help shows $count options"
    grep -q 'superarm list options' help || fail "superarm $command --help does not say where the rest is"
done

refuses() { # WORDS ARGUMENTS...
    words=$1
    shift
    status=0
    "$program" "$@" >out 2>said || status=$?
    [ $status = 2 ] || fail "$*: exit status $status"
    grep -qF -- "$words" said || fail "$*: $(cat said)"
}
small="--rounds 4 --arms 5 --slate 2 --dim 3 --runs 1 --quiet"
refuses "--hidden 50 has no effect on --algorithm comblin-ucb" run $small --algorithm comblin-ucb --hidden 50
refuses "--hidden 50 has no effect on any of the agents" run $small --algorithm comblin-ucb,random --hidden 50
refuses "--nu 3 has no effect on --algorithm cn-ucb" run $small --algorithm cn-ucb --hidden 6 --nu 3
refuses "--sketch-size 9 has no effect on --algorithm cn-ucb" run $small --algorithm cn-ucb --confidence exact --sketch-size 9
refuses "--epoch-length 9 has no effect" run $small --algorithm cn-ucb --epoch-length 9
refuses "agent line: --depth 3 has no effect on --algorithm comblin-ts" run $small --agent net:algorithm=cn-ucb,hidden=6 \
    --agent line:algorithm=comblin-ts,depth=3
refuses "--optimizer is not an option" run $small --optimizer gd
refuses "--c-gamma-1 is not an option" theory --contexts x.npy --c-gamma-1 2
refuses "--feedback document is not one of semi-bandit, position, cascade" run $small --feedback document
printf 'rounds: 4\narms: 5\nslate: 2\ndim: 3\nruns: 1\nalgorithm: c2ucb\ngrid: {gamma: [0.5, 2]}\n' >sweep.yaml
refuses "has no effect on any of the agents" sweep sweep.yaml --out swept
# what one agent reads is fine, and so is a spec that spells everything out
"$program" run $small --algorithm cn-ucb,comblin-ucb,comblin-ts,neural-linear,cc-mab,random --hidden 6 --nu 0.3 --out first
"$program" run first/spec.yaml --out again --quiet
cmp first/cc-mab/reward.npy again/cc-mab/reward.npy && cmp first/comblin-ts/reward.npy again/comblin-ts/reward.npy

# oracle data: one option, or a flag of each datum's name; full paths in the spec
"$program" run $small --algorithm comblin-ucb --oracle knapsack --costs 1,2,1,1,2 --capacity 3 --out flags
"$program" run $small --algorithm comblin-ucb --oracle knapsack --problem 'costs=1,2,1,1,2;capacity=3' --out text
cmp flags/comblin-ucb/reward.npy text/comblin-ucb/reward.npy
grep -q '^problem: "costs=1,2,1,1,2;capacity=3"$' flags/spec.yaml || fail "$(grep problem flags/spec.yaml)"
refuses "--problem costs is not oracle data" run $small --oracle knapsack --problem costs
refuses "--weight is not part of a problem" run $small --oracle knapsack --problem 'weight=3'
refuses "has a ';'" run $small --oracle knapsack --costs '1;2'
