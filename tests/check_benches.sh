#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails if './run bench' would accept a file of tests/bench/ that is only a helper of a bench.
cd "$(dirname "$0")/.." || exit 1

bad=0
for file in tests/bench/*.{sh,mjs}; do
    name=$(basename "${file%.*}")
    ! grep -qE "^(//|#) \./run bench $name( |\$)" "$file" || continue
    timeout 5 ./run bench "$name" 2>&1 | grep -q "there is no bench '$name'" || {
        echo "$file does not mention './run bench $name', which is accepted nevertheless"
        bad=1
    }
done
exit $bad
