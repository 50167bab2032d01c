/* SPDX-License-Identifier: Apache-2.0 */
/* Runs commands with several actions, like `opsbrain key add NAME [--FLAG VALUE]...`. */
#pragma once

#include <stddef.h>

#include "base/formats/config.h"

struct action {
    const char *name;     /* "add" */
    const char *operands; /* "NAME", "NAME ROLE", or "" */
    const char *help;
    /* `options` has the values of the flags. `operands` has the arguments that the member
     * `operands` names, in that order. */
    CHECKED bool (*run)(const void *options, char *const *operands, struct error *error);
};

struct command {
    const char *name;
    const struct action *actions; /* ends with a NULL name */
    const struct setting *flags;
    size_t flag_count;
};

/* Reads the flags into `options`, runs the action that argv[1] names, and returns the exit status.
 * If the arguments ask for help, prints the actions and the flags instead. */
int command_run(const struct command *command, void *options, int argc, char *const *argv);
