/* SPDX-License-Identifier: Apache-2.0 */
/* Compares json_scan with jansson: both accept the bytes and agree on the counts and sums below, or
 * both refuse them. The exception is that only jansson refuses duplicate keys. Values that are
 * skipped are checked as strictly as values that are read. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/json/json_scan.h"
#include "tests/fuzz/fuzz.h"

/* Counts and sums over the values of a document; both readers must agree on them. */
struct tally {
    size_t values, keys, text_bytes;
    uint64_t integers;
    double reals;
};

static void count_tree(json_t *value, struct tally *tally)
{
    const char *key;
    json_t *member;
    size_t index;

    tally->values++;
    tally->text_bytes += json_string_length(value);
    tally->integers += (uint64_t)json_integer_value(value);
    tally->reals += json_real_value(value);
    json_array_foreach(value, index, member)
        count_tree(member, tally);
    json_object_foreach(value, key, member) {
        tally->keys++;
        tally->text_bytes += strlen(key);
        count_tree(member, tally);
    }
}

static void check_short_copy(const struct json_scan *scan, const char *whole)
{
    char small[4];
    bool fits = json_scan_copy(scan, small, sizeof small);

    must(fits == (strlen(whole) < sizeof small));
    must(strcmp(small, fits ? whole : "") == 0);
}

static void count_text(const struct json_scan *scan, struct tally *tally)
{
    FREE_AUTO char *copy = memory_zeroed(scan->length + 1, 1);

    must(json_scan_copy(scan, copy, scan->length + 1));
    must(json_scan_is(scan, copy));
    must(scan->escaped == (memchr(scan->text, '\\', scan->length) != NULL));
    check_short_copy(scan, copy);
    must(text_is_utf8(copy, strlen(copy)));
    tally->text_bytes += strlen(copy);
}

static void count_token(const struct json_scan *scan, enum json_scan_token token,
                        struct tally *tally)
{
    int64_t integer;

    if (token == JSON_SCAN_KEY || token == JSON_SCAN_STRING)
        count_text(scan, tally);
    if (token == JSON_SCAN_NUMBER && json_scan_integer(scan, &integer))
        tally->integers += (uint64_t)integer;
    else if (token == JSON_SCAN_NUMBER)
        tally->reals += json_scan_number(scan);
    tally->keys += token == JSON_SCAN_KEY;
    tally->values +=
        token != JSON_SCAN_KEY && token != JSON_SCAN_OBJECT_END && token != JSON_SCAN_ARRAY_END;
}

/* Skips the document in two ways: as a whole, and by skipping the value of each member and the
 * first value of each array. Both must give the same verdict as reading it. */
static void pass_over(const uint8_t *data, size_t size, bool accepted)
{
    const char *bytes, *first = (const char *)data;
    enum json_scan_token token;
    struct json_scan scan;
    size_t length;

    json_scan_init(&scan, first, size);
    if (json_scan_value(&scan, &bytes, &length))
        must(length > 0 && bytes >= first && length <= (size_t)(first + size - bytes));
    must((json_scan_next(&scan) == JSON_SCAN_DONE) == accepted);
    json_scan_init(&scan, first, size);
    while ((token = json_scan_next(&scan)) > JSON_SCAN_DONE)
        if (token == JSON_SCAN_KEY || token == JSON_SCAN_ARRAY)
            json_scan_value(&scan, NULL, NULL);
    must((token == JSON_SCAN_DONE) == accepted);
}

static bool scan_all(const uint8_t *data, size_t size, struct tally *tally)
{
    enum json_scan_token token;
    struct json_scan scan;

    json_scan_init(&scan, (const char *)data, size);
    while ((token = json_scan_next(&scan)) > JSON_SCAN_DONE)
        count_token(&scan, token, tally);
    return token == JSON_SCAN_DONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tally scanned = { 0 }, parsed = { 0 };
    json_auto_t *value = NULL;
    struct error error = { 0 };
    bool accepted = scan_all(data, size, &scanned);

    pass_over(data, size, accepted);
    if (json_parse_by_jansson((const char *)data, size, &value, &error)) {
        count_tree(value, &parsed);
        must(accepted);
        must(scanned.values == parsed.values && scanned.keys == parsed.keys);
        must(scanned.text_bytes == parsed.text_bytes && scanned.integers == parsed.integers);
        must(scanned.reals == parsed.reals || scanned.reals != scanned.reals);
    } else {
        must(!accepted || strstr(error.message, "duplicate object key") != NULL);
    }
    return 0;
}
