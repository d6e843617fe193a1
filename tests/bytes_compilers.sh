#!/bin/sh
# bytes_compilers.sh SOURCE SUPERARM BYTES_AGENT: the suite of bytes_suite.sh has the same results when the library is built by gcc or
# clang, with -O1 or -O3, for x86-64 or for arm64 (under qemu, with Debian's packages for arm64: tools/setup --test, in CI). What is not
# installed is left out; in CI it must be there.
set -u
source=$1 program=$2 agent=$3
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0 compared=0
"$here/bytes_suite.sh" "$program" "$agent" >"$folder/first" || { cat "$folder/first"; exit 1; }

compare() { # NAME RUNNER COMPILER FLAGS CMAKE-OPTIONS...: kernels, too, get the flags, since this is no Release
    name=$1 runner=$2 compiler=$3 flags=$4
    shift 4
    if ! cmake -S "$source" -B "$folder/$name" -DCMAKE_BUILD_TYPE=Bytes -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags" -DSUPERARM_WERROR=OFF \
        -DBUILD_TESTING=OFF -DSUPERARM_PYTHON=off -DSUPERARM_SERVE=OFF -DSUPERARM_ILP=OFF "$@" >"$folder/log" 2>&1 ||
        ! cmake --build "$folder/$name" -j2 --target superarm_program bytes_agent >"$folder/log" 2>&1; then
        tail -20 "$folder/log"
        echo "bytes_compilers: $name does not build"
        failed=1
        return
    fi
    "$here/bytes_suite.sh" "$folder/$name/superarm" "$folder/$name/bytes_agent" "$runner" >"$folder/results" || failed=1
    if cmp -s "$folder/first" "$folder/results"; then
        echo "bytes_compilers: $name has the same bytes"
    else
        echo "bytes_compilers: $name differs:"
        diff "$folder/first" "$folder/results"
        failed=1
    fi
    compared=$((compared + 1))
    rm -rf "${folder:?}/$name"
}
missing() {
    echo "bytes_compilers: $1, so $2 is not compared (tools/setup --test installs it in CI)"
    [ "${CI:-}" != true ] || failed=1
}

compare gcc-O1 '' gcc -O1
if command -v clang >/dev/null; then
    compare clang-O1 '' clang -O1
    compare clang-O3 '' clang -O3
else
    missing 'there is no clang' clang
fi
arm64=/usr/lib/aarch64-linux-gnu/pkgconfig
if [ "$(uname -m)" = x86_64 ]; then
    if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64-static >/dev/null && [ -e $arm64/libzip.pc ] &&
        [ -e $arm64/jansson.pc ] && [ -e $arm64/yaml-0.1.pc ]; then
        PKG_CONFIG_LIBDIR=$arm64:/usr/share/pkgconfig
        export PKG_CONFIG_LIBDIR
        compare arm64 qemu-aarch64-static aarch64-linux-gnu-gcc -O2 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
    else
        missing 'a compiler, qemu or packages for arm64 are missing' arm64
    fi
fi
echo "bytes_compilers: $compared builds compared"
exit $failed
