#!/bin/sh
# A shop's home page in curl: superarm serve --dir shop, then sh examples/service/shop.sh [http://127.0.0.1:8080]
set -eu
shop=${1:-http://127.0.0.1:8080}/v1/agents/curl
send() { curl -sS --fail-with-body -X "$1" "$shop$2" -H 'Content-Type: application/json' -d "$3"; }
send PUT '' '{"options": {"algorithm": "cn-ucb", "dim": 2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}' >/dev/null
event=visit-$(date +%s%N)
send POST /decide '{"event": "'"$event"'", "contexts": [[0, 1], [1, 0], [0.5, 0.5]]}'
send POST /feedback '{"event": "'"$event"'", "feedback": [1, 0]}' # the first of the two was clicked
echo "learnt: $(curl -sS "$shop" | grep -o '"learnt": [0-9]*')"
