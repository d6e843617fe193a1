#!/bin/sh
# bytes_suite.sh SUPERARM BYTES_AGENT [RUNNER]: plays small experiments with all algorithms, engines, oracles, precisions and click
# models, and prints a line with a hash of the results of each, for bytes_kernels.sh and bytes_compilers.sh to compare. RUNNER runs a
# program of another processor.
set -u
program=$1 agent=$2 runner=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
small='--rounds 24 --arms 10 --slate 3 --dim 6 --hidden 10 --train-steps 20 --runs 1 --threads 1 --quiet'

play() { # NAME OPTIONS...: regrets, rewards, and every estimate, width and score of the trace
    name=$1
    shift
    rm -rf "$folder/out"
    # shellcheck disable=SC2086
    if $runner "$program" run $small "$@" --out "$folder/out" --trace "$folder/trace" >"$folder/said" 2>&1; then
        echo "$name $(cat "$folder"/out/*/*.npy "$folder/trace" | sha256sum | cut -c1-16)"
    else
        echo "$name fails: $(tail -1 "$folder/said")"
        failed=1
    fi
}

neural=cn-ucb,cn-ts,cn-ts1,greedy
for preset in paper icml23 tuned; do
    play "$preset" --preset $preset --environment h2 --algorithm $neural,comblin-ucb,comblin-ts,c2ucb,neural-linear,random,best
    play "$preset-double" --preset $preset --environment h3 --algorithm cn-ucb,cn-ts --precision double
    play "$preset-epochs" --preset $preset --environment h1 --algorithm cn-ucb-d,cn-ts-d --epoch-length 10
done
play one-arm --environment h2 --algorithm neural-ucb,neural-ts --slate 1
play cells --environment h2 --dim 2 --algorithm cc-mab,acc-ucb,greedy
for engine in exact diagonal last-layer sketch auto; do
    play "engine-$engine" --preset paper --environment h2 --algorithm cn-ucb,cn-ts --confidence $engine $([ $engine = sketch ] && echo --sketch-size 16)
done
play primal --preset paper --environment h2 --dim 3 --hidden 4 --algorithm cn-ucb --rounds 60
play primal-double --preset paper --environment h2 --dim 3 --hidden 4 --algorithm cn-ucb --rounds 60 --precision double
play theory --preset paper --environment h2 --algorithm cn-ucb --depth 3 --gamma theory
play rebuild --environment h2 --algorithm cn-ucb --rebuild true
play window --environment h1 --algorithm cn-ucb,comblin-ucb --window 12 --turn 0.01
play discount --environment h1 --algorithm cn-ucb,comblin-ucb --discount 0.9 --turn 0.01
play delay --environment h1 --algorithm cn-ucb,comblin-ts --delay 5 --count-pending true
play position --environment h2 --algorithm cn-ucb,cn-ts --clicks position --examination 0.4,1,0.2 --feedback position
play cascade --environment h2 --algorithm cn-ucb,cn-ts --clicks cascade --leave 0.1 --feedback cascade
play formula --environment formula --score 'exp(x.a) * tanh(x.b) + pow(abs(x.c), 1.5) + sin(9 * x[0]) + log(2 + x[1])' --algorithm cn-ucb
play oracle-assignment --environment h2 --algorithm cn-ucb --oracle assignment --problem 'discounts=1,0.7,0.4'
play oracle-cascade --environment h2 --algorithm cn-ucb --oracle cascade --clicks cascade --feedback cascade
play oracle-knapsack --environment h2 --algorithm cn-ucb --oracle knapsack --problem 'costs=1,2.5,3,1,2,1.5,2,3,1,2;capacity=5'
play oracle-matroid --environment h2 --algorithm cn-ucb --oracle matroid --problem 'groups=0,0,0,1,1,1,2,2,2,2'
play oracle-assortment --environment h2 --algorithm cn-ucb --oracle assortment --problem 'revenues=1,2,3,1,2,3,1,2,3,1'
play oracle-matching --environment h2 --algorithm cn-ucb --oracle matching --edges '0,0|0,1|0,2|1,0|1,1|1,2|2,0|2,1|2,2|3,0'
play oracle-tree --environment h2 --algorithm cn-ucb --oracle matroid --edges '0,1|0,2|0,3|1,2|1,3|2,3|3,4|4,5|2,5|1,5'
play oracle-path --environment h2 --algorithm cn-ucb --oracle shortest-path --edges '0,1|0,2|1,2|1,3|2,3|2,4|3,4|3,5|4,5|0,3' --source 0 --target 5
play oracle-submodular --environment h2 --algorithm cn-ucb --oracle submodular --topics '1,0|1,0|0,1|0,1|1,1|0.5,0|0,0.5|0.3,0.3|1,0|0,1'
play floor --environment h2 --algorithm cn-ts --floor 0.2
play many-arms --environment h1 --algorithm cn-ucb --arms 700 --rounds 6
play blocks --environment h2 --algorithm cn-ucb --dim 33 --hidden 70 --arms 19 --rounds 22 --train-steps 10
play blocks-double --preset paper --environment h2 --algorithm cn-ucb --dim 33 --hidden 70 --arms 19 --rounds 12 --train-steps 10 --precision double
for engine in exact diagonal sketch; do
    echo "many-$engine $($runner "$agent" many confidence $engine preset paper 2>&1)" || failed=1
    echo "agent-$engine $($runner "$agent" through confidence $engine preset paper 2>&1)"
done
echo "many-tuned $($runner "$agent" many algorithm cn-ts 2>&1)"
echo "agent-tuned $($runner "$agent" through algorithm cn-ts 2>&1)"
exit $failed
