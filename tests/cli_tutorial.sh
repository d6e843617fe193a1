#!/bin/sh
# cli_tutorial.sh SUPERARM: the steps of docs/TUTORIAL.md, one after the other, as they stand there, with what is built here installed
# into a folder of their own.
set -eu
program=$(realpath "$1")
build=$(dirname "$program")
page=$(realpath "$(dirname "$0")/../docs/TUTORIAL.md")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"
die() { echo "cli_tutorial: $*" >&2; exit 1; }
python=$(sed -n 's/^SUPERARM_PYTHON_FOUND:INTERNAL=//p' "$build/CMakeCache.txt")
if [ ! -e "$build/python/superarm/_superarm.abi3.so" ] || [ -z "$python" ]; then
    echo "cli_tutorial: this build has no Python package, so the tutorial is not tested" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
fi

# The page's blocks: epsilon.c, ridge.py, and the commands.
awk '/^```sh$/ { to = "steps.sh"; next } /^```c$/ { to = "epsilon.c"; next } /^```python$/ { to = "ridge.py"; next } /^```/ { to = ""; next }
     to { print > to }' "$page"
[ -s epsilon.c ] && [ -s ridge.py ] && [ "$(grep -c superarm steps.sh)" -ge 3 ] || die "the page has other blocks"
mkdir bin
printf '#!/bin/sh\nexec cmake --install "%s" --prefix "${2#PREFIX=}"\n' "$build" >bin/make
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >bin/python3
chmod +x bin/make bin/python3
HOME=$root PATH="$root/bin:$PATH" PYTHONPATH="$build/python" OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 sh -eu steps.sh >log 2>&1 ||
    die "a step fails: $(cat log)"
grep -q '^the best width is' log || die "the sweep in Python says nothing: $(cat log)"
for label in cn-ucb comblin-ucb random epsilon ridge-ts; do
    [ -s results/mine/$label/expected_regret.npy ] || die "no $label in results/mine"
done
for name in 'Mine, in C' 'Mine, in Python' 'CN-UCB'; do grep -q "$name" paper/table.tex || die "no $name in the table"; done
[ -s paper/regret.svg ] && [ -s paper/regret.pdf ] && [ -s results/mine/report.html ] || die "no figures"
mean() { sed -n "s/.*$1 & \$5\$ & [^0-9]*\([0-9.]*\).*/\1/p" paper/table.tex | head -1; }
for name in 'CN-UCB (tuned)' 'Mine, in C' 'Mine, in Python'; do
    awk -v own="$(mean "$name")" -v chance="$(mean random)" 'BEGIN { exit !(own > 0 && own < 0.95 * chance) }' ||
        die "$name ($(mean "$name")) is no better than chance ($(mean random))"
done
