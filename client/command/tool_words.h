/* SPDX-License-Identifier: Apache-2.0 */
/* Short names for tools on the command line, and which of their arguments need no flag. A tool
 * without a row is a command under its own name only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TOOL_WORD_OPERANDS_MAX 4

struct tool_word {
    const char *name;
    const char *tool;
    /* Names of parameters, separated by spaces, in order. "[x]" is optional. For
     * "run|sweep|deployment" the value's prefix, such as "run_", chooses the parameter; if the
     * prefix belongs to none of them, the last parameter is chosen. */
    const char *operands;
    /* The operands are files, which are uploaded to this path. NULL: they are not files. */
    const char *upload;
};

extern const struct tool_word tool_words[]; /* ends with a NULL name */

/* Returns the row with this name that takes this number of operands or, if none does, the first row
 * with this name; NULL: no row has this name. */
const struct tool_word *tool_word_find(const char *name, size_t operands);
/* Whether the row takes this number of operands. */
bool tool_word_takes(const struct tool_word *word, size_t operands);
/* Copies the name of the parameter for operand `index` (from 0) of `given` operands. The operand is
 * `value`. False: the row has no parameter for it. */
#define TOOL_WORD_PARAM_SIZE 64
bool tool_word_param(const struct tool_word *word, size_t index, size_t given, const char *value,
                     char out[TOOL_WORD_PARAM_SIZE]);
