/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/form.h"

#include <stdlib.h>

#include "base/core/memory.h"
#include "base/formats/percent.h"

#define NAME_BYTES_MAX 200
/* How many bytes are read in order to keep at most `limit`, since some are dropped. */
#define READ_FOR(limit) (2 * (limit))

void form_finish(struct form *form)
{
    for (size_t i = 0; i < form->count; i++) {
        free((char *)(uintptr_t)form->at[i].name);
        free((char *)(uintptr_t)form->at[i].value);
    }
    free(form->at);
    *form = (struct form){ 0 };
}

struct page_values form_values(const struct form *form)
{
    return (struct page_values){ .at = form->at, .count = form->count };
}

/* Copies text in printable form, at most `limit` bytes. CR LF, which browsers send between the
 * lines of a field, becomes LF. */
static char *copy_printable(const char *bytes, size_t length, size_t limit)
{
    TEXT_AUTO lines = { 0 };
    TEXT_AUTO out = { 0 };

    for (size_t i = 0; i < length && lines.length < READ_FOR(limit); i++)
        if (bytes[i] != '\r' || i + 1 == length || bytes[i + 1] != '\n')
            text_add_char(&lines, bytes[i]);
    text_add_printable(&out, text_string(&lines), lines.length, limit);
    return out.length > 0 ? text_take(&out) : memory_copy_text("");
}

void form_add(struct form *form, const char *name, size_t name_length, const char *value,
              size_t length)
{
    struct page_value *added;

    if (form->count == FORM_VALUES_MAX)
        return;
    form->at = memory_resize(form->at, form->count + 1, sizeof *form->at);
    added = &form->at[form->count++];
    added->name = copy_printable(name, name_length, NAME_BYTES_MAX);
    added->value = copy_printable(value, length, FORM_VALUE_BYTES_MAX);
}

static void decode(const char *bytes, size_t length, struct text *out)
{
    for (size_t i = 0; i < length && out->length < READ_FOR(FORM_VALUE_BYTES_MAX); i++) {
        int byte = percent_decode(bytes + i, length - i);

        if (byte >= 0) {
            text_add_char(out, (char)byte);
            i += 2;
        } else {
            text_add_char(out, bytes[i] == '+' ? ' ' : bytes[i]);
        }
    }
}

static void read_pair(struct form *form, const char *bytes, size_t length)
{
    const char *equals = memchr(bytes, '=', length);
    size_t name_length = equals != NULL ? (size_t)(equals - bytes) : length;
    TEXT_AUTO name = { 0 }, value = { 0 };

    decode(bytes, name_length, &name);
    if (equals != NULL)
        decode(equals + 1, length - name_length - 1, &value);
    if (name.length > 0)
        form_add(form, text_string(&name), name.length, text_string(&value), value.length);
}

void form_read(struct form *form, const char *bytes, size_t length)
{
    while (length > 0 && form->count < FORM_VALUES_MAX) {
        const char *end = memchr(bytes, '&', length);
        size_t pair = end != NULL ? (size_t)(end - bytes) : length;

        read_pair(form, bytes, pair);
        bytes += end != NULL ? pair + 1 : pair;
        length -= end != NULL ? pair + 1 : pair;
    }
}
