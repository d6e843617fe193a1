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

# Where there is dnf and no dpkg, Fedora's packages are installed: all at once, or one by one where one of them does not exist.
mkdir "$root/fedora"
for word in sh dirname tr id uname cat; do ln -s "$(command -v $word)" "$root/fedora/$word"; done
cat >"$root/fedora/dnf" <<'END'
#!/bin/sh
echo "$*" >>"$DNF_LOG"
case "$*" in *gcc\ make*) exit 1 ;; esac
END
printf '#!/bin/sh\nexit 1\n' >"$root/fedora/rpm"
printf '#!/bin/sh\nexec "$@"\n' >"$root/fedora/sudo"
sed 's/-t 0/yes/' tools/setup-fedora >"$root/setup-fedora" # sudo asks no one here
cp tools/setup "$root/setup"
chmod +x "$root/fedora/dnf" "$root/fedora/rpm" "$root/fedora/sudo" "$root/setup" "$root/setup-fedora"
DNF_LOG="$root/dnf.log" PATH="$root/fedora" "$root/setup" --test 2>"$root/err" || die "setup fails with dnf: $(cat "$root/err")"
grep -q 'install.* gcc$' "$root/dnf.log" || die "with dnf, gcc is not tried alone: $(cat "$root/dnf.log")"
grep -q 'install.*pkgconfig(cmocka).*clang' "$root/dnf.log" || die "with dnf, the tests' packages are not installed: $(cat "$root/dnf.log")"
grep -q 'Random123-devel is missing (required)' "$root/err" || die "what is missing is not said: $(cat "$root/err")"
