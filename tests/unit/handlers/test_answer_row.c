/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how rows from the store become part of an answer. A list of fields says what is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/json/json.h"
#include "handlers/answer_row.h"

struct note {
    char *remark, *plan;
    int64_t seen_ms, number, chips;
    double weight;
    char name[16], region[16], labels[32];
};

static const struct field fields[] = {
    { "number", VALUE_INTEGER, ROW_INTEGER(struct note, number) },
    { "name", VALUE_TEXT, ROW_TEXT(struct note, name) },
    { "state", VALUE_TEXT },
    { "weight", VALUE_NUMBER, ROW_NUMBER(struct note, weight) },
    { "chips", VALUE_INTEGER, ROW_INTEGER_OR_NULL(struct note, chips) },
    { "region", VALUE_TEXT, ROW_TEXT_OR_NULL(struct note, region) },
    { "remark", VALUE_TEXT, ROW_HEAP_TEXT_OR_NULL(struct note, remark) },
    { "labels", VALUE_OBJECT, ROW_JSON(struct note, labels) },
    { "plan", VALUE_OBJECT, ROW_HEAP_JSON(struct note, plan) },
    { "seen_at", VALUE_TEXT, ROW_TIME(struct note, seen_ms) },
    { "source", VALUE_TEXT },
    { 0 },
};

static void check_shown_take(const struct note *note, json_t *others, const char *expected)
{
    json_auto_t *shown = answer_row_take(fields, note, others);
    char *written = json_dumps(shown, JSON_COMPACT);

    assert_string_equal(written, expected);
    free(written);
}

static void shows_members_and_further_values_in_the_order_of_the_fields(void **state)
{
    char remark[] = "late", plan[] = "{\"users\":[1]}";
    struct note note = {
        .remark = remark,
        .plan = plan,
        .seen_ms = 1000,
        .number = INT64_MAX,
        .chips = 2,
        .weight = 0.5,
        .name = "anne",
        .region = "eu",
        .labels = "{\"a\":\"b\"}",
    };

    (void)state;
    check_shown_take(&note, json_pack("{s:s, s:s}", "unknown", "dropped", "state", "done"),
                     "{\"number\":9223372036854775807,\"name\":\"anne\",\"state\":\"done\","
                     "\"weight\":0.5,\"chips\":2,\"region\":\"eu\",\"remark\":\"late\","
                     "\"labels\":{\"a\":\"b\"},\"plan\":{\"users\":[1]},"
                     "\"seen_at\":\"1970-01-01T00:00:01Z\"}");
}

static void shows_empty_values_as_null_where_the_field_allows_null(void **state)
{
    char remark[] = "", plan[] = "";
    struct note note = { .remark = remark, .plan = plan };

    (void)state;
    check_shown_take(&note, NULL,
                     "{\"number\":0,\"name\":\"\",\"weight\":0.0,\"chips\":null,\"region\":null,"
                     "\"remark\":null,\"labels\":{},\"plan\":{},\"seen_at\":null}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_members_and_further_values_in_the_order_of_the_fields),
        cmocka_unit_test(shows_empty_values_as_null_where_the_field_allows_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
