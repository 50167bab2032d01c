#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if docs/architecture.svg is not what docs/draw.sh draws from the current source tree.
cd "$(dirname "$0")/.." || exit 1
docs/draw.sh | cmp -s - docs/architecture.svg || {
    echo 'the picture of the source tree is stale; update it: docs/draw.sh >docs/architecture.svg'
    exit 1
}
