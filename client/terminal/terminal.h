/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of output behind a descriptor: a terminal with a width and perhaps colours, or a pipe or
 * file, which gets plain text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct terminal {
    bool is_terminal;
    bool is_drawable;     /* a terminal on which a line can be overwritten */
    bool is_coloured;     /* a terminal that understands colours; NO_COLOR is unset or empty */
    size_t columns, rows; /* at least 20 columns; for a pipe or file: 80 and 24 */
};

enum terminal_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLES };

/* Asks the kernel and the environment; a size that is not known is 80 columns and 24 rows. */
struct terminal terminal_of(int descriptor);
/* The sequence that switches to the style, "" without colours. STYLE_PLAIN ends any other style. */
const char *terminal_style(const struct terminal *terminal, enum terminal_style style);
