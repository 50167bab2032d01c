/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/multipart.h"

#include <string.h>
#include <strings.h>

bool multipart_boundary(const char *content_type, char out[MULTIPART_BOUNDARY_SIZE])
{
    static const char type[] = "multipart/form-data";
    const char *found;
    size_t length;

    if (content_type == NULL || strncasecmp(content_type, type, sizeof type - 1) != 0)
        return false;
    found = strcasestr(content_type, "boundary=");
    if (found == NULL)
        return false;
    found += strlen("boundary=");
    found += *found == '"';
    length = strcspn(found, "\"; \t,");
    if (length == 0 || length >= MULTIPART_BOUNDARY_SIZE)
        return false;
    memcpy(out, found, length);
    out[length] = '\0';
    return true;
}

struct part {
    const char *head, *body;
    size_t head_length, body_length;
};

/* Finds the parameter `name`, written as name="value" in the part's head, where the name can be in
 * upper or lower case. Returns the value, or NULL if there is no such parameter. */
static const char *find_parameter(const struct part *part, const char *name, size_t *length)
{
    size_t name_length = strlen(name);
    const char *end = part->head + part->head_length;

    for (const char *at = part->head; at + name_length + 2 < end; at++) {
        const char *value = at + name_length + 2, *quote;

        if ((at[0] != ';' && at[0] != ' ') || strncasecmp(at + 1, name, name_length) != 0
            || value[-1] != '=' || *value != '"')
            continue;
        quote = memchr(value + 1, '"', (size_t)(end - value - 1));
        if (quote == NULL)
            return NULL;
        *length = (size_t)(quote - value - 1);
        return value + 1;
    }
    return NULL;
}

static void add_part(struct form *form, const struct part *part, const char **file,
                     size_t *file_bytes)
{
    size_t name_length, file_length;
    const char *name = find_parameter(part, "name", &name_length);
    const char *file_name = find_parameter(part, "filename", &file_length);

    if (name == NULL)
        return;
    if (file_name == NULL) {
        form_add(form, name, name_length, part->body, part->body_length);
        return;
    }
    form_add(form, name, name_length, file_name, file_length);
    *file = part->body_length > 0 ? part->body : NULL;
    *file_bytes = part->body_length;
}

/* Reads the part that begins at `*bytes`, after its delimiter, and moves `*bytes` to the next part.
 * False: no complete part begins here. */
static bool next_part(const char *delimiter, const char **bytes, const char *end, struct part *out)
{
    size_t length = strlen(delimiter);
    const char *head = *bytes, *body, *next;

    if (end - head < 2 || memcmp(head, "\r\n", 2) != 0)
        return false;
    body = memmem(head, (size_t)(end - head), "\r\n\r\n", 4);
    if (body == NULL)
        return false;
    next = memmem(body + 2, (size_t)(end - body - 2), delimiter, length);
    if (next == NULL || next < body + 4)
        return false;
    *out = (struct part){ .head = head,
                          .head_length = (size_t)(body - head),
                          .body = body + 4,
                          .body_length = (size_t)(next - body - 4) };
    *bytes = next + length;
    return true;
}

void multipart_read(struct form *form, const char *boundary, const char *bytes, size_t length,
                    const char **file, size_t *file_bytes)
{
    TEXT_AUTO delimiter = { 0 };
    const char *end = bytes + length;
    struct part part;

    *file = NULL;
    *file_bytes = 0;
    text_addf(&delimiter, "\r\n--%s", boundary);
    /* The first delimiter has no CR LF before it. */
    if (length < delimiter.length || memcmp(bytes, delimiter.data + 2, delimiter.length - 2) != 0)
        return;
    bytes += delimiter.length - 2;
    while (next_part(text_string(&delimiter), &bytes, end, &part))
        add_part(form, &part, file, file_bytes);
}
