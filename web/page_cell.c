/* SPDX-License-Identifier: Apache-2.0 */
#include "web/page_cell.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json/json.h"

static bool is_acronym(const char *word, size_t length)
{
    static const char *const acronyms[] = { "api", "ci", "e2e", "itl", "tpot", "ttft", "url" };

    for (size_t i = 0; i < sizeof acronyms / sizeof *acronyms; i++)
        if (strlen(acronyms[i]) == length && strncasecmp(word, acronyms[i], length) == 0)
            return true;
    return false;
}

/* Turns "limit ttft" into "Limit TTFT". */
static void capitalize(char *words)
{
    words[0] = (char)toupper((unsigned char)words[0]);
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        bool is_upper = is_acronym(words, length);

        for (size_t i = 0; i < length && is_upper; i++)
            words[i] = (char)toupper((unsigned char)words[i]);
        words += length + (words[length] == ' ');
    }
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);

    return length > tail && strcmp(name + length - tail, end) == 0;
}

void page_cell_label(const char *name, struct html *html)
{
    const char *unit = ends_with(name, "_ms") ? "ms" : ends_with(name, "_s") ? "s" : NULL;
    size_t unit_bytes = unit != NULL ? strlen(unit) + 1 : 0;
    TEXT_AUTO words = { 0 };

    text_add_bytes(&words, name, strlen(name) - unit_bytes);
    for (char *c = words.data; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    capitalize(words.data);
    html_text(html, text_string(&words));
    if (unit != NULL)
        html_textf(html, ", %s", unit);
}

const json_t *page_cell_member(const json_t *object, const char *path)
{
    const char *dot = strchr(path, '.');
    char name[64];

    if (dot == NULL)
        return json_object_get(object, path);
    snprintf(name, sizeof name, "%.*s", (int)(dot - path), path);
    return page_cell_member(json_object_get(object, name), dot + 1);
}

void page_cell_url(const char *id, struct text *out)
{
    static const struct {
        const char *prefix, *path;
    } kinds[] = {
        { "run_", "/runs/" }, { "imp_", "/runs/" },  { "swp_", "/sweeps/" },
        { "job_", "/jobs/" }, { "pln_", "/plans/" },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(id, kinds[i].prefix, 4) == 0) {
            text_add(out, kinds[i].path);
            page_url_add_path(out, id);
        }
}

/* ---- Values ---- */

static void add_words(const json_t *value, struct text *out);

/* Adds an object as "team: search, tier: 1". */
static void add_members(const json_t *object, struct text *out)
{
    const char *name, *separator = "";
    json_t *value;

    json_object_foreach(json_iterable(object), name, value) {
        text_addf(out, "%s%s: ", separator, name);
        add_words(value, out);
        separator = ", ";
    }
}

/* Adds a list as "16, 128". */
static void add_items(const json_t *list, struct text *out)
{
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item) {
        text_add(out, i > 0 ? ", " : "");
        add_words(item, out);
    }
}

/* Adds a number, never with an exponent. */
static void add_number(const json_t *number, struct text *out)
{
    double value = json_number_value(number);

    if (json_is_integer(number) || fabs(value) >= 999999.5)
        text_addf(out, "%.0f", value);
    else if (value != 0 && fabs(value) < 1e-4)
        text_add(out, value > 0 ? "< 0.0001" : "> -0.0001");
    else
        text_addf(out, "%.6g", value);
}

/* Adds a value of any kind on one line. */
static void add_words(const json_t *value, struct text *out)
{
    if (json_is_object(value))
        add_members(value, out);
    else if (json_is_array(value))
        add_items(value, out);
    else if (json_is_string(value))
        text_add(out, json_string_value(value));
    else if (json_is_number(value))
        add_number(value, out);
    else if (json_is_boolean(value))
        text_add(out, json_is_true(value) ? "yes" : "no");
    else if (value != NULL && !json_is_null(value))
        json_add(out, value);
}

/* Writes a time, to the second, as "2026-11-22 10:00:00". */
static void write_time(const char *time, struct html *html)
{
    char shown[20];

    html_open(html, "time", { "datetime", time });
    snprintf(shown, sizeof shown, "%.10s %.8s", time, strlen(time) > 11 ? time + 11 : "");
    html_text(html, shown);
    html_close(html, "time");
}

static const char *state_class(const char *state)
{
    static const char *const good[] = { "up", "completed", "ok", "PASSED", NULL };
    static const char *const warn[] = { "cancelled", "cancelling", "interrupted", "waiting",
                                        "conflict",  "invalid",    NULL };
    static const char *const bad[] = { "down", "failed", "FAILED", "internal", "forbidden", NULL };
    static const struct {
        const char *const *words;
        const char *name;
    } classes[] = { { good, "state good" }, { warn, "state warn" }, { bad, "state bad" } };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        for (const char *const *word = classes[i].words; *word != NULL; word++)
            if (strcmp(state, *word) == 0)
                return classes[i].name;
    return "state";
}

static void write_id(const char *id, struct html *html)
{
    TEXT_AUTO url = { 0 };

    page_cell_url(id, &url);
    if (url.length == 0) {
        html_name(html, id);
        return;
    }
    html_open(html, "a", { "href", text_string(&url) }, { "title", id });
    html_textf(html, "%.10s…", id);
    html_close(html, "a");
}

static void write_deployment(const char *name, struct html *html)
{
    TEXT_AUTO url = { 0 };

    text_add(&url, "/deployments/");
    page_url_add_path(&url, name);
    html_open(html, "a", { "href", text_string(&url) });
    html_name(html, name);
    html_close(html, "a");
}

void page_cell_write(enum page_cell kind, const json_t *value, struct html *html)
{
    TEXT_AUTO words = { 0 };

    add_words(value, &words);
    if (words.length == 0)
        return;
    if (kind == PAGE_CHANGE)
        page_cell_change(value, html);
    else if (kind == PAGE_TIME)
        write_time(text_string(&words), html);
    else if (kind == PAGE_STATE)
        html_element(html, "span", text_string(&words),
                     { "class", state_class(text_string(&words)) });
    else if (kind == PAGE_ID)
        write_id(text_string(&words), html);
    else if (kind == PAGE_DEPLOYMENT)
        write_deployment(text_string(&words), html);
    else if (kind == PAGE_FOREIGN)
        html_name(html, text_string(&words));
    else
        html_text(html, text_string(&words));
}

void page_cell_change(const json_t *changed, struct html *html)
{
    const char *name;
    json_t *pair;

    json_object_foreach(json_iterable(changed), name, pair) {
        html_open(html, "div");
        html_textf(html, "%s: ", name);
        page_cell_write(PAGE_FOREIGN, json_array_get(pair, 0), html);
        html_text(html, " → ");
        page_cell_write(PAGE_FOREIGN, json_array_get(pair, 1), html);
        html_close(html, "div");
    }
}
