#!/bin/sh
# bytes_kernels.sh SUPERARM BYTES_AGENT: the suite of bytes_suite.sh has the same results with every set of kernels that this CPU runs, and
# without FMA; an agent saved under one of them goes on under another as if it had never been saved.
set -u
program=$1 agent=$2
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
die() { echo "bytes_kernels: $*"; exit 1; }
"$here/bytes_suite.sh" "$program" "$agent" >"$folder/first" || { cat "$folder/first"; die "the suite does not run"; }
[ "$(wc -l <"$folder/first")" -ge 40 ] || die "the suite has few lines"

sets=
for kernels in avx512 avx2 neon portable; do
    SUPERARM_KERNELS=$kernels "$program" list algorithms >/dev/null 2>&1 || continue # this CPU has not got them
    sets="$sets $kernels"
    SUPERARM_KERNELS=$kernels "$here/bytes_suite.sh" "$program" "$agent" >"$folder/$kernels" || die "the suite does not run with $kernels"
    cmp -s "$folder/first" "$folder/$kernels" || { diff "$folder/first" "$folder/$kernels"; die "results differ with $kernels"; }
done
case $sets in *\ portable) ;; *) die "portable kernels do not run" ;; esac

# fma() of the C library in whole numbers, as on a CPU without the instruction (glibc's own switch; elsewhere nothing changes)
for words in 'through preset paper confidence exact' 'through algorithm cn-ts' 'many confidence diagonal preset paper'; do
    # shellcheck disable=SC2086
    with=$("$agent" $words) without=$(GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2 SUPERARM_KERNELS=portable "$agent" $words)
    [ "$with" = "$without" ] || die "$words: $with, and without FMA $without"
done

for options in 'preset paper confidence exact' 'preset paper confidence diagonal' 'preset paper confidence sketch sketch-size 16' \
    'algorithm cn-ts' 'algorithm comblin-ts' 'algorithm neural-linear'; do
    # shellcheck disable=SC2086
    through=$("$agent" through $options) || die "$options: does not run"
    for one in $sets; do
        # shellcheck disable=SC2086
        SUPERARM_KERNELS=$one "$agent" save "$folder/agent.npz" $options >/dev/null || die "$options: is not saved with $one"
        for other in $sets; do
            cp "$folder/agent.npz" "$folder/copy.npz"
            on=$(SUPERARM_KERNELS=$other "$agent" go-on "$folder/copy.npz") || die "$options: does not go on with $other"
            [ "$on" = "$through" ] || die "$options: saved with $one, it goes on differently with $other"
        done
    done
done
echo "the same bytes:$sets"
