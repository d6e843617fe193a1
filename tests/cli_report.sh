#!/bin/sh
# cli_report.sh SUPERARM: the program's report: what it prints and writes, what it merges, how it refuses.
set -eu
program=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"

die() { echo "cli_report: $*" >&2; exit 1; }
refuses() { # SENTENCE ARGUMENTS...
    sentence=$1
    shift
    status=0
    "$program" report "$@" >out 2>err || status=$?
    [ "$status" = 2 ] || die "report $*: exit status $status, not 2"
    [ ! -s out ] || die "report $*: printed something on stdout"
    [ "$(wc -l <err)" = 1 ] || die "report $*: not one line: $(cat err)"
    grep -qF -e "$sentence" err || die "report $*: no \"$sentence\" in: $(cat err)"
}
run() { "$program" run --dim 5 --rounds 20 --algorithm random,best --quiet "$@"; }

run --runs 4 --out whole
run --runs 2 --out first
run --runs 2 --first-run 2 --out second
"$program" report whole >out
grep -q '^best *4 ' out || die "no table: $(cat out)"
[ "$(tail -1 out)" = "The report is whole/report.html" ] || die "the last line is: $(tail -1 out)"
for file in report.html table.csv curves.csv; do [ -s "whole/$file" ] || die "no whole/$file"; done

# Halves equal the whole; the curves know nothing of times.
"$program" report first second --out merged --quiet >out
[ ! -s out ] || die "--quiet prints: $(cat out)"
sed 's/^whole,/first,/' whole/curves.csv | cmp - merged/curves.csv || die "the merged curves differ"
cut -d, -f 2-14 whole/table.csv >one
cut -d, -f 2-14 merged/table.csv | cmp - one || die "the merged table differs"
[ ! -e first/report.html ] || die "--out was not heeded"

# Without gnuplot the tables come all the same.
mkdir bare
program_path=$program
PATH="$root/bare" "$program_path" report second >out 2>err || die "no report without gnuplot: $(cat err)"
grep -q 'gnuplot is not installed' err || die "nothing said of gnuplot: $(cat err)"
[ -s second/report.html ] && [ ! -e second/regret.svg ] || die "the wrong files without gnuplot"

run --noise 0.5 --first-run 9 --runs 1 --out other
refuses "which folder?"
refuses "did you mean --out?" first --ot x
refuses "--out needs a value" first --out
refuses "--wrong is not an option" first --wrong
refuses "gone cannot be read" gone
refuses "is empty" bare
"$program" report first whole --out overlapping --quiet || die "the same runs in two folders are refused"
cmp whole/best/reward.npy overlapping/best/reward.npy || die "what was merged is not the whole"
refuses "--out whole holds an experiment of its own" first second --out whole
refuses "first and other are different experiments: --noise is 0.01 here and 0.5 there" first other
refuses "nothing.csv cannot be" first --reference nothing.csv
echo "a,b" >wrong.csv
refuses "wrong.csv:1: the columns must be" first --reference wrong.csv
[ ! -e first/report.html ] || die "a refused report was written"
"$program" report --help | grep -q '^Examples:' || die "no examples in the help"
