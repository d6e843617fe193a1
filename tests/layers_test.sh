#!/bin/sh
# layers_test.sh CHECK_LAYERS: it accepts what the layout allows, and names the line of what it does not.
set -eu
check=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/src/base" "$root/src/linalg" "$root/src/model" "$root/src/theory" "$root/src/env" "$root/src/options" "$root/cli"

accepts() { # FILE LINE
    echo "$2" >"$root/$1"
    "$check" "$root" || { echo "$1: $2 was refused"; exit 1; }
    rm "$root/$1"
}
refuses() { # FILE LINE
    printf '\n%s\n' "$2" >"$root/$1"
    if said=$("$check" "$root"); then echo "$1: $2 was accepted" && exit 1; fi
    case $said in "$1:2: "*) ;; *) echo "$1: $2 was refused as: $said" && exit 1 ;; esac
    rm "$root/$1"
}
accepts src/model/mlp.c '#include "linalg/products.h"'
accepts src/model/mlp_train.c '#include "model/mlp.h"'
accepts src/model/registry.c '#include "model/mlp.h"'
refuses src/linalg/blas.c '#include <cblas.h>'
accepts cli/main.c '#include <superarm/superarm.h>'
accepts cli/run.c '#include "command.h"'
accepts src/theory/theory.c '#include "linalg/products.h"'
refuses src/theory/theory.c '#include "model/model.h"'
refuses src/base/npy.c '#include "linalg/products.h"'
refuses src/base/npy.c '  #  include "model/model.h"'
refuses src/base/npy.c '#include <superarm/agent.h>'
refuses src/model/mlp.c '#include "confidence/confidence.h"'
refuses src/model/mlp.c '#include "model/linear.h"'
refuses src/model/mlp.c '#include <cblas.h>'
refuses src/env/replay.c '#include "linalg/products.h"'
refuses src/base/npy.c '#include "options/options.h"'
refuses src/base/npy.c '#include "model/options.h"'
refuses src/model/mlp.c '#include "options/options.h"'
accepts src/options/options.h '#include "env/options.h"'
refuses src/options/options.h '#include "env/environment.h"'
refuses cli/run.c '#include "options/options.h"'
refuses cli/run.c '#include <lapacke.h>'

# The picture is stated once: docs/ARCHITECTURE.md shows what --picture prints, or check-layers says so.
mkdir "$root/docs"
{ echo '```' && "$check" --picture "$root" && echo '```'; } >"$root/docs/ARCHITECTURE.md"
grep -q '^base$' "$root/docs/ARCHITECTURE.md" || { echo "--picture prints: $(cat "$root/docs/ARCHITECTURE.md")"; exit 1; }
"$check" "$root" || { echo "its own picture was refused"; exit 1; }
sed -i 's/^base$/bases/' "$root/docs/ARCHITECTURE.md"
if "$check" "$root" >/dev/null; then echo "another picture was accepted" && exit 1; fi
