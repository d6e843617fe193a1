#!/bin/sh
# cli_paper.sh SUPERARM: tables and figures for papers: what they have in them, that LaTeX takes them, how wrong options are refused.
set -eu
program=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"
die() { echo "cli_paper: $*" >&2; exit 1; }
refuses() { # SENTENCE ARGUMENTS...
    sentence=$1
    shift
    status=0
    "$program" report "$@" >out 2>err || status=$?
    [ "$status" = 2 ] || die "report $*: exit status $status, not 2: $(cat err)"
    grep -qF -e "$sentence" err || die "report $*: no \"$sentence\" in: $(cat err)"
}
missing() { # what cannot be tested here
    echo "cli_paper: $1 is missing (tools/setup --test), so $2 is not tested" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 77
}
command -v gnuplot >/dev/null || missing gnuplot "the figure"
agents='--agent plain:algorithm=random --agent 50%_of_{a}&b^c:algorithm=best --agent cn-ucb:algorithm=cn-ucb'
for environment in h1 h3; do
    "$program" run --environment $environment --dim 5 --rounds 50 --hidden 8 --runs 5 $agents --out $environment --quiet
done

# A choice of agents, in its order, by names of one's own; differences to another.
"$program" report h1 --format csv --agent cn-ucb:Ours --agent plain --against plain --out chosen >out
sed -n 2p out | grep -q 'minus plain' || die "differences are not to plain: $(cat out)"
[ "$(sed -n '3,4s/ .*//p' out | tr '\n' ' ')" = "Ours plain " ] || die "not the agents that were chosen: $(cat out)"
[ "$(ls chosen)" = "$(printf 'curves.csv\ntable.csv')" ] || die "--format csv leaves $(ls chosen)"
"$program" report h1 --format csv --out all --quiet
[ "$(cut -d , -f 2 chosen/curves.csv | sort -u | tr '\n' ' ')" = "cn-ucb label plain " ] || die "curves.csv has other agents"

# The same numbers, whichever way they are shown: the difference of the means is the mean of the differences.
python3 - <<'END' || die "the differences are wrong"
import csv
rows = {row["label"]: row for row in csv.DictReader(open("chosen/table.csv")) if row["regret"] == "expected"}
all_rows = {row["label"]: row for row in csv.DictReader(open("all/table.csv")) if row["regret"] == "expected"}
difference = float(rows["cn-ucb"]["mean"]) - float(rows["plain"]["mean"])
assert abs(float(rows["cn-ucb"]["difference"]) - difference) < 1e-9 and float(rows["plain"]["difference"]) == 0
assert rows["cn-ucb"]["mean"] == all_rows["cn-ucb"]["mean"]
END

# Two panels, for a paper.
"$program" report h1 h3 --panels --format latex --band quartiles --size 6x2.5 --log xy --title 'Both & more' --out paper --quiet
[ "$(ls paper)" = "$(printf 'regret.pdf\nregret.svg\ntable.tex')" ] || die "--format latex leaves $(ls paper)"
for words in '\\toprule' '50\\%\\_of\\_\\{a\\}\\&b\\textasciicircum{}c & $5$ & {\\boldmath$0.' 'cos($\\pi$ x' '\\bottomrule'; do
    grep -q -e "$(printf %s "$words" | sed 's/[$^*.[]/\\&/g')" paper/table.tex || die "no $words in: $(cat paper/table.tex)"
done
for words in 'Both &amp; more' 'Cumulative expected regret' "width=\"576\" height=\"240\""; do
    grep -q -e "$words" paper/regret.svg || die "no $words in the figure"
done
"$program" report h1 --band none --show 2>/dev/null && die "--show is taken"
for band in sd se ci95 range none; do
    "$program" report h1 --band $band --out band-$band --quiet
    for file in regret.svg regret.png regret.pdf report.html; do [ -s band-$band/$file ] || die "no band-$band/$file"; done
done
cmp -s band-sd/regret.svg band-ci95/regret.svg && die "one standard deviation and the interval look alike"

refuses "--format pdf is not one of html, latex, csv" h1 --format pdf
refuses "--band sem is not one of sd, se, ci95, quartiles, range, none" h1 --band sem
refuses "--size 6 is not a width and a height" h1 --size 6
refuses "--size 6x99 is not a width and a height" h1 --size 6x99
refuses "--log z is not one of none, x, y, xy" h1 --log z
refuses "--agent cn-ts: there is no such agent; there are plain, 50%_of_{a}&b^c, cn-ucb" h1 --agent cn-ts
refuses "--against cn-ts: there is no such agent" h1 --against cn-ts
refuses "--agent plain: there is no such agent" h1 --agent plain --agent plain
refuses "are different experiments: --environment is h1 here and h3 there" h1 h3 --out mixed
refuses "did you mean --panels?" h1 h3 --panel
[ ! -e h1/report.html ] && [ ! -e mixed ] || die "a refused report was written"

command -v pdflatex >/dev/null || missing pdflatex "the table in LaTeX"
cat >paper/paper.tex <<'END'
\documentclass{article}
\usepackage{booktabs,graphicx}
\begin{document}
\input{table}
\begin{figure}\centering\includegraphics[width=\linewidth]{regret.pdf}\end{figure}
\end{document}
END
(cd paper && pdflatex -halt-on-error -interaction=nonstopmode paper.tex >log) || die "LaTeX refuses the table: $(tail -20 paper/log)"
command -v pdftoppm >/dev/null || missing pdftoppm "the figure as PDF"
pdftoppm -r 60 -gray paper/paper.pdf paper/page
python3 - paper/page*.pgm <<'END' || die "the page is blank"
import sys
data = open(sys.argv[1], "rb").read()
pixels = data[-(len(data) - len(b"\n".join(data.split(b"\n", 3)[:3])) - 1):]
assert sum(p < 100 for p in pixels) > 500, "too little ink"
END
