#!/bin/sh
# cli_docs.sh SUPERARM: every command and block of code in the README and in docs/ runs: docs_blocks.py says how.
set -eu
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
if [ ! -e "$(dirname "$program")/python/superarm/_superarm.abi3.so" ]; then
    echo "cli_docs: this build has no Python package, so the pages are not tested" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$here/docs_blocks.py" "$program" "$folder"
