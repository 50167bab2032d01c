/* SPDX-License-Identifier: Apache-2.0 */
/* Files that were compiled into the program, as cmake/embed_folder.cmake writes them. */
#pragma once

#include <stddef.h>

struct embedded_file {
    const char *name; /* without folder and extension; NULL: the end of the list */
    const char *text; /* ends with a NUL */
    size_t length;    /* without the NUL */
};
