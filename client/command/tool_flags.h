/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the words after a command into a tool's arguments, according to the tool's schema. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "client/command/tool_words.h"

#define FLAG_OPERANDS_MAX 64

/* A flag of the command itself, not a parameter of the tool. */
struct own_flag {
    const char *name;   /* "yes" for --yes */
    bool *set;          /* set to true by a flag without a value; NULL: the flag takes a value */
    const char **value; /* set to the flag's value; NULL: the flag takes no value */
};

/* Another name for a parameter. */
struct flag_alias {
    const char *name, *param;
};

struct tool_flags {
    const struct tool_word *word;     /* names the operands; NULL: each operand is name=value */
    const json_t *schema;             /* the tool's inputSchema; NULL: all values stay strings */
    const char *tool;                 /* the tool's name */
    const struct own_flag *own;       /* ends with a NULL name; NULL: none */
    const struct flag_alias *aliases; /* ends with a NULL name; NULL: none */
};

/* Reads the tool's arguments: --param VALUE, --param=VALUE, --param alone for a boolean, and
 * operands that are not files. Also reads the command's own flags. A list is given as 1,4,16, as
 * JSON, or by repeating the flag. A parameter that the schema does not list is passed in the
 * argument `options`, if the tool has that argument. The server checks the arguments. `given` has
 * argc words; *arguments is a new object. */
CHECKED bool tool_flags_read(const struct tool_flags *flags, int argc, char *const *given,
                             json_t **arguments, struct error *error);
/* Sets a parameter to this value unless `arguments`, or the list `options` in it, already has the
 * parameter. */
CHECKED bool tool_flags_default(const struct tool_flags *flags, const char *name, const char *value,
                                json_t *arguments, struct error *error);
/* Whether `arguments`, or the list `options` in it, has the parameter. */
bool tool_flags_given(const json_t *arguments, const char *name);
/* Finds the operands: words that are neither flags nor values of flags. Also reads the command's
 * own flags. Copies the first operands, at most `most`, to `out`, and returns how many; 0 if a flag
 * is wrong, or if there are more than FLAG_OPERANDS_MAX operands. */
size_t tool_flags_operands(const struct tool_flags *flags, int argc, char *const *given,
                           const char **out, size_t most);
