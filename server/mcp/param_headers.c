/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/param_headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/http/exchange.h"
#include "server/mcp/header_value.h"
#include "server/mcp/rpc.h"

#define DEPTH_LIMIT 8

struct param_headers {
    struct param_headers *next; /* the next header of the same tool */
    char *name;                 /* such as "Mcp-Param-Region" */
    /* the names of the properties that lead to the argument, outermost first; `depth` names */
    const char *path[DEPTH_LIMIT];
    size_t depth;
    json_t *schema; /* a reference, because the schema owns the names in `path` */
};

/* ---- The marked parameters of a schema ---- */

static void add(struct param_headers **list, json_t *schema, const char *name,
                const char *const *path, size_t depth)
{
    struct param_headers *header = memory_zeroed(1, sizeof *header);
    struct text full = { 0 };

    text_addf(&full, "Mcp-Param-%s", name);
    header->name = text_take(&full);
    memcpy(header->path, path, depth * sizeof *path);
    header->depth = depth;
    header->schema = json_incref(schema);
    header->next = *list;
    *list = header;
}

/* Collects the marked properties of `object`, nested ones included; `path` leads to `object`. */
static void collect(struct param_headers **list, json_t *schema, json_t *object, const char **path,
                    size_t depth)
{
    const char *name;
    json_t *property;

    if (depth == DEPTH_LIMIT)
        return;
    json_object_foreach(json_object_get(object, "properties"), name, property) {
        const char *header = json_get_text(property, "x-mcp-header", NULL);

        path[depth] = name;
        if (header != NULL)
            add(list, schema, header, path, depth + 1);
        collect(list, schema, property, path, depth + 1);
    }
}

struct param_headers *param_headers_create(const struct tool *tool)
{
    json_auto_t *schema = tool_input_schema(tool);
    const char *path[DEPTH_LIMIT];
    struct param_headers *list = NULL;

    collect(&list, schema, schema, path, 0);
    return list;
}

void param_headers_destroy(struct param_headers *headers)
{
    while (headers != NULL) {
        struct param_headers *next = headers->next;

        json_decref(headers->schema);
        free(headers->name);
        free(headers);
        headers = next;
    }
}

/* ---- The headers of a request ---- */

/* The header that visit() looks for. */
struct wanted {
    const char *name;
    struct text value;
    size_t count; /* how often it occurs */
};

static void visit(void *context, const char *name, size_t size, const char *value,
                  size_t value_size)
{
    struct wanted *wanted = context;

    if (strlen(wanted->name) != size || strcasecmp(wanted->name, name) != 0)
        return;
    while (value_size > 0 && (value[value_size - 1] == ' ' || value[value_size - 1] == '\t'))
        value_size--;
    text_clear(&wanted->value);
    text_add_bytes(&wanted->value, value, value_size);
    wanted->count++;
}

static const json_t *argument(const struct param_headers *header, const struct rpc *rpc)
{
    const json_t *value = json_object_get(rpc->params, "arguments");

    for (size_t i = 0; i < header->depth; i++)
        value = json_object_get(value, header->path[i]);
    return value;
}

static bool equals_number(const char *text, double value)
{
    char *end;

    return *text != '\0' && strchr("-0123456789", *text) != NULL && strtod(text, &end) == value
           && *end == '\0';
}

static bool equals(const char *text, const json_t *value)
{
    int64_t number;

    if (json_is_string(value))
        return strcmp(text, json_string_value(value)) == 0;
    if (json_is_boolean(value))
        return strcmp(text, json_is_true(value) ? "true" : "false") == 0;
    if (json_is_integer(value) && text_to_integer(text, INT64_MIN, INT64_MAX, &number))
        return number == json_integer_value(value);
    return equals_number(text, json_number_value(value));
}

static bool compare(struct rpc *rpc, const char *name, const char *header, const json_t *value)
{
    FREE_AUTO char *text = header_value_decode(header);

    if (text == NULL)
        return rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                        "the header %.80s is neither plain text nor =?base64?...?=", name);
    if (equals(text, value))
        return true;
    return rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                    "the header %.80s is \"%.80s\", but the argument differs", name, text);
}

/* An argument that is not a string, a number or a boolean counts as missing here: the tool itself
 * refuses it. */
static bool check(const struct param_headers *header, struct rpc *rpc)
{
    const json_t *value = argument(header, rpc);
    bool expected = json_is_string(value) || json_is_number(value) || json_is_boolean(value);
    struct wanted wanted = { .name = header->name };
    bool good;

    exchange_each_header(rpc->exchange, visit, &wanted);
    if (wanted.count > 1)
        good = rpc_fail(rpc, RPC_HEADER_MISMATCH, 400, "the header %.80s occurs more than once",
                        header->name);
    else if (!expected)
        good =
            wanted.count == 0
            || rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                        "the header %.80s is present, but the argument that it repeats is missing, "
                        "or is not a string, a number or a boolean",
                        header->name);
    else if (wanted.count == 0)
        good = rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                        "the header %.80s is missing: tools/list says which argument it repeats",
                        header->name);
    else
        good = compare(rpc, header->name, text_string(&wanted.value), value);
    text_finish(&wanted.value);
    return good;
}

bool param_headers_check(const struct param_headers *headers, struct rpc *rpc)
{
    for (; headers != NULL; headers = headers->next)
        if (!check(headers, rpc))
            return false;
    return true;
}
