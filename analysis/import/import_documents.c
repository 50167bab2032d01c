/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files with one or more JSON documents, one after another or in lists, and finds members of
 * the first document. */
#include <string.h>

#include "analysis/import/import_members.h"

void import_enter_list(struct json_scan *scan)
{
    struct json_scan ahead = *scan;

    if (json_scan_next(&ahead) == JSON_SCAN_ARRAY)
        *scan = ahead;
}

/* Looks for the keys in the file's first object: the file's first value or, if that is a list, the
 * list's first element. Bit i of the result is set if the object has keys[i]. Stops once all bits
 * in `wanted` are set. */
static unsigned find_keys(const char *bytes, size_t length, const char *const *keys,
                          unsigned wanted)
{
    struct json_scan scan;
    unsigned found = 0;

    import_scan_init(&scan, bytes, length);
    import_enter_list(&scan);
    if (json_scan_next(&scan) != JSON_SCAN_OBJECT)
        return 0;
    while (json_scan_next(&scan) == JSON_SCAN_KEY) {
        for (size_t i = 0; keys[i] != NULL; i++)
            if (json_scan_is(&scan, keys[i]))
                found |= 1U << i;
        if (found == wanted || !json_scan_value(&scan, NULL, NULL))
            break;
    }
    return found;
}

bool import_find_member(const char *bytes, size_t length, const char *name, const char **value,
                        size_t *size)
{
    struct json_scan scan;

    import_scan_init(&scan, bytes, length);
    import_enter_list(&scan);
    if (json_scan_next(&scan) != JSON_SCAN_OBJECT)
        return false;
    while (json_scan_next(&scan) == JSON_SCAN_KEY) {
        bool is_wanted = json_scan_is(&scan, name);

        if (!json_scan_value(&scan, value, size))
            return false;
        if (is_wanted)
            return true;
    }
    return false;
}

static unsigned all_keys(const char *const *keys)
{
    unsigned wanted = 0;

    for (size_t i = 0; keys[i] != NULL; i++)
        wanted |= 1U << i;
    return wanted;
}

bool import_has_keys(const char *bytes, size_t length, const char *const *keys)
{
    unsigned wanted = all_keys(keys);

    return find_keys(bytes, length, keys, wanted) == wanted;
}

size_t import_count_keys(const char *bytes, size_t length, const char *const *keys, size_t *count,
                         struct text *missing)
{
    unsigned found = find_keys(bytes, length, keys, all_keys(keys));
    size_t has = 0;

    for (*count = 0; keys[*count] != NULL; (*count)++) {
        if ((found & 1U << *count) != 0)
            has++;
        else
            text_addf(missing, "%s\"%s\"", missing->length > 0 ? ", " : "", keys[*count]);
    }
    return has;
}

static int64_t count_lines(const char *from, const char *to)
{
    int64_t lines = 0;

    for (; (from = memchr(from, '\n', (size_t)(to - from))) != NULL; from++)
        lines++;
    return lines;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0')
        at++;
    return at;
}

/* How far the file has been read, and the function that receives each document. */
struct documents {
    const char *counted; /* `line` is the number of the line at this position */
    int64_t line;
    CHECKED bool (*read)(void *context, const char *document, size_t size, int64_t line,
                         struct error *error);
    void *context;
};

/* Reports invalid JSON, with the line on which its document begins. */
static CHECKED bool refuse_json(const struct documents *documents, const struct json_scan *scan,
                                struct error *error)
{
    struct error why;

    return json_scan_fail(scan, &why)
           || error_set(error, ERROR_INVALID, "in the document that begins at line %lld, %s",
                        (long long)documents->line, why.message);
}

static CHECKED bool read_object(struct documents *documents, const char *document, size_t size,
                                struct error *error)
{
    documents->line += count_lines(documents->counted, document);
    documents->counted = document;
    if (*document != '{')
        return error_set(error, ERROR_INVALID,
                         "the document that begins at line %lld is not a JSON object, but every "
                         "result must be one",
                         (long long)documents->line);
    return documents->read(documents->context, document, size, documents->line, error);
}

/* Reads the elements of the list that is the scan's next value. */
static CHECKED bool read_list(struct documents *documents, struct json_scan *scan,
                              struct error *error)
{
    const char *document, *end = scan->end, *at;
    size_t size;

    json_scan_next(scan);
    for (at = scan->at; json_scan_value(scan, &document, &size); at = scan->at)
        if (!read_object(documents, document, size, error))
            return false;
    if (!json_scan_failed(scan))
        return true;
    at = skip_space(at, end);
    if (at < end && *at == ',')
        at = skip_space(at + 1, end);
    documents->line += count_lines(documents->counted, at);
    return refuse_json(documents, scan, error);
}

bool import_documents(const char *bytes, size_t length,
                      CHECKED bool (*read)(void *context, const char *document, size_t size,
                                           int64_t line, struct error *error),
                      void *context, struct error *error)
{
    struct documents documents = { .counted = bytes, .line = 1, .read = read, .context = context };
    const char *end = bytes + length;

    for (const char *at = skip_space(bytes, end); at < end;) {
        struct json_scan scan;
        const char *document;
        size_t size;

        documents.line += count_lines(documents.counted, at);
        documents.counted = at;
        import_scan_init(&scan, at, (size_t)(end - at));
        if (*at == '[') {
            if (!read_list(&documents, &scan, error))
                return false;
            at = skip_space(scan.text + 1, end); /* after the list's ']' */
            continue;
        }
        if (!json_scan_value(&scan, &document, &size))
            return refuse_json(&documents, &scan, error);
        if (!read_object(&documents, document, size, error))
            return false;
        at = skip_space(document + size, end);
    }
    return true;
}
