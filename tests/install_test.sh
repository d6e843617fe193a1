#!/bin/sh
# install_test.sh BUILD COMPILER: an installed superarm is usable from outside with pkg-config and find_package, shared and
# static, and the shared library shows the public functions and nothing else.
set -eu
build=$(realpath "$1") compiler=$2
tools=$(realpath "$(dirname "$0")/../tools")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log"; exit 1; }
library=$(find "$prefix" -name libsuperarm.so)
folder=$(dirname "$library")
PKG_CONFIG_PATH=$folder/pkgconfig
export PKG_CONFIG_PATH

# ---- symbols ----
sed -n 's/^SA_API .*[ *]\(sa_[a-z0-9_]*\)(.*/\1/p' "$prefix"/include/superarm/*.h | sort >"$prefix/public"
nm -D --defined-only "$library" | sed 's/.* //' | sort >"$prefix/visible"
test -s "$prefix/public"
diff "$prefix/public" "$prefix/visible" || { echo "< public, but not in the library; > visible, but not public"; exit 1; }

# ---- programs ----
cat >"$prefix/program.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <superarm/superarm.h>
int main(int count, char **arguments) {
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    if (!options || sa_options_set(options, "dim", "3") || sa_agent_create(options, &agent)) puts(sa_last_error());
    int fine = agent != NULL && count == 2 && strcmp(sa_version(), arguments[1]) == 0;
    sa_agent_destroy(agent);
    sa_options_destroy(options);
    return fine ? 0 : 1;
}
END
version=$(pkg-config --modversion superarm)
cd "$prefix"
# shellcheck disable=SC2046
{
    "$compiler" program.c -o shared $(pkg-config --cflags --libs superarm)
    mkdir only_static && cp "$folder/libsuperarm.a" only_static
    "$compiler" program.c -o static -Lonly_static $(pkg-config --cflags --libs --static superarm)
}
LD_LIBRARY_PATH=$folder ./shared "$version"
./static "$version"

mkdir client
cat >client/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(client LANGUAGES C)
find_package(superarm REQUIRED)
add_executable(client ../program.c)
target_link_libraries(client superarm::superarm)
END
{ cmake -S client -B client/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" &&
    cmake --build client/build; } >log 2>&1 || { cat log; exit 1; }
client/build/client "$version"

"$prefix/bin/superarm" --help >/dev/null

# ---- man pages and completion know every subcommand and option ----
for command in $("$prefix/bin/superarm" --help | sed '/^Example/,$d' | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do
    grep -q '^\.SH EXAMPLES' "$prefix/share/man/man1/superarm-$command.1" || { echo "no man page of superarm $command"; exit 1; }
done
bash -c '. "$0/share/bash-completion/completions/superarm"
    complete() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _superarm; echo "${COMPREPLY[@]}"; }
    [ "$(complete superarm sw)" = sweep ] && [ "$(complete superarm sweep --gri)" = --grid ] && [ "$(complete superarm run --noise-v)" = --noise-values ] &&
    [ "$(complete superarm run --algorithm comblin-u)" = comblin-ucb ] && [ "$(complete superarm run --preset ic)" = icml23 ]' "$prefix" ||
    { echo "bash completion is wrong"; exit 1; }

# ---- the Debian package ----
if command -v dpkg-shlibdeps >/dev/null; then
    "$tools/deb" "$build" "$prefix/dist" >/dev/null
    dpkg-deb -x "$prefix"/dist/superarm_*.deb "$prefix/deb"
    dpkg-deb -f "$prefix"/dist/superarm_*.deb Depends | grep -q libzip || { echo "the package does not depend on libzip"; exit 1; }
    "$prefix/deb/usr/bin/superarm" list algorithms | grep -q '^cn-ucb ' || { echo "the package's program does not run"; exit 1; }
    for file in lib/libsuperarm.so.0 include/superarm/agent.h share/man/man1/superarm-run.1.gz share/doc/superarm/copyright; do
        [ -e "$prefix/deb/usr/$file" ] || { echo "the package has no $file"; exit 1; }
    done
fi
