/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the page of a large A/B sweep: its size (including style sheets and script), and the CSV
 * file of all cells that the page links to. */
#include "tests/unit/support/tool_sweeps.h"
#include "web/assets/assets.h"
#include "web/frame.h"

#define PAGE_BYTES 150000   /* limit on the page with style sheets and script */
#define STYLE_BYTES 8192    /* limit on style.css */
#define CELLS (2 * 12 * 13) /* deployments x loads x contexts */

static bool not_cancelled(void *host)
{
    (void)host;
    return false;
}

static void nothing_changed(void *host, const char *deployment)
{
    (void)host;
    (void)deployment;
}

static const struct page *find_page(const char *path)
{
    const struct page *page = pages;

    while (strcmp(page->path, path) != 0)
        page++;
    return page;
}

/* Writes the page or file at `path` into `out`, as a browser receives it. `id` replaces {id}. */
static void open_page(struct world *world, const char *path, const char *id, struct text *out)
{
    const struct page_value place = { "id", id };
    const struct page_request request = {
        .services = &world->services,
        .principal = { .name = "alice", .role = ROLE_ADMIN },
        .path = path,
        .places = { &place, 1 },
        .token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        .request_id = "req_page",
        .cancelled = not_cancelled,
        .changed = nothing_changed,
    };
    PAGE_ANSWER_AUTO answer = { 0 };

    if (!find_page(path)->write(&request, &answer, &world->error))
        fail_msg("%s", world->error.message);
    if (answer.type == NULL)
        frame_write(&request, &answer, out);
    else
        text_add_bytes(out, text_string(&answer.body), answer.body.length);
}

static size_t count_lines(const struct text *text)
{
    size_t lines = 0;

    for (size_t i = 0; i < text->length; i++)
        lines += text->data[i] == '\n';
    return lines;
}

static void make_ab_sweep(struct world *world, char out[ID_SIZE])
{
    json_auto_t *answer = NULL;

    world_register(world, "a");
    world_register(world, "b");
    answer = world_ok(world, "sweep_start",
                      "{\"deployment\":\"a\",\"candidate\":\"b\",\"output_tokens\":[16],"
                      "\"concurrency\":[1,2,3,4,5,6,7,8,9,10,11,12],\"window_s\":1,"
                      "\"input_tokens\":[16,24,32,48,64,96,128,160,192,224,256,288,320],"
                      "\"options\":{\"warmup_limit_s\":1}}");
    snprintf(out, ID_SIZE, "%s", json_get_text(json_object_get(answer, "sweep"), "id", ""));
    sweep_measured(world, out, CELLS, "completed", "");
}

static void a_page_of_312_cells_is_within_its_byte_limit_and_links_to_a_csv_of_them(void **state)
{
    struct world *world = *state;
    size_t style = *asset_find("style.css")->length;
    TEXT_AUTO page = { 0 };
    TEXT_AUTO cells = { 0 };
    char sweep[ID_SIZE];
    size_t total;

    make_ab_sweep(world, sweep);
    open_page(world, "/sweeps/{id}", sweep, &page);
    total = page.length + style + *asset_find("chart.css")->length + *asset_find("page.js")->length;
    print_message("page: %zu bytes, with style sheets and script: %zu bytes\n", page.length, total);
    assert_true(style <= STYLE_BYTES);
    assert_true(total <= PAGE_BYTES);
    assert_non_null(strstr(text_string(&page), "</html>"));
    assert_non_null(strstr(text_string(&page), ".csv\""));
    open_page(world, "/sweeps/{id}.csv", sweep, &cells);
    assert_int_equal(count_lines(&cells), 1 + CELLS);
    assert_true(strncmp(text_string(&cells), "run,position,deployment,", 24) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_of_312_cells_is_within_its_byte_limit_and_links_to_a_csv_of_them),
    };

    return world_run(tests);
}
