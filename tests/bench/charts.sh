#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./run bench charts  every chart of the result files in a folder: its size and time as SVG and as PNG
#
# Arguments: the folder with the result files (default: tests/data/imports), and the folder for the pictures (build/charts).
cd "$(dirname "$0")/../.." || exit 1
folder=${1:-tests/data/imports}
out=${2:-build/charts}
mkdir -p "$out"
build/release/bin/bench_charts "$folder" "$out"
