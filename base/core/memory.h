/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory. If there is no memory left, the process logs this and aborts, so that callers
 * need no error path. Callers must bound sizes that come from outside. */
#pragma once

#include <stddef.h>

/* The caller frees the results of the next three functions. */
void *memory_zeroed(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *memory_copy_text(const char *text) __attribute__((malloc, returns_nonnull));

void memory_free_pointer(void *pointer_to_pointer); /* for the cleanup attribute */
#define FREE_AUTO __attribute__((cleanup(memory_free_pointer)))
