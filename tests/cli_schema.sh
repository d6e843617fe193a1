#!/bin/sh
# superarm schema: proposes a schema that fits the log it comes from, names lines that do not fit, and refuses what is no log.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "$*"; exit 1; }

# 200 decisions of 5 items: every kind of field
awk 'BEGIN {
    srand(5)
    split("phone desktop tablet", device, " "); split("shoes hats coats bags", kind, " ")
    for (n = 1; n <= 200; n++) {
        printf "{\"event\":\"e%d\",\"context\":{\"hour\":%d,\"device\":\"%s\",\"city\":\"city number %d of many\",\"session\":\"s%d\",\"site\":\"x\"},\"items\":[", \
            n, int(rand() * 24), device[1 + int(rand() * 3)], int(rand() * 20), n
        for (i = 0; i < 5; i++)
            printf "%s{\"id\":\"p%d\",\"kind\":\"%s\",\"price\":%.2f,\"age\":%.3f,\"new\":%s,\"tags\":[\"t%d\",\"t%d\"],\"pixels\":[1,2]%s}", i ? "," : "", i, \
                kind[1 + int(rand() * 4)], exp(6 * rand()), rand() - 0.5, rand() < 0.5 ? "true" : "false", rand() * 30, rand() * 30, i ? ",\"stock\":" int(rand() * 9) : ""
        printf "],\"slate\":[\"p%d\"],\"feedback\":[%d]}\n", int(rand() * 5), rand() < 0.3
    }
}' >log.jsonl
"$program" schema log.jsonl >schema.yaml
for line in '  hour: cyclic 24 ' '  city: hashed 64 ' '  price: log ' '  age: number ' '  new: flag ' '  tags: tags 64 ' '  kind: category \[' \
    '  device: category \[' '  stock: number .*200 missing' '# left out: context.session is hardly ever the same twice' \
    '# left out: context.site is always the same' '# left out: item.pixels is a list of other things than texts' '# cross: \[\[device, kind\]\]'; do
    grep -q "^$line" schema.yaml || fail "no $line in: $(cat schema.yaml)"
done
"$program" schema --check schema.yaml log.jsonl >said || fail "the proposal does not fit: $(cat said)"
grep -q '^200 decisions fit, 0 do not; 1[0-9][0-9] features an arm$' said || fail "$(cat said)"
grep -q '^1400 values are not in the schema and left out, as context.session$' said || fail "$(cat said)"
"$program" schema log.jsonl --out again.yaml && cmp schema.yaml again.yaml

# with a cross, too; a schema with a field of another kind names the lines
sed 's/^# cross/cross/' schema.yaml >crossed.yaml
"$program" schema --check crossed.yaml log.jsonl >said || fail "$(cat said)"
sed '7s/"new":[a-z]*/"new":"yes"/; 9s/"hour":[0-9]*/"hour":"late"/' log.jsonl >odd.jsonl
if "$program" schema --check schema.yaml odd.jsonl >said 2>wrong; then fail "odd lines are taken"; fi
grep -q '^superarm schema: odd.jsonl:7: items\[0\].new is "yes", and true or false is wanted$' wrong || fail "$(cat wrong)"
grep -q '^superarm schema: odd.jsonl:9: context.hour is "late", and a number is wanted$' wrong || fail "$(cat wrong)"
grep -q '^198 decisions fit, 2 do not' said || fail "$(cat said)"

# what is refused
refuse() { # STATUS WORDS COMMAND...
    status=$1 words=$2
    shift 2
    set +e
    "$program" "$@" >said 2>wrong
    got=$?
    set -e
    [ $got = "$status" ] || fail "$*: status $got, not $status: $(cat said wrong)"
    grep -q -e "^superarm [a-z]*: .*$words" wrong || fail "$*: $(cat wrong)"
}
: >empty.jsonl
echo '{"contexts": [[1], [2]], "slate": [0]}' >plain.jsonl
{ cat log.jsonl; echo '{"slate": 5}'; } >bad.jsonl
refuse 2 'which log?' schema
refuse 2 '--ot is not an option; did you mean --out?' schema log.jsonl --ot x
refuse 2 '--check needs a value' schema log.jsonl --check
refuse 2 'x is one word too many' schema log.jsonl x
refuse 2 'empty.jsonl has no decisions' schema empty.jsonl
refuse 2 'absent.jsonl cannot be opened' schema absent.jsonl
refuse 2 'cannot be read: Is a directory' schema .
refuse 2 'plain.jsonl: no field of items tells them apart: the log has contexts' schema plain.jsonl
refuse 2 'bad.jsonl:201: there are neither contexts nor items' schema bad.jsonl
refuse 2 'bad.jsonl:201: ' schema --check schema.yaml bad.jsonl
refuse 2 'log.jsonl:2: ' schema --check log.jsonl log.jsonl
"$program" schema --skip-bad --check schema.yaml bad.jsonl >said 2>wrong || fail "$(cat wrong)"
grep -q '1 line was skipped; the first: bad.jsonl:201' wrong || fail "$(cat wrong)"
"$program" schema bad.jsonl --skip-bad >said || fail "--skip-bad stops"
head -c -20 log.jsonl >cut.jsonl
"$program" schema --check schema.yaml cut.jsonl >said 2>wrong || fail "$(cat wrong)"
grep -q 'the last line, 200, is cut off and was left out' wrong || fail "$(cat wrong)"
"$program" schema --help | grep -q Example || fail "no example"

# a line of 1 GB, and one that nests a million deep, in little memory
truncate -s 1G gigabyte.jsonl
awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "["; print "" }' >deep.jsonl
limit=600000
"$program" --version >/dev/null && case $(ldd "$program" 2>/dev/null) in *asan*) limit=unlimited ;; esac
(ulimit -v $limit; refuse 2 'gigabyte.jsonl:1: the line is longer than 67108864 bytes' schema gigabyte.jsonl) || exit 1
refuse 2 'deep.jsonl:1: column 65: the text nests more than 64 deep' schema deep.jsonl
printf '{"contexts": [[1]], "slate": [0], "event": "\377"}\n' >latin.jsonl
refuse 2 'latin.jsonl:1: column 45: a text is not valid UTF-8' schema latin.jsonl
