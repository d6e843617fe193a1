#!/bin/sh
# cli_reproduce.sh SUPERARM: the paper's figures in very small: folders, options, --resume, --reference, splitting by runs.
set -eu
program=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"

die() { echo "cli_reproduce: $*" >&2; exit 1; }
refuses() { # SENTENCE ARGUMENTS...
    sentence=$1
    shift
    status=0
    "$program" reproduce "$@" >out 2>err || status=$?
    [ "$status" = 2 ] || die "reproduce $*: exit status $status, not 2: $(cat err)"
    grep -qF -e "$sentence" err || die "reproduce $*: no \"$sentence\" in: $(cat err)"
}
small="--quick --rounds 30 --runs 2 --dim 8 --hidden 16"

# All figures; the options given win.
"$program" reproduce all $small --out all >out 2>err || die "all: $(cat err)"
for folder in fig1/h1 fig1/h2 fig1/h3 fig2/d8 fig3/h1; do
    [ -s "all/$folder/summary.json" ] || die "no all/$folder/summary.json"
done
grep -qx 'rounds: 30' all/fig1/h3/spec.yaml || die "--rounds did not win"
grep -qx 'preset: icml23-[0-9]*' all/fig1/h1/spec.yaml || die "the preset is not icml23"
[ "$(grep -c '^The report is all/fig[123]/report.html$' out)" = 3 ] || die "the reports are not named: $(cat out)"
for name in CN-UCB CN-TS 'CN-TS (M=1)' CombLinUCB CombLinTS greedy 'CombLinUCB (as published)' 'CombLinTS (as published)'; do
    grep -qF "<th scope=\"row\">$name</th>" all/fig1/report.html || die "fig1 has no $name"
done
grep -q 'quick version' all/fig1/report.html || die "the page does not say that it is the quick version"
grep -q "run as their papers define them" all/fig1/report.html || die "not a word on the corrected agents"
grep -qF 'CN-TS (m=16)' all/fig3/report.html || die "fig3 has no CN-TS (m=16)"
if command -v gnuplot >/dev/null; then
    for file in fig1.svg fig1.png; do [ -s "all/fig1/$file" ] || die "no all/fig1/$file"; done
    [ "$(grep -c '<figure ' all/fig1/report.html)" = 3 ] || die "fig1 does not have three panels"
fi

# Under another preset the corrected ones would be the same, and are left out; a value of what varies leaves one panel.
"$program" reproduce fig1 --preset paper --environment h2 $small --out paper >out 2>err || die "paper: $(cat err)"
[ "$(ls paper/fig1 | grep -c '^h')" = 1 ] || die "--environment h2 left: $(ls paper/fig1)"
! grep -q corrected paper/fig1/h2/spec.yaml || die "the paper preset has corrected agents"

# Finished work is not done again, and a folder in use is not touched without --resume.
refuses "is not empty" fig1 $small --out all
before=$(cat all/fig1/h1/summary.json)
"$program" reproduce fig1 $small --out all --resume --quiet >out 2>err || die "--resume: $(cat err)"
[ ! -s out ] || die "--quiet prints: $(cat out)"
[ "$before" = "$(cat all/fig1/h1/summary.json)" ] || die "--resume did finished work again"
refuses "--rounds is 31 here and 30 in" fig1 --quick --rounds 31 --runs 2 --dim 8 --hidden 16 --out all --resume

# Stopped and resumed equals done in one go.
"$program" reproduce fig2 --dim 20 --rounds 250 --runs 6 --algorithm cn-ucb --threads 1 --out one --quiet
"$program" reproduce fig2 --dim 20 --rounds 250 --runs 6 --algorithm cn-ucb --threads 1 --out two --quiet 2>err &
job=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    ls two/fig2/d20/parts/*.npz >/dev/null 2>&1 && break
    sleep 0.1
done
kill -TERM "$job"
status=0
wait "$job" || status=$?
if [ "$status" != 0 ]; then # else it was faster than the signal
    grep -q 'stopped in fig2 d20; the same command with --resume goes on' err || die "stopped with: $(cat err)"
    [ ! -e two/fig2/report.html ] || die "a stopped figure has a report"
fi
"$program" reproduce fig2 --dim 20 --rounds 250 --runs 6 --algorithm cn-ucb --threads 1 --out two --quiet --resume
cmp one/fig2/curves.csv two/fig2/curves.csv || die "stopped and resumed differs"

# Split over machines by runs, and merged.
"$program" reproduce fig2 --dim 20 --rounds 250 --runs 2 --algorithm cn-ucb --out a --quiet
"$program" reproduce fig2 --dim 20 --rounds 250 --runs 4 --first-run 2 --algorithm cn-ucb --out b --quiet
"$program" report a/fig2 b/fig2 --out merged --quiet
cmp one/fig2/curves.csv merged/curves.csv || die "the merged figure differs"

# Published curves.
printf 'figure,score,d,algorithm,round,mean_regret,sd_regret,runs\nfig2,h2,20,cn-ucb,250,50,5,20\n' >published.csv
"$program" reproduce fig2 --dim 20 --rounds 250 --runs 6 --algorithm cn-ucb --out one --resume --reference published.csv >out
grep -q '^CN-UCB, published *20 ' out || die "no published row: $(cat out)"
printf 'figure,score,d,algorithm,round,mean_regret,sd_regret,runs\nfig2,h2,20,cn-ucb,250,?,5,20\n' >published.csv
refuses "published.csv:2: mean_regret ? is not a number" fig2 --out new --reference published.csv
[ ! -e new ] || die "a refused figure was begun"

refuses "say first which figure"
refuses "did you mean fig2?" fg2
refuses "table7 is not one of fig1, fig2, fig3 and all" table7
refuses "spec.yaml is one word too many" fig1 spec.yaml
refuses "--runs 0" fig1 --runs 0
refuses "--trace is for one experiment" fig1 --trace x
refuses "--slate 25 is more than --arms 20" fig1 --slate 25 --out new
refuses "--reference needs a value" fig1 --reference
"$program" reproduce --help >out
grep -q '^Examples:' out && grep -q 'preset icml23' out || die "the help has no examples or another preset"
"$program" reproduce fig1 --quick --rounds 5 --runs 1 --dim 3 --algorithm random --environment h1 --progress --out p >out 2>err
grep -q 'fig1 h1: .* of 1 runs' err || die "no progress line: $(cat err)"
