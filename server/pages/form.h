/* SPDX-License-Identifier: Apache-2.0 */
/* The names and values that a browser sent, in a form, a query or a path. They are untrusted text,
 * stored in printable form. */
#pragma once

#include "web/page.h"

#define FORM_VALUES_MAX 256
#define FORM_VALUE_BYTES_MAX ((size_t)64 << 10)

struct form {
    struct page_value *at; /* heap memory, like the names and values in it */
    size_t count;
};
void form_finish(struct form *form);
struct page_values form_values(const struct form *form);

/* Adds a value, unless there are already FORM_VALUES_MAX values. At most FORM_VALUE_BYTES_MAX bytes
 * of the value are kept. */
void form_add(struct form *form, const char *name, size_t name_length, const char *value,
              size_t length);
/* Reads "a=1&b=two+words%21" (application/x-www-form-urlencoded). */
void form_read(struct form *form, const char *bytes, size_t length);
