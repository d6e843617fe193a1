#!/bin/sh
# Every command of docs/LOGS.md runs, and prints what stands below it.
set -eu
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
awk '/^```sh$/ { n++; to = sprintf("%02d.sh", n); next }
     /^```$/ && !to && last { to = sprintf("%02d.out", n); last = 0; next }
     /^```/ { last = to ~ /sh$/; to = ""; next }
     !/^```/ { if (!to) last = 0 }
     to { print > to }' "$here/../docs/LOGS.md"
ln -s "$program" superarm
count=0
for script in ??.sh; do
    count=$((count + 1))
    name=$(basename "$script" .sh)
    [ -f "$name.out" ] || : >"$name.out"
    PATH="$folder:$PATH" sh "$script" >"$name.said" 2>"$name.err" || { echo "example $name fails:" && cat "$script" "$name.err" && exit 1; }
    cmp -s "$name.said" "$name.out" || { echo "example $name:" && cat "$script" "$name.said" "$name.err" && exit 1; }
done
[ "$count" -ge 7 ] || { echo "only $count examples were found"; exit 1; }
