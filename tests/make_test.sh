#!/bin/sh
# make_test.sh ROOT: `make help` lists every target, and a build says where it builds before it takes its time.
set -eu
cd "$1"
unset MAKEFLAGS MFLAGS MAKELEVEL || true
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
die() { echo "make_test: $*" >&2; exit 1; }

make help >"$root/help"
targets=$(sed -n 's/^\.PHONY: //p' Makefile)
[ -n "$targets" ] || die "the Makefile has no targets"
for target in $targets; do grep -q "^make $target  *[^ ]" "$root/help" || die "make help does not list $target"; done
[ "$(wc -l <"$root/help")" = "$(echo "$targets" | wc -w)" ] || die "make help lists more than targets: $(cat "$root/help")"

# A cmake that does nothing, or fails with a word.
mkdir "$root/bin" "$root/built"
printf '#!/bin/sh\n[ -z "${FAILS:-}" ] || { echo "cmake: no"; exit 3; }\n' >"$root/bin/cmake"
chmod +x "$root/bin/cmake"
build() { PATH="$root/bin:$PATH" tools/build "$root/built" 1 >"$root/out" 2>"$root/err"; }
build || die "the build failed"
[ "$(cat "$root/err")" = "building in $root/built/, which takes some minutes the first time" ] || die "says: $(cat "$root/err")"
touch "$root/built/superarm"
build || die "the build failed"
[ "$(cat "$root/err")" = "building in $root/built/" ] || die "the second time it says: $(cat "$root/err")"
[ ! -s "$root/out" ] || die "prints on stdout: $(cat "$root/out")"
status=0
FAILS=yes build || status=$?
[ "$status" = 3 ] || die "exit status $status of a build that failed with 3"
[ "$(tail -1 "$root/err")" = "cmake: no" ] || die "what failed is not shown: $(cat "$root/err")"
