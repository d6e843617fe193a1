#!/bin/sh
# Runs over data of one's own, csv and svmlight: the same bytes for any number of threads and from spec.yaml, draws that replay,
# and tools/make-svmlight, whose features must be those of the csv environment.
set -eu
program=$(realpath "$1")
tools=$(realpath "$(dirname "$0")/../tools")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "$*"; exit 1; }
plain="--rounds 30 --slate 2 --runs 3 --quiet"
small="$plain --hidden 6"

awk 'BEGIN { print "length,colour,width,kind"
             for (i = 0; i < 60; i++)
                 printf "%d,%s,%s,%s\r\n", i % 7 - 3, i % 3 ? "red" : "blue", i % 5 ? i : "?", i % 4 ? "no" : "yes" }' >pool.csv
csv="--environment csv --data pool.csv --header --label kind --positive yes --arms 8"

# the same bytes for one thread and two, and again from the spec, from elsewhere and with an environment that adds no noise
"$program" run $csv $small --algorithm cn-ucb,comblin-ts,random --threads 1 --out one
"$program" run $csv $small --algorithm cn-ucb,comblin-ts,random --threads 2 --out two
mkdir elsewhere
(cd elsewhere && "$program" run ../one/spec.yaml --quiet --out ../three)
for file in cn-ucb comblin-ts random; do
    for folder_of in two three; do
        cmp one/$file/reward.npy $folder_of/$file/reward.npy && cmp one/$file/expected_regret.npy $folder_of/$file/expected_regret.npy
    done
done
cmp one/spec.yaml three/spec.yaml
grep -q '^noise: 0$' one/spec.yaml || fail "the spec does not say that there is no noise"
"$program" run $csv $plain --noise 0.01 --algorithm random --out four
cmp -s one/random/reward.npy four/random/reward.npy && fail "--noise 0.01 by hand adds no noise"

# a draw, replayed, is the same experiment
"$program" draw $csv --rounds 30 --runs 3 --quiet --out draws
"$program" run --environment npy --contexts draws/contexts.npy --scores draws/scores.npy --noise-values draws/noise.npy \
    $plain --algorithm comblin-ts --out five
cmp one/comblin-ts/reward.npy five/comblin-ts/reward.npy

"$program" list environments | grep -q '^svmlight .*N varies' || fail "svmlight is not listed"
if "$program" run $csv $plain --slate 9 --algorithm random 2>said; then fail "a slate of 9 of 8 arms is taken"; fi
grep -q -e '--slate 9 is more than --arms 8' said || fail "$(cat said)"

command -v python3 >/dev/null || exit 0

# All rows in one query: what comes out has the features of the csv environment, in another order of rows.
"$tools/make-svmlight" pool.csv --header --label kind --positive yes --queries 1 --documents 60 >all.txt
"$program" draw --environment csv --data pool.csv --header --positive yes --arms 60 --rounds 1 --runs 1 --quiet --out rows
"$program" draw --environment svmlight --data all.txt --rounds 1 --runs 1 --quiet --out documents
cat >sorted.py <<'END'
import struct, sys

def read(path):
    data = open(path, "rb").read()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]

for folder in sys.argv[1:]:
    contexts, scores = read(folder + "/contexts.npy"), read(folder + "/scores.npy")
    dim = len(contexts) // len(scores)
    print(dim, sorted((contexts[8 * dim * i:8 * dim * (i + 1)], scores[8 * i:8 * i + 8]) for i in range(len(scores) // 8)))
END
python3 sorted.py rows >rows.out
python3 sorted.py documents >documents.out
cmp rows.out documents.out || fail "make-svmlight makes other features than the csv environment"

# grades, queries of different size, and users
"$tools/make-svmlight" pool.csv --header --grades yes=2,no=1 --queries 12 --documents 1-6 >varied.txt
awk '{ n[$2]++; grade[$1]++ } END { for (q in n) { queries++; if (n[q] > 6) exit 1 } exit !(queries == 12 && grade[1] && grade[2] && !grade[0]) }' \
    varied.txt || fail "grades or queries are not what was asked for"
"$program" run --environment svmlight --data varied.txt --user informational $small --algorithm cn-ucb,best --threads 2 --out six
"$program" run --environment svmlight --data varied.txt --user informational $small --algorithm cn-ucb,best --threads 1 --out seven
cmp six/cn-ucb/reward.npy seven/cn-ucb/reward.npy
if "$program" run --environment svmlight --data varied.txt $small --slate 9 2>said; then fail "a slate of 9 is taken"; fi
grep -q -e '--slate 9 is more than the . documents of the largest query' said || fail "$(cat said)"
if "$program" draw --environment svmlight --data varied.txt --quiet --out eight 2>said; then fail "rounds of different size are drawn"; fi
grep -q 'more arms in one round than in another' said || fail "$(cat said)"

for wrong in "pool.csv --header --grades yes=5" "pool.csv --header --positive maybe" "pool.csv --positive yes --label kind" \
    "pool.csv --header --positive yes --documents 61" "none.csv --positive yes" "pool.csv --header --positive yes --queries 0"; do
    if "$tools/make-svmlight" $wrong >said 2>&1; then fail "make-svmlight takes $wrong"; fi
    grep -q '^tools/make-svmlight: ' said || fail "$wrong: $(cat said)"
done
"$tools/make-svmlight" --help | grep -q 'examples:' || fail "make-svmlight --help has no example"
