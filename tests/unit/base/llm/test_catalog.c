/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/llm/catalog.h"

#define HARDWARE                                                                                   \
    "[{\"name\":\"x-1\",\"title\":\"X One\",\"aliases\":[\"x1\"],\"memory_gb\":16,"                \
    "\"bandwidth_gb_s\":300,\"peak_tflops\":{\"bf16\":100},\"source\":\"us\","                     \
    "\"as_of\":\"2026-01-02\"}]"

static struct catalog *embedded(void)
{
    struct catalog *catalog;
    struct error error;

    if (!catalog_create(&catalog, &error))
        fail_msg("%s", error.message);
    return catalog;
}

static void every_row_has_a_dated_source_and_is_found_by_its_name(void **state)
{
    struct catalog *catalog = embedded();
    size_t hardware_count, model_count;
    const struct hardware *hardware = catalog_hardware(catalog, &hardware_count);
    const struct model *models = catalog_models(catalog, &model_count);

    (void)state;
    assert_true(hardware_count >= 11 && model_count >= 5);
    for (size_t i = 0; i < hardware_count; i++) {
        assert_true(strlen(hardware[i].source) > 10);
        assert_memory_equal(hardware[i].as_of, "202", 3);
        assert_ptr_equal(catalog_find_hardware(catalog, hardware[i].name), &hardware[i]);
        assert_ptr_equal(catalog_find_hardware(catalog, hardware[i].title), &hardware[i]);
    }
    for (size_t i = 0; i < model_count; i++) {
        assert_true(strlen(models[i].source) > 10);
        assert_memory_equal(models[i].as_of, "202", 3);
        assert_ptr_equal(catalog_find_model(catalog, models[i].name), &models[i]);
    }
    catalog_destroy(catalog);
}

static void finds_hardware_and_models_by_short_names(void **state)
{
    static const char *const hardware[] = { "L4",      "RTX PRO 6000", "T4",    "A10",
                                            "A100",    "H100",         "T4G",   "inf2",
                                            "tpu-v5e", "tpu-v6e",      "MI300X" };
    static const char *const models[] = { "E2B", "E4B", "12B", "26B-A4B", "31B" };
    struct catalog *catalog = embedded();

    (void)state;
    for (size_t i = 0; i < sizeof hardware / sizeof *hardware; i++)
        assert_non_null(catalog_find_hardware(catalog, hardware[i]));
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        assert_non_null(catalog_find_model(catalog, models[i]));
    catalog_destroy(catalog);
}

/* Weights in bf16 take two bytes per parameter. */
static void the_figures_of_each_model_agree_with_one_another(void **state)
{
    struct catalog *catalog = embedded();
    size_t count;
    const struct model *models = catalog_models(catalog, &count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_true(models[i].active_parameters <= models[i].parameters);
        assert_true(models[i].kv_layers <= models[i].layers);
        assert_true(fabs(models[i].weight_bytes[FORMAT_BF16] / (2 * models[i].parameters) - 1)
                    < 0.08);
    }
    catalog_destroy(catalog);
}

static void finds_a_row_whose_name_occurs_in_a_longer_string(void **state)
{
    struct catalog *catalog = embedded();

    (void)state;
    assert_string_equal(catalog_find_hardware(catalog, "1x NVIDIA-L4 (Cloud Run)")->name,
                        "nvidia-l4");
    assert_string_equal(catalog_find_hardware(catalog, "nvidia l40s")->name, "nvidia-l40s");
    assert_null(catalog_find_hardware(catalog, "l400"));
    assert_null(catalog_find_hardware(catalog, "L4 and T4"));
    assert_null(catalog_find_hardware(catalog, ""));
    assert_string_equal(catalog_find_model(catalog, "google/gemma-4-12B-it-qat-w4a16-ct")->name,
                        "google/gemma-4-12B-it");
    assert_null(catalog_find_model(catalog, "simserve/toy"));
    catalog_destroy(catalog);
}

static void reads_rows_or_says_what_is_wrong_with_them(void **state)
{
    struct catalog *catalog;
    struct error error;

    (void)state;
    assert_true(catalog_parse(HARDWARE, "[]", &catalog, &error));
    assert_true(isnan(catalog_find_hardware(catalog, "x1")->peak_flops[FORMAT_FP8]));
    catalog_destroy(catalog);
    assert_false(catalog_parse("[{\"name\":\"y\",\"title\":\"Y\"}]", "[]", &catalog, &error));
    assert_string_equal(error.message,
                        "catalog: y: \"aliases\" must be a list of at least one string");
    assert_false(catalog_parse("[{}]", "[]", &catalog, &error));
    assert_string_equal(error.message,
                        "catalog: a row: \"name\" must be a string that is not empty");
    assert_false(catalog_parse("{}", "[]", &catalog, &error));
    assert_string_equal(error.message, "catalog: hardware must be a list");
    assert_false(catalog_parse("[", "[]", &catalog, &error));
    assert_memory_equal(error.message, "catalog: hardware: ", 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_dated_source_and_is_found_by_its_name),
        cmocka_unit_test(finds_hardware_and_models_by_short_names),
        cmocka_unit_test(the_figures_of_each_model_agree_with_one_another),
        cmocka_unit_test(finds_a_row_whose_name_occurs_in_a_longer_string),
        cmocka_unit_test(reads_rows_or_says_what_is_wrong_with_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
