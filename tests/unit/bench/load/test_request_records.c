/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/request_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void reads_back_what_was_packed_and_refuses_damage(void **state)
{
    struct request_records records = { .origin_ns = 123456789012345 }, again = { 0 };
    struct error error = { 0 };
    void *packed;
    size_t length;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        struct record record;

        memset(&record, 0, sizeof record);
        record.index = i;
        record.sent_us = (int64_t)i * 1000 - 500000;
        record.due_us = record.sent_us - 17;
        record.ttft_us = i * 3;
        record.e2e_us = UINT32_MAX - i;
        record.input_tokens = UINT32_MAX;
        record.cached_tokens = 7;
        record.chunks = record.output_tokens = i % 100;
        record.failure = (uint8_t)(i % 20);
        record.phase = RECORD_WINDOW;
        request_records_add(&records, &record);
    }
    assert_true(request_records_pack(&records, &packed, &length, &error));
    assert_true(length < 1000 * sizeof *records.rows / 2);
    assert_true(request_records_unpack(packed, length, &again, &error));
    assert_int_equal(again.count, 1000);
    assert_true(again.origin_ns == records.origin_ns);
    assert_memory_equal(again.rows, records.rows, 1000 * sizeof *records.rows);
    request_records_finish(&again);
    assert_false(request_records_unpack(packed, length - 1, &again, &error));
    assert_false(request_records_unpack("x", 1, &again, &error));
    free(packed);
    request_records_finish(&records);
}

static void keeps_no_more_records_than_the_limit(void **state)
{
    struct request_records records = { 0 };
    const struct record record = { 0 };

    (void)state;
    for (int i = 0; i < REQUEST_RECORDS_LIMIT + 10; i++)
        request_records_add(&records, &record);
    assert_int_equal(records.count, REQUEST_RECORDS_LIMIT);
    request_records_finish(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_was_packed_and_refuses_damage),
        cmocka_unit_test(keeps_no_more_records_than_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
