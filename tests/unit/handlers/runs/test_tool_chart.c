/* SPDX-License-Identifier: Apache-2.0 */
/* run_chart: a picture and a sentence, of imports and of sweeps of our own. */
#include "tests/unit/support/tool_sweeps.h"

#define PNG_LIMIT 65536

static void import_grid(struct world *world, char out[ID_SIZE])
{
    json_auto_t *row =
        world_ok(world, "run_import",
                 "{\"name\":\"grid.csv\",\"text\":\"context_size,concurrency,req_per_sec,avg_"
                 "latency\\n128,1,2.0,0.5\\n128,16,10.0,1.0\\n128,64,9.0,6.0\\n\"}");

    text_copy(out, ID_SIZE, json_get_text(json_object_get(row, "run"), "id", ""));
}

/* The first block is the image, in base64, the second the sentence. */
static void draws(struct world *world, const char *id, const char *more, const char *words)
{
    TEXT_AUTO arguments = { 0 };
    const json_t *image, *said;

    text_addf(&arguments, "{\"run\":\"%s\"%s}", id, more);
    assert_null(world_call(world, "run_chart", text_string(&arguments)));
    if (world->error.kind != ERROR_NONE)
        fail_msg("%s: %s", text_string(&arguments), world->error.message);
    assert_int_equal(json_array_size(world->content), 2);
    image = json_array_get(world->content, 0);
    assert_string_equal(json_get_text(image, "type", ""), "image");
    assert_string_equal(json_get_text(image, "mimeType", ""), "image/png");
    assert_true(strncmp(json_get_text(image, "data", ""), "iVBORw0KGgo", 11) == 0);
    assert_true(json_string_length(json_object_get(image, "data")) < PNG_LIMIT / 3 * 4);
    said = json_array_get(world->content, 1);
    assert_string_equal(json_get_text(said, "text", ""), text_string(&world->text));
    world_says(world, words);
}

static void every_plot_of_an_import(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];

    import_grid(world, id);
    draws(world, id, "", "The heat chart of imp_");
    draws(world, id, ",\"plot\":\"latency\",\"options\":{\"quantity\":\"e2e\"}", "latency chart");
    draws(world, id, ",\"plot\":\"pareto\",\"options\":{\"dark\":true}", "pareto chart");
    draws(world, id, ",\"plot\":\"load\"", "load chart");
    draws(world, id, ",\"plot\":\"tail\"", "tail chart");
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    import_grid(world, id);
    text_addf(&arguments, "{\"run\":\"%s\",\"options\":{\"quantity\":\"speed\"}}", id);
    world_refused(world, "run_chart", text_string(&arguments), ERROR_INVALID,
                  "quantity is \"speed\", but must be one of requests_per_s, ");
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\",\"plot\":\"tail\",\"options\":{\"quantity\":\"speed\"}}",
              id);
    world_refused(world, "run_chart", text_string(&arguments), ERROR_INVALID,
                  "quantity is \"speed\", but must be ttft, itl, tpot or e2e for tail");
    world_refused(world, "run_chart", "{\"run\":\"imp_nobody\"}", ERROR_NOT_FOUND, "imp_nobody");
    world_refused(world, "run_chart", "{\"run\":\"swp_nobody\"}", ERROR_NOT_FOUND, "swp_nobody");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plot_of_an_import),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
    };

    return world_run(tests);
}
