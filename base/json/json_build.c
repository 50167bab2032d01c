/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/json/json_scan.h"

struct builder {
    struct json_scan scan;
    json_t *root;
    json_t *open[JSON_DEPTH_LIMIT]; /* the open containers, outermost first */
    size_t depth;
    const char *key; /* the key of the next member; need not be NUL-terminated */
    size_t key_length;
    char *unescaped; /* owns `key` if it was written with escapes */
};

/* Returns an unescaped copy of the latest key or string. The copy is a valid C string, because the
 * scanner refuses NUL. */
static char *unescape(const struct json_scan *scan)
{
    char *copy = memory_zeroed(scan->length + 1, 1);

    json_scan_copy(scan, copy, scan->length + 1);
    return copy;
}

static bool set_key(struct builder *builder)
{
    const struct json_scan *scan = &builder->scan;

    builder->key = scan->text;
    builder->key_length = scan->length;
    if (!scan->escaped)
        return true;
    free(builder->unescaped);
    builder->key = builder->unescaped = unescape(scan);
    builder->key_length = strlen(builder->key);
    return true;
}

static json_t *make_string(const struct json_scan *scan)
{
    FREE_AUTO char *copy = NULL;

    if (!scan->escaped)
        return json_stringn_nocheck(scan->text, scan->length);
    copy = unescape(scan);
    return json_string_nocheck(copy);
}

static json_t *make_number(const struct json_scan *scan)
{
    int64_t integer;

    return json_scan_integer(scan, &integer) ? json_integer(integer)
                                             : json_real(json_scan_number(scan));
}

/* Adds the value to the innermost open container, or makes it the root. Returns false if the
 * object already has the key, or if memory ran out. `value` is NULL if it could not be
 * allocated. */
static bool attach_take(struct builder *builder, json_t *value)
{
    json_t *parent = builder->depth > 0 ? builder->open[builder->depth - 1] : NULL;
    size_t size = json_object_size(parent);

    if (parent == NULL)
        builder->root = value;
    else if (json_is_array(parent))
        return json_array_append_new(parent, value) == 0;
    else
        return json_object_setn_new_nocheck(parent, builder->key, builder->key_length, value) == 0
               && json_object_size(parent) > size;
    return value != NULL;
}

static bool open_take(struct builder *builder, json_t *container)
{
    if (!attach_take(builder, container))
        return false;
    builder->open[builder->depth++] = container;
    return true;
}

/* Adds the token to the tree. Returns false at the end of the document, and if the document is not
 * valid. */
static bool add_token(struct builder *builder, enum json_scan_token token)
{
    switch (token) {
    case JSON_SCAN_OBJECT:
        return open_take(builder, json_object());
    case JSON_SCAN_ARRAY:
        return open_take(builder, json_array());
    case JSON_SCAN_OBJECT_END:
    case JSON_SCAN_ARRAY_END:
        builder->depth--;
        return true;
    case JSON_SCAN_KEY:
        return set_key(builder);
    case JSON_SCAN_STRING:
        return attach_take(builder, make_string(&builder->scan));
    case JSON_SCAN_NUMBER:
        return attach_take(builder, make_number(&builder->scan));
    case JSON_SCAN_TRUE:
        return attach_take(builder, json_true());
    case JSON_SCAN_FALSE:
        return attach_take(builder, json_false());
    case JSON_SCAN_NULL:
        return attach_take(builder, json_null());
    case JSON_SCAN_FAILED:
    case JSON_SCAN_DONE:
        break;
    }
    return false;
}

bool json_build(const char *bytes, size_t length, json_t **out)
{
    struct builder builder;
    enum json_scan_token token;

    json_scan_init(&builder.scan, bytes, length);
    builder.root = NULL;
    builder.depth = 0;
    builder.unescaped = NULL;
    do
        token = json_scan_next(&builder.scan);
    while (add_token(&builder, token));
    free(builder.unescaped);
    if (token == JSON_SCAN_DONE)
        *out = builder.root;
    else
        json_decref(builder.root);
    return token == JSON_SCAN_DONE;
}
