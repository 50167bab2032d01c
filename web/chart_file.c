/* SPDX-License-Identifier: Apache-2.0 */
#include "web/chart_file.h"

#include <string.h>

#include "analysis/charts/svg.h"
#include "base/json/json.h"
#include "handlers/charts/chart_request.h"
#include "handlers/charts/pictures.h"
#include "web/page_call.h"
#include "web/param_form.h"
#include "web/report_page.h"

/* ---- Formats of the file ---- */

static CHECKED bool write_svg(const struct services *services, const struct chart *chart, bool dark,
                              struct text *out, struct error *error)
{
    (void)services, (void)error;
    svg_write(&chart->drawing, dark ? SVG_DARK : SVG_LIGHT, out);
    return true;
}

static CHECKED bool write_png(const struct services *services, const struct chart *chart, bool dark,
                              struct text *out, struct error *error)
{
    return pictures_draw(services->pictures, &chart->drawing, dark ? THEME_DARK : THEME_LIGHT, out,
                         error);
}

static CHECKED bool write_csv(const struct services *services, const struct chart *chart, bool dark,
                              struct text *out, struct error *error)
{
    (void)services, (void)dark, (void)error;
    chart_table_csv(&chart->table, out);
    return true;
}

static CHECKED bool write_json(const struct services *services, const struct chart *chart,
                               bool dark, struct text *out, struct error *error)
{
    json_auto_t *rows = chart_table_json(&chart->table);

    (void)services, (void)dark, (void)error;
    json_add(out, rows);
    return true;
}

static const struct file_format {
    const char *end, *type;
    CHECKED bool (*write)(const struct services *services, const struct chart *chart, bool dark,
                          struct text *out, struct error *error);
} formats[] = {
    { ".svg", "image/svg+xml", write_svg },
    { ".png", "image/png", write_png },
    { ".csv", "text/csv; charset=utf-8", write_csv },
    { ".json", "application/json", write_json },
};

/* Returns the format for the path's extension. Every path of a chart in web/pages.c has one of
 * these extensions. */
static const struct file_format *format_of(const struct page_request *request)
{
    const char *end = strrchr(request->path, '.');
    size_t i = 0;

    while (i + 1 < sizeof formats / sizeof *formats
           && strncmp(end, formats[i].end, strlen(formats[i].end)) != 0)
        i++;
    return &formats[i];
}

/* ---- The request ---- */

static void add_text(const struct page_request *request, const char *name, const char *as,
                     json_t *options)
{
    const char *value = page_query(request, name);

    if (value != NULL)
        json_object_set_new(options, as, json_string(value));
}

static void add_number(const struct page_request *request, const char *name, json_t *options)
{
    const char *value = page_query(request, name);

    /* A value that is not a number is passed on as a string, which run_chart refuses. */
    if (value != NULL)
        json_object_set_new(options, name, param_form_number(value, false));
}

static void add_list(const struct page_request *request, const char *name, json_t *options)
{
    json_t *list = report_page_names(page_query(request, name));

    if (list != NULL)
        json_object_set_new(options, name, list);
}

/* Adds a list of numbers such as "0.7,1.4". */
static void add_numbers(const struct page_request *request, const char *name, json_t *options)
{
    json_auto_t *list = report_page_names(page_query(request, name));
    json_t *numbers = json_array(), *text;
    size_t i;

    json_array_foreach(list, i, text)
        json_array_append_new(numbers, param_form_number(json_string_value(text), false));
    if (list != NULL)
        json_object_set(options, name, numbers);
    json_decref(numbers);
}

/* If `plot` is "", draws run_chart's default, the heat map. Takes ownership of `arguments`. */
static CHECKED bool answer_file_take(const struct page_request *request, const char *plot,
                                     json_t *arguments, struct page_answer *answer,
                                     struct error *error)
{
    const struct file_format *format = format_of(request);
    struct call call = page_call_make(request);
    json_auto_t *given = arguments;
    CHART_AUTO chart = { 0 };

    if (plot[0] != '\0')
        json_object_set_new(given, "plot", json_string(plot));
    if (!chart_request_call(&call, given, &chart, error))
        return false;
    answer->type = format->type;
    answer->is_kept = true;
    return format->write(request->services, &chart, page_query(request, "dark") != NULL,
                         &answer->body, error);
}

bool chart_file_of_plot(const struct page_request *request, struct page_answer *answer,
                        struct error *error)
{
    json_t *options = json_object();

    add_text(request, "quantity", "quantity", options);
    add_text(request, "candidate", "candidate", options);
    add_numbers(request, "usd_per_hour", options);
    return answer_file_take(
        request, page_place(request, "chart"),
        json_pack("{s:s, s:o}", "run", page_place(request, "id"), "options", options), answer,
        error);
}

bool chart_file_of_comparison(const struct page_request *request, struct page_answer *answer,
                              struct error *error)
{
    json_t *options = json_object();
    const char *run = page_query(request, "a");

    add_text(request, "b", "candidate", options);
    add_text(request, "metric", "quantity", options);
    add_list(request, "factors", options);
    add_list(request, "accept_unknown", options);
    if (page_query(request, "keep_wrong") != NULL)
        json_object_set_new(options, "keep_wrong", json_true());
    return answer_file_take(
        request, "forest", json_pack("{s:s*, s:o}", "run", run, "options", options), answer, error);
}

bool chart_file_of_history(const struct page_request *request, struct page_answer *answer,
                           struct error *error)
{
    json_t *options = json_object();

    add_text(request, "deployment", "deployment", options);
    add_number(request, "minutes", options);
    add_number(request, "until_minutes_ago", options);
    return answer_file_take(request, "history", json_pack("{s:o}", "options", options), answer,
                            error);
}
