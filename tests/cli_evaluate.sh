#!/bin/sh
# superarm evaluate: its table, its JSON, its sentences.
set -eu
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "$*" >&2
    exit 1
}
has() { grep -qF -- "$2" "$1" || fail "$1 lacks \"$2\": $(cat "$1")"; }
refused() { # WORDS ARGUMENTS...
    words=$1
    shift
    status=0
    "$program" evaluate "$@" >out 2>err || status=$?
    [ $status = 2 ] || fail "evaluate $*: exit status $status"
    has err "superarm evaluate: "
    has err "$words"
    [ "$(wc -l <err)" = 1 ] || fail "more than a sentence: $(cat err)"
    [ ! -s out ] || fail "something on stdout"
}

i=0
while [ $i -lt 120 ]; do
    echo "{\"contexts\": [[$i, 1], [1, 0], [0, 1]], \"slate\": [$((i % 3)), $(((i + 1) % 3))], \"propensity\": 0.25,
        \"prefix_propensities\": [0.5, 0.25], \"position_propensities\": [0.5, 0.4], \"target_propensity\": 0.125,
        \"target_prefix_propensities\": [0.5, 0.125], \"target_position_propensities\": [0.5, 0.2],
        \"feedback\": [1, $((i % 2))]}" | tr -d '\n'
    echo
    i=$((i + 1))
done >log.jsonl

"$program" evaluate --help >help
has help "superarm evaluate clicks.jsonl"
"$program" evaluate log.jsonl --policy given,logged --estimators ips,iips,rips --json out.json >table 2>warnings
has table "120 decisions of log.jsonl"
has table "given        ips                0.75"
has table "logged       ips                 1.5"
has table "logged minus given"
has out.json '"ips": {"value": 0.75,'
has out.json '"rips": {"value": 1.25,'
has warnings "superarm evaluate: warning: policy given, ips: the weights' mean is 0.5"
"$program" evaluate log.jsonl --estimators ips --bootstrap 50 >table 2>/dev/null
has table bootstrap

# the first 40 got the control's slate: estimates of the others, beside what was measured (a mean of 1.5)
sed '1,40s/"feedback"/"side": "control", &/' log.jsonl >sides.jsonl
"$program" evaluate sides.jsonl --policy logged --estimators ips --json out.json >table 2>/dev/null
has table "80 decisions of sides.jsonl"
has table "control      measured            1.5"
has table "logged minus control"
has table "             ips                   0"
has out.json '"control": {"events": 40, "value": 1.5, '
has out.json '"minus_control": {"value": 0, '

"$program" evaluate log.jsonl --policy given,uniform --page page.html >table 2>/dev/null
for words in "<h2>Estimates and 95% intervals" "<td>rips<td>1.25" "given snips</text>" "whole slates: 0 of 120 weights are 0" "position 1: 1<"; do
    has page.html "$words"
done
"$program" evaluate log.jsonl --policy given,logged --estimators ips --bootstrap 50 >table 2>/dev/null
[ "$(grep -c bootstrap table)" = 3 ] || fail "two policies and their difference have bootstrap intervals: $(cat table)"
sed 's/"feedback": \[1, \([01]\)\]/"feedback": [2, 2]/' log.jsonl >twos.jsonl
for model in network ridge; do
    "$program" evaluate twos.jsonl --policy uniform --estimators dm,cascade-dr --model $model >$model 2>/dev/null
done
has network "uniform      cascade-dr"
has network "             dm                    4"
if cmp -s network ridge; then fail "the network and the ridge predict the same"; fi
refused "--model net is not network, ridge or zero" log.jsonl --policy uniform --estimators dm --model net
refused "dm needs the probabilities of all arms" log.jsonl --estimators dm
refused "which log?"
refused "absent.jsonl" absent.jsonl
refused "--bootstrap -1" log.jsonl --bootstrap=-1
refused "--folds 1" log.jsonl --folds 1
refused "--seed x" log.jsonl --seed x
refused "--lengths long" log.jsonl --lengths long
refused "--policy nobody" log.jsonl --policy nobody
refused "--estimators ibs is not one of" log.jsonl --estimators ibs
refused "--estimator is not an option; did you mean --estimators?" log.jsonl --estimator ips
refused "iips compares positions" log.jsonl --estimators iips --lengths policy
sed '7s/"propensity": 0.25/"propensity": 0/' log.jsonl >zero.jsonl
refused "zero.jsonl:7: propensity is 0" zero.jsonl
sed '7s/"propensity": 0.25/"propensity": NaN/' log.jsonl >nan.jsonl
refused "nan.jsonl:7: " nan.jsonl
sed 's/"target_propensity": 0.125/"target_propensity": 0/' log.jsonl >never.jsonl
refused "never.jsonl has no decision that the policy given could have made" never.jsonl --estimators ips
"$program" evaluate zero.jsonl --skip-bad --estimators ips >table 2>warnings
has table "119 decisions of zero.jsonl"
has warnings "1 line was skipped; the first: zero.jsonl:7: propensity is 0"
echo '{"contexts": [[1]], "slate": [0]}' >open.jsonl
refused "open.jsonl has no decision with final feedback" open.jsonl
