#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails if './run bench NAME' would accept a file in tests/bench/ that is only a helper of a benchmark.
cd "$(dirname "$0")/.." || exit 1

bad=0
for file in tests/bench/*.{sh,mjs}; do
    name=$(basename "${file%.*}")
    ! grep -qE "^(//|#) \./run bench $name( |\$)" "$file" || continue
    timeout 5 ./run bench "$name" 2>&1 | grep -q "there is no bench '$name'" || {
        echo "'./run bench $name' is accepted, although $file does not begin with a line about it"
        bad=1
    }
done
exit $bad
