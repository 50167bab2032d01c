/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the price per hour, which is computed from a recipe's cost and the rows of
 * catalog/prices.json. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "fleet/recipes/price_book.h"
#include "fleet/recipes/recipe_book.h"

static struct price_book *embedded(void)
{
    struct price_book *book;
    struct error error;

    if (!price_book_create(&book, &error))
        fail_msg("%s", error.message);
    return book;
}

static struct recipe recipe_with_cost(const char *cost)
{
    json_auto_t *document =
        json_load_file(SOURCE_DIR "/tests/fuzz/corpus/recipe/whole.json", 0, NULL);
    struct recipe recipe;
    struct error error;

    json_object_set_new(document, "cost", json_loads(cost, 0, NULL));
    if (!recipe_read(document, &recipe, &error))
        fail_msg("%s", error.message);
    return recipe;
}

static struct price price_for(const struct price_book *book, const char *cost, const char *place,
                              const char *kind)
{
    struct recipe recipe = recipe_with_cost(cost);
    struct price price;

    price_of(book, &recipe, place, kind, &price);
    recipe_finish(&recipe);
    return price;
}

#define RUN(gpu, cpu, gib)                                                                         \
    "[{\"item\":\"run.gpu." gpu "\",\"quantity\":1},{\"item\":\"run.vcpu\",\"quantity\":" cpu      \
    "},{\"item\":\"run.gib\",\"quantity\":" gib "}]"
#define G2(cpu, gib, cards)                                                                        \
    "[{\"item\":\"gce.g2.vcpu\",\"quantity\":" cpu "},{\"item\":\"gce.g2.gib\",\"quantity\":" gib  \
    "},{\"item\":\"gce.gpu.l4\",\"quantity\":" cards "}]"
#define CHIPS(count) "[{\"item\":\"tpu.v6e.chip\",\"quantity\":" count "}]"

static const struct vector {
    const char *cost, *place, *kind;
    double usd_per_hour;
} vectors[] = {
    { RUN("l4", "4", "16"), "us-central1", "on_demand", 1.047 },
    { RUN("l4.zonal", "4", "16"), "us-central1", "on_demand", 1.422 },
    { RUN("l4", "8", "32"), "us-central1", "on_demand", 1.421 },
    { RUN("l4.zonal", "8", "32"), "us-central1", "on_demand", 1.796 },
    { RUN("rtx-pro-6000", "20", "80"), "us-central1", "on_demand", 3.187 },
    { RUN("rtx-pro-6000.zonal", "20", "80"), "us-central1", "on_demand", 3.921 },
    { G2("4", "16", "1"), "us-central1-a", "on_demand", 0.707 },
    { G2("8", "32", "1"), "us-central1-a", "on_demand", 0.854 },
    { G2("12", "48", "1"), "us-central1-a", "on_demand", 1.000 },
    { G2("24", "96", "2"), "us-central1-a", "on_demand", 2.001 },
    { G2("48", "192", "4"), "us-central1-a", "on_demand", 4.001 },
    { G2("96", "384", "8"), "us-central1-a", "on_demand", 8.003 },
    { G2("4", "16", "1"), "us-central1-a", "spot", 0.424 },
    { G2("96", "384", "8"), "us-central1-c", "spot", 4.802 },
    { CHIPS("4"), "europe-west4-a", "flex_start", 5.40 },
    { CHIPS("8"), "us-east5-b", "flex_start", 10.80 },
    { CHIPS("1"), "us-east5-b", "on_demand", 2.70 },
    { CHIPS("1"), "europe-west4-a", "on_demand", 2.97 },
    { CHIPS("1"), "us-east5-a", "spot", 1.4033 },
};

static void an_hour_costs_what_the_rows_add_up_to(void **state)
{
    struct price_book *book = embedded();

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct price price = price_for(book, vectors[i].cost, vectors[i].place, vectors[i].kind);

        if (!price.known || fabs(price.usd_per_hour - vectors[i].usd_per_hour) > 0.00051)
            fail_msg("%s in %s, %s: got \"%s\", expected %g USD/h", vectors[i].cost,
                     vectors[i].place, vectors[i].kind, price.breakdown, vectors[i].usd_per_hour);
        assert_true(price.least_per_hour == price.usd_per_hour);
        assert_int_equal(strlen(price.rows), 64);
    }
    price_book_destroy(book);
}

static void the_breakdown_names_items_sources_and_dates(void **state)
{
    struct price_book *book = embedded();
    struct price price = price_for(book, RUN("l4", "4", "16"), "us-central1", "on_demand");

    (void)state;
    assert_string_equal(
        price.breakdown,
        "1 x run.gpu.l4 0.67212 + 4 x run.vcpu 0.0648 + 16 x run.gib 0.0072 = 1.047 "
        "USD/h, list price (Cloud Billing API, 2026-08; Cloud Billing API, "
        "instance-based billing, tier 1 regions (the list of regions is general knowledge, not "
        "from this source), 2026-08)");
    price_book_destroy(book);
}

static void without_a_row_the_price_is_not_known(void **state)
{
    static const struct vector unknown[] = {
        { RUN("l4", "4", "16"), "us-east4", "on_demand", 0 },
        { RUN("l4", "4", "16"), "us-central1", "spot", 0 },
        { CHIPS("1"), "us-east5-b", "reserved", 0 },
        { G2("4", "16", "1"), "us-central1-", "on_demand", 0 },
        { CHIPS("1"), "southamerica-west1-a", "on_demand", 0 },
        { G2("4", "16", "1"), "us-central10-a", "on_demand", 0 },
        { G2("4", "16", "1"), "us-central", "on_demand", 0 },
        { G2("4", "16", "1"), "", "on_demand", 0 },
        { "[{\"item\":\"gce.g3.vcpu\",\"quantity\":1}]", "us-central1-a", "on_demand", 0 },
    };
    struct price_book *book = embedded();

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct price price = price_for(book, unknown[i].cost, unknown[i].place, unknown[i].kind);

        if (price.known)
            fail_msg("%s in %s: got \"%s\", expected no price", unknown[i].cost, unknown[i].place,
                     price.breakdown);
        assert_true(isnan(price.usd_per_hour) && price.rows[0] == '\0');
        assert_memory_equal(price.breakdown, "not known: ", 11);
    }
    price_book_destroy(book);
}

static void nothing_is_billed_for_an_empty_cost(void **state)
{
    struct price_book *book = embedded();
    struct price price = price_for(book, "[]", "", "on_demand");

    (void)state;
    assert_true(price.known && price.usd_per_hour == 0);
    price_book_destroy(book);
}

#define ROW(usd, more)                                                                             \
    "{\"item\":\"x\",\"provider\":\"p\",\"kind\":\"on_demand\",\"unit\":\"h\",\"regions\":[],"     \
    "\"usd\":" usd ",\"source\":\"s" usd "\",\"as_of\":\"2026-11-21\"" more "}"

static void if_rows_disagree_both_prices_are_shown(void **state)
{
    struct price_book *book;
    struct price price;
    struct error error;

    (void)state;
    assert_true(price_book_parse(
        "[" ROW("2", "") "," ROW("3", "") "," ROW("9", ",\"apart\":\"another thing\"") "]", &book,
        &error));
    price = price_for(book, "[{\"item\":\"x\",\"quantity\":4}]", "anywhere", "on_demand");
    assert_true(price.known);
    assert_true(price.usd_per_hour == 12 && price.least_per_hour == 8);
    assert_string_equal(price.breakdown, "4 x x 3 (sources disagree: 2 to 3) = 12.000 USD/h, list "
                                         "price (s2, 2026-11-21; s3, 2026-11-21)");
    price_book_destroy(book);
}

static void the_list_of_rows_includes_rows_that_no_price_uses(void **state)
{
    struct price_book *book = embedded();
    json_auto_t *rows = price_book_rows(book, "tpu.v6e.chip");
    size_t apart = 0;

    (void)state;
    for (size_t i = 0; i < json_array_size(rows); i++)
        apart += json_object_get(json_array_get(rows, i), "apart") != NULL;
    assert_int_equal(apart, 2);
    price_book_destroy(book);
}

static void incomplete_rows_and_anything_but_a_list_of_rows_are_refused(void **state)
{
    static const char *const members[] = { "item", "provider", "kind",   "unit",
                                           "usd",  "regions",  "source", "as_of" };
    struct price_book *book;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_auto_t *rows = json_loads("[" ROW("2", "") "]", 0, NULL);
        char *text;

        json_object_del(json_array_get(rows, 0), members[i]);
        text = json_write(rows);
        assert_false(price_book_parse(text, &book, &error));
        assert_non_null(strstr(error.message, members[i]));
        free(text);
    }
    assert_false(price_book_parse("{}", &book, &error));
    assert_false(price_book_parse("[", &book, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_hour_costs_what_the_rows_add_up_to),
        cmocka_unit_test(the_breakdown_names_items_sources_and_dates),
        cmocka_unit_test(without_a_row_the_price_is_not_known),
        cmocka_unit_test(nothing_is_billed_for_an_empty_cost),
        cmocka_unit_test(if_rows_disagree_both_prices_are_shown),
        cmocka_unit_test(the_list_of_rows_includes_rows_that_no_price_uses),
        cmocka_unit_test(incomplete_rows_and_anything_but_a_list_of_rows_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
