#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Draws the example charts in docs/charts/ from made-up figures, each in light and dark. Look at them afterwards.
#     docs/charts.sh
set -e
cd "$(dirname "$0")/.."
cmake --preset release
cmake --build --preset release --target bench_examples
build/release/bin/bench_examples docs/charts
