/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are compiled into the program: cmake/embed_folder.cmake generates arrays of this type.
 */
#pragma once

#include <stddef.h>

struct embedded_file {
    const char *name; /* without folder and extension; NULL: the end of the list */
    const char *text; /* ends with a NUL */
    size_t length;    /* without the NUL */
};
