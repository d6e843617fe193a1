#!/bin/sh
# cli_sweep.sh SUPERARM: grids over options of agents and environments: what a cell is, shards, resuming, how it refuses.
set -eu
program=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"
die() { echo "cli_sweep: $*" >&2; exit 1; }
refuses() { # SENTENCE ARGUMENTS...
    sentence=$1
    shift
    status=0
    "$program" sweep "$@" >out 2>err || status=$?
    [ "$status" = 2 ] || die "sweep $*: exit status $status, not 2: $(cat err)"
    grep -qF -e "$sentence" err || die "sweep $*: no \"$sentence\" in: $(cat err)"
}
base="--environment h2 --rounds 30 --arms 6 --slate 2 --dim 4 --hidden 8 --runs 3"
cat >sweep.yaml <<END
environment: h2
rounds: 30
arms: 6
slate: 2
dim: 4
runs: 3
algorithm: [cn-ucb, random]
grid:
  hidden: [4, 8]
  noise: [0, 0.1]
END

# A cell is what `run` gives for its values.
"$program" sweep sweep.yaml --out whole >out
grep -q '^The report is whole/report.html' out || die "no report is named: $(cat out)"
"$program" run $base --hidden 4 --noise 0.1 --algorithm cn-ucb,random --out cell --quiet
for label in cn-ucb random; do
    cmp "cell/$label/expected_regret.npy" "whole/$label,hidden=4,noise=0.1/expected_regret.npy" || die "cell $label differs"
done
[ "$(ls -d whole/*/ | wc -l)" = 8 ] || die "there are $(ls -d whole/*/ | wc -l) cells"

# The spec that it left repeats it; so do flags, shards in any order, and a sweep that was stopped and goes on.
"$program" sweep whole/spec.yaml --out again --quiet
"$program" sweep $base --algorithm cn-ucb,random --grid hidden=4,8 --grid noise=0,0.1 --out flags --quiet
for shard in 3 1 0 2; do "$program" sweep sweep.yaml --out shards --shard $shard/4 --quiet; done
[ ! -e shards/summary.json ] || die "a shard wrote a summary"
"$program" report shards --quiet
"$program" sweep sweep.yaml --out half --shard 1/2 --quiet
"$program" report half >out
grep -q '^missing: cn-ucb,hidden=4,noise=0' out || die "nothing is said of what is missing: $(cat out)"
"$program" sweep sweep.yaml --out half --resume --quiet
for other in again flags shards half; do
    for file in whole/*/expected_regret.npy; do cmp "$file" "$other/${file#whole/}" || die "$other has other bytes"; done
done

# It grows by values and by runs.
"$program" sweep $base --runs 2 --algorithm cn-ucb,random --grid hidden=4 --grid noise=0,0.1 --out grown --quiet
"$program" sweep sweep.yaml --out grown --resume --quiet
for file in whole/*/expected_regret.npy; do cmp "$file" "grown/${file#whole/}" || die "grown has other bytes"; done

# Files in the grid are those of the folder it was called from, wherever it is repeated.
"$program" draw --environment h2 --dim 4 --arms 6 --rounds 30 --runs 3 --out one --quiet
"$program" draw --environment h1 --dim 4 --arms 6 --rounds 20 --runs 3 --out two --quiet
mkdir files elsewhere
for name in one two; do mv $name/contexts.npy files/x-$name.npy; mv $name/scores.npy files/v-$name.npy; done
"$program" sweep --environment npy --scores files/v-one.npy --contexts files/x-one.npy --algorithm random --slate 2 --runs 3 \
    --grid noise=0,1 --grid contexts=files/x-one.npy --out paths --quiet
(cd elsewhere && "$program" sweep ../paths/spec.yaml --out ../paths-again --quiet)
cmp "paths/noise=1,contexts=x-one.npy/reward.npy" "paths-again/noise=1,contexts=x-one.npy/reward.npy" || die "paths differ"

# Of cells of different lengths, no one length is told.
"$program" sweep --environment h1 --dim 4 --arms 6 --slate 2 --algorithm random --runs 2 --grid rounds=10,20 --out lengths --quiet
"$program" report lengths >out
"$program" report lengths --format latex --out latex --quiet
grep -q 'sweep over rounds: expected regret$' out || die "the table has another heading: $(head -1 out)"
for file in out latex/table.tex lengths/report.html; do
    ! grep -q 'after 20 rounds' $file || die "$file tells one length of all cells"
done

refuses "a sweep needs --out" sweep.yaml
refuses "there is no grid" $base --out no
refuses "--grid gamma is not of the form" $base --grid gamma --out no
refuses "--gamma x is not a number or theory" $base --grid gamma=1,x --out no
refuses "has the value 1 twice" $base --grid gamma=1,1 --out no
refuses "--threads is one for all cells" $base --grid threads=1,2 --out no
refuses "--shard 4/4 is not of the form I/N" sweep.yaml --shard 4/4 --out no
refuses "--shard 1 is not of the form I/N" sweep.yaml --shard 1 --out no
refuses "holds a finished experiment" sweep.yaml --out whole
printf 'grid:\n  gamma: 3\n' >wrong.yaml
refuses "wrong.yaml:2: gamma in grid must be a list of values" wrong.yaml --out no
printf 'grid: [gamma]\n' >wrong.yaml
refuses "wrong.yaml:1: grid must be a mapping" wrong.yaml --out no
[ ! -e no ] || die "a refused sweep was written"
"$program" sweep --help | grep -q '^Examples:' || die "no examples in the help"
