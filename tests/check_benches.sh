#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails when './run bench' takes a file of tests/bench/ for a bench that is only a helper of one.
cd "$(dirname "$0")/.." || exit 1

bad=0
for file in tests/bench/*.{sh,mjs}; do
    name=$(basename "${file%.*}")
    ! grep -qE "^(//|#) \./run bench $name" "$file" || continue
    timeout 5 ./run bench "$name" 2>&1 | grep -q "there is no bench '$name'" || {
        echo "$file says nowhere './run bench $name', which is accepted all the same"
        bad=1
    }
done
exit $bad
