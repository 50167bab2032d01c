#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when a C file is not as .clang-format wants it; `clang-format -i FILE` mends it.
cd "$(dirname "$0")/.." || exit 1
git ls-files -z '*.c' '*.h' | xargs -0 clang-format --dry-run -Werror
