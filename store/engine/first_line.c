/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/first_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool first_line_read(const char *what, const char *path, char *out, size_t size,
                     struct error *error)
{
    FILE *file = fopen(path, "re");
    bool done = file != NULL;

    out[0] = '\0';
    if (done)
        done = fgets(out, (int)size, file) != NULL || ferror(file) == 0;
    if (!done)
        error_set(error, ERROR_INVALID, "%s %.200s cannot be read: %s", what, path,
                  strerror(errno));
    if (file != NULL)
        fclose(file);
    out[strcspn(out, "\r\n")] = '\0';
    return done;
}
