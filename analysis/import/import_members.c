/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import_members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

#define UNKNOWN_MEMBERS_MAX 128
#define UNKNOWN_TEXT_SIZE 240

#define STATISTIC(name, member, scale) MEMBER_NUMBER_AT(name, evidence_latency, member, scale)
#define STATISTICS(scale)                                                                          \
    STATISTIC("count", count, 1), STATISTIC("mean", mean_ms, scale),                               \
        STATISTIC("avg", mean_ms, scale), STATISTIC("average", mean_ms, scale),                    \
        STATISTIC("std", deviation_ms, scale), STATISTIC("stddev", deviation_ms, scale),           \
        STATISTIC("std_dev", deviation_ms, scale), STATISTIC("min", min_ms, scale),                \
        STATISTIC("median", p50_ms, scale), STATISTIC("p50", p50_ms, scale),                       \
        STATISTIC("p90", p90_ms, scale), STATISTIC("p95", p95_ms, scale),                          \
        STATISTIC("p99", p99_ms, scale), STATISTIC("max", max_ms, scale), MEMBER_IGNORE("p0.1"),   \
        MEMBER_IGNORE("p1"), MEMBER_IGNORE("p5"), MEMBER_IGNORE("p10"), MEMBER_IGNORE("p25"),      \
        MEMBER_IGNORE("p75"), MEMBER_IGNORE("p99.9")

const struct import_member latency_ms_members[] = {
    STATISTICS(1),
    MEMBER_INSIDE("percentiles", 0, latency_ms_members),
    { 0 },
};

const struct import_member latency_s_members[] = {
    STATISTICS(1000),
    MEMBER_INSIDE("percentiles", 0, latency_s_members),
    { 0 },
};

/* ---- Values ---- */

static bool opens(enum json_scan_token token)
{
    return token == JSON_SCAN_OBJECT || token == JSON_SCAN_ARRAY;
}

bool import_skip(struct json_scan *scan, enum json_scan_token token)
{
    size_t open = opens(token);

    while (open > 0) {
        enum json_scan_token next = json_scan_next(scan);

        if (next == JSON_SCAN_FAILED)
            return false;
        if (opens(next))
            open++;
        else if (next == JSON_SCAN_OBJECT_END || next == JSON_SCAN_ARRAY_END)
            open--;
    }
    return token != JSON_SCAN_FAILED;
}

bool import_skip_error(struct json_scan *scan, enum json_scan_token token, char **error)
{
    char text[1000];

    if (token == JSON_SCAN_STRING && *error == NULL && scan->length > 0) {
        if (!json_scan_copy(scan, text, sizeof text))
            text_copy(text, sizeof text, "(an error too long to be kept)");
        *error = memory_copy_text(text);
    }
    return import_skip(scan, token);
}

void import_scan_init(struct json_scan *scan, const char *bytes, size_t length)
{
    json_scan_init(scan, bytes, length);
    scan->takes_nan = true;
}

/* Copies the latest string, truncated to fit. If it has 4,096 bytes or more, `out` is unchanged. */
static void copy_text(const struct json_scan *scan, char *out, size_t size)
{
    char full[4096];

    if (json_scan_copy(scan, full, sizeof full))
        text_copy(out, size, full);
}

/* Refuses values that are negative or not finite. */
static bool store_number(double value, double *out)
{
    if (!(value >= 0) || !isfinite(value))
        return false;
    *out = value;
    return true;
}

/* Stores a number that is written as a string, such as "4.0": some tools write options that way. */
static bool store_number_text(const struct json_scan *scan, double scale, double *out)
{
    char text[64], *end;
    double value;

    if (!json_scan_copy(scan, text, sizeof text) || text[0] == '\0'
        || strspn(text, "0123456789+-.eE") != strlen(text))
        return false;
    value = strtod(text, &end);
    return *end == '\0' && store_number(value * scale, out);
}

/* Stores a scalar value, whose token was already read, for `row`; false: its type or the value
 * itself does not fit. */
static bool store_scalar(const struct json_scan *scan, const struct import_member *row, void *base,
                         enum json_scan_token token)
{
    char *at = (char *)base + row->offset;

    if (row->kind == MEMBER_NUMBER && token == JSON_SCAN_NUMBER)
        return store_number(json_scan_number(scan) * row->scale, (double *)(void *)at);
    if (row->kind == MEMBER_NUMBER && token == JSON_SCAN_STRING)
        return store_number_text(scan, row->scale, (double *)(void *)at);
    if (row->kind != MEMBER_TEXT || token != JSON_SCAN_STRING)
        return false;
    copy_text(scan, at, row->size);
    return true;
}

/* Keeps an unread member as text; "null" is skipped. */
static void keep_unknown(const char *key, const char *bytes, size_t length, json_t *unknown)
{
    TEXT_AUTO text = { 0 };

    if (length == 4 && memcmp(bytes, "null", 4) == 0)
        return;
    if (json_object_size(unknown) >= UNKNOWN_MEMBERS_MAX) {
        json_object_set_new(unknown, "(more)", json_string("[...]"));
        return;
    }
    text_add_printable(&text, bytes, length, UNKNOWN_TEXT_SIZE);
    json_object_set_new(unknown, key, json_string(text_string(&text)));
}

static void keep_text(const struct json_scan *scan, const char *key, json_t *unknown)
{
    char text[UNKNOWN_TEXT_SIZE + 1] = "";

    copy_text(scan, text, sizeof text);
    keep_unknown(key, text, strlen(text), unknown);
}

/* Skips the value of a member that no row of the table reads, and keeps it as text in `unknown`, if
 * that is not NULL. `token`, the first token of the value, was already read. */
static bool skip_unknown(struct json_scan *scan, const char *key, enum json_scan_token token,
                         json_t *unknown)
{
    const char *begin = scan->text;

    if (unknown != NULL && token == JSON_SCAN_STRING)
        keep_text(scan, key, unknown);
    if (!import_skip(scan, token))
        return false;
    if (unknown != NULL && token != JSON_SCAN_STRING)
        keep_unknown(key, begin, (size_t)(scan->text + scan->length - begin), unknown);
    return true;
}

static const struct import_member *find(const struct import_member *members,
                                        const struct json_scan *scan)
{
    while (members->name != NULL && !json_scan_is(scan, members->name))
        members++;
    return members;
}

/* Reads an object inside an object. In the names of its unknown members, its own name comes first:
 * "ttft_ms.p999". */
static bool read_inside(struct json_scan *scan, const struct import_member *row, void *base,
                        const char *key, json_t *unknown)
{
    json_auto_t *inside = unknown == NULL ? NULL : json_object();
    const char *name;
    json_t *value;

    if (!import_object(scan, row->members, (char *)base + row->offset, inside))
        return false;
    json_object_foreach(inside, name, value) {
        TEXT_AUTO path = { 0 };

        text_addf(&path, "%s.%s", key, name);
        json_object_set(unknown, text_string(&path), value);
    }
    return true;
}

static bool read_member(struct json_scan *scan, const struct import_member *members, void *base,
                        json_t *unknown)
{
    const struct import_member *row = find(members, scan);
    char key[128];
    enum json_scan_token token;

    if (row->name != NULL && row->kind == MEMBER_READ)
        return row->read(scan, base);
    json_scan_copy(scan, key, sizeof key);
    if (row->name != NULL && row->kind == MEMBER_OBJECT)
        return read_inside(scan, row, base, key, unknown);
    token = json_scan_next(scan);
    if (row->name != NULL && (row->kind == MEMBER_IGNORED || store_scalar(scan, row, base, token)))
        return import_skip(scan, token);
    return skip_unknown(scan, key, token, unknown);
}

bool import_object(struct json_scan *scan, const struct import_member *members, void *base,
                   json_t *unknown)
{
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_OBJECT)
        return import_skip(scan, token);
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY)
        if (!read_member(scan, members, base, unknown))
            return false;
    return token == JSON_SCAN_OBJECT_END;
}

bool import_array(struct json_scan *scan, bool (*each)(struct json_scan *scan, void *context),
                  void *context)
{
    struct json_scan ahead;
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_ARRAY)
        return import_skip(scan, token);
    for (;;) {
        ahead = *scan;
        token = json_scan_next(&ahead);
        if (token == JSON_SCAN_ARRAY_END || token == JSON_SCAN_FAILED)
            break;
        if (!each(scan, context))
            return false;
    }
    *scan = ahead;
    return token == JSON_SCAN_ARRAY_END;
}
