#!/bin/sh
# functions_bytes.sh SOURCE PROGRAM: our functions give the same bits from gcc and clang, -O1 and -O3, with and without FMA, on
# x86-64 and arm64; and neither library nor program calls the C library's.
set -u
source=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags='-std=gnu17 -ffp-contract=off -fno-math-errno -fno-trapping-math -static'
failed=0

called=$(nm -D --undefined-only "$program" | sed 's/.* //; s/@.*//' |
    grep -xE '(exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|[lt]gamma|lgamma_r|cbrt|hypot)[fl]?(_finite)?')
[ -z "$called" ] || { echo "$program calls the C library's $called, whose bits depend on the machine: src/base/functions.h has ours"; failed=1; }

compare() { # NAME RUNNER COMPILER OPTIONS...
    name=$1 runner=$2
    shift 2
    if ! command -v "$1" >/dev/null || { [ "$runner" ] && ! command -v "$runner" >/dev/null; }; then
        echo "$1 $runner: not installed, so $name is not compared"
        [ "${CI:-}" != true ] || failed=1
        return
    fi
    # shellcheck disable=SC2086
    "$@" $flags -I"$source/src" -I"$source/tests" "$source"/tests/functions_bytes.c "$source"/src/base/functions_*.c -lm -o "$folder/it" &&
        $runner "$folder/it" >"$folder/$name" || { echo "$name: does not build or run"; failed=1; return; }
    [ -e "$folder/first" ] || cp "$folder/$name" "$folder/first"
    cmp -s "$folder/first" "$folder/$name" || { echo "$name differs:"; diff "$folder/first" "$folder/$name"; failed=1; }
}
compare gcc-O1 '' gcc -O1
compare gcc-O3 '' gcc -O3
compare clang-O1 '' clang -O1
compare clang-O3 '' clang -O3
if grep -qw fma /proc/cpuinfo 2>/dev/null; then
    compare gcc-fma '' gcc -O3 -mfma -mavx2
    compare clang-fma '' clang -O3 -mfma -mavx2
fi
[ "$(uname -m)" != x86_64 ] || compare arm64 qemu-aarch64-static aarch64-linux-gnu-gcc -O2
exit $failed
