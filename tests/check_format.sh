#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails if a C file is not formatted as .clang-format says; `clang-format -i FILE` corrects it.
cd "$(dirname "$0")/.." || exit 1
git ls-files -z '*.c' '*.h' | xargs -0 clang-format --dry-run -Werror
