/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"

static void check(const void *pointer, size_t count, size_t size)
{
    if (pointer != NULL)
        return;
    log_error("out of memory: %zu times %zu bytes", count, size);
    abort();
}

void *memory_zeroed(size_t count, size_t size)
{
    void *pointer = calloc(count > 0 ? count : 1, size > 0 ? size : 1);

    check(pointer, count, size);
    return pointer;
}

void *memory_resize(void *old, size_t count, size_t size)
{
    void *pointer = reallocarray(old, count > 0 ? count : 1, size > 0 ? size : 1);

    check(pointer, count, size);
    return pointer;
}

char *memory_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(memory_zeroed(size, 1), text, size);
}

void memory_free_pointer(void *pointer_to_pointer)
{
    free(*(void **)pointer_to_pointer);
}
