/* SPDX-License-Identifier: Apache-2.0 */
/* Settings. A single table has their names, types, defaults and help texts; parsing, checking,
 * --help and the table in docs/operations.md are all derived from it. For example, the setting
 * `data` is set with the flag `--data` or the environment variable `OPSBRAIN_DATA`. The flag takes
 * precedence. An empty variable counts as not set. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "base/core/text.h"

/* PRIVATE is a text that can contain a password. It is never shown, and a flag with a password is
 * refused, because every user of the machine can read the flags of a process. */
enum setting_type {
    SETTING_TEXT = 1,
    SETTING_INTEGER,
    SETTING_DURATION_S,
    SETTING_BOOLEAN,
    SETTING_PRIVATE,
};

struct setting {
    const char *name; /* "public_url": flag --public-url, environment OPSBRAIN_PUBLIC_URL */
    enum setting_type type;
    const char *initial; /* the default, as text */
    int64_t low, high;   /* for INTEGER and DURATION_S, inclusive */
    size_t offset;       /* of a char[CONFIG_TEXT_SIZE], int64_t or bool in the settings struct */
    const char *help;
};

#define CONFIG_TEXT_SIZE 512

/* Fills the struct at `out` from the defaults, then the environment, then the flags in argv. A flag
 * is "--name value" or "--name=value"; for a BOOLEAN, "--name" alone means true. A DURATION_S is
 * written like 90, 90s, 15m, 2h or 7d. INVALID for an unknown argument, a flag that lacks its
 * value, a bad value, or a row of the table that has no type; `out` is then unchanged. */
CHECKED bool config_read(const struct setting *table, size_t count, int argc, char *const *argv,
                         void *out, struct error *error);
/* Appends the settings of `values` that differ from the defaults, as a JSON object from names to
 * values. */
void config_changes(const struct setting *table, size_t count, const void *values,
                    struct text *out);
/* Appends the settings as `--help` prints them. */
void config_help(const struct setting *table, size_t count, struct text *out);
/* Appends the settings as the Markdown table in docs/operations.md. */
void config_markdown(const struct setting *table, size_t count, struct text *out);
