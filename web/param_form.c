/* SPDX-License-Identifier: Apache-2.0 */
#include "web/param_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "web/page_cell.h"
#include "web/param_hint.h"

static bool is_among(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static const char *value_of(const struct page_request *request, const struct param *param)
{
    const char *sent = page_form(request, param->name);

    return sent != NULL || request->form.count > 0 ? sent : page_query(request, param->name);
}

/* ---- Writing ---- */

static void write_label(const struct tool *tool, const struct param *param, struct html *html)
{
    page_cell_label(param->name, html);
    if (param->required)
        html_text(html, " (required)");
    html_open(html, "span", { "class", "hint" });
    param_hint_write(tool, param->help, html);
    html_close(html, "span");
}

static void write_option(const char *value, const char *words, const char *chosen,
                         struct html *html)
{
    html_element(html, "option", words, { "value", value },
                 { "selected", chosen != NULL && strcmp(chosen, value) == 0 ? "" : NULL });
}

static void write_choices(const struct param *param, const char *value, struct html *html)
{
    static const char *const truths[] = { "true", "false", NULL };
    const char *const *choices = param->type == VALUE_BOOLEAN ? truths : param->choices;

    html_open(html, "select", { "name", param->name });
    write_option("", param->initial != NULL ? "(default)" : "(not given)", value, html);
    for (; *choices != NULL; choices++)
        write_option(*choices, *choices, value, html);
    html_close(html, "select");
}

/* Returns the default as a user would type it: "128" for [128]. */
static const char *initial_of(const struct param *param, struct text *out)
{
    for (const char *c = param->initial; c != NULL && *c != '\0'; c++)
        if (strchr("[]\"", *c) == NULL)
            text_add_char(out, *c);
    return out->length > 0 ? text_string(out) : NULL;
}

static void write_input(const struct param *param, const char *value, struct html *html)
{
    const char *required = param->required ? "" : NULL;
    TEXT_AUTO initial = { 0 };

    if (param->type == VALUE_BOOLEAN || param->type == VALUE_CHOICE) {
        write_choices(param, value, html);
    } else if (param->type == VALUE_TEXTS || param->type == VALUE_TEXT_MAP) {
        html_element(html, "textarea", value != NULL ? value : "", { "name", param->name },
                     { "rows", "3" }, { "placeholder", "one per line" });
    } else {
        html_open(html, "input", { "type", "text" }, { "name", param->name }, { "value", value },
                  { "placeholder", initial_of(param, &initial) }, { "required", required },
                  { "autocomplete", "off" });
    }
}

static void write_inputs(const struct page_request *request, const struct tool *tool,
                         const char *const *omitted, bool rare, struct html *html)
{
    for (const struct param *param = tool->params; param->name != NULL; param++) {
        if (param->rare != rare || is_among(omitted, param->name))
            continue;
        html_open(html, "label");
        write_label(tool, param, html);
        write_input(param, value_of(request, param), html);
        html_close(html, "label");
    }
}

/* Whether one of the folded inputs has a value. If so, the inputs are unfolded, because users must
 * see every value. */
static bool has_rare_value(const struct page_request *request, const struct tool *tool,
                           const char *const *omitted)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (param->rare && !is_among(omitted, param->name) && value_of(request, param) != NULL)
            return true;
    return false;
}

void param_form_write(const struct page_request *request, const struct tool *tool,
                      const char *const *omitted, struct html *html)
{
    write_inputs(request, tool, omitted, false, html);
    html_open(html, "details", { "open", has_rare_value(request, tool, omitted) ? "" : NULL });
    html_element(html, "summary", "More");
    write_inputs(request, tool, omitted, true, html);
    html_close(html, "details");
}

void param_form_write_hidden(const struct page_request *request, const struct tool *tool,
                             const char *const *omitted, struct html *html)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (!is_among(omitted, param->name) && value_of(request, param) != NULL)
            html_open(html, "input", { "type", "hidden" }, { "name", param->name },
                      { "value", value_of(request, param) });
}

/* ---- Reading ---- */

json_t *param_form_number(const char *text, bool whole)
{
    char *end;
    double number = strtod(text, &end);

    if (*text == '\0' || *end != '\0' || !isfinite(number))
        return json_string(text);
    if (whole && number == floor(number) && fabs(number) < 9e15)
        return json_integer((json_int_t)number);
    return json_real(number);
}

/* Reads a list of numbers such as "1, 4 16". */
static json_t *read_numbers(const char *text, bool whole)
{
    json_t *numbers = json_array();
    TEXT_AUTO word = { 0 };

    while (*text != '\0') {
        size_t length = (text += strspn(text, ", []\n\t"), strcspn(text, ", []\n\t"));

        text_clear(&word);
        text_add_bytes(&word, text, length);
        if (length > 0)
            json_array_append_new(numbers, param_form_number(text_string(&word), whole));
        text += length;
    }
    return numbers;
}

static json_t *read_lines(const char *text)
{
    json_t *lines = json_array();

    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        if (length > 0)
            json_array_append_new(lines, json_stringn(text, length));
        text += length + (text[length] == '\n');
    }
    return lines;
}

static json_t *read_value(const struct param *param, const char *text)
{
    switch (param->type) {
    case VALUE_INTEGER:
    case VALUE_NUMBER:
        return param_form_number(text, param->type == VALUE_INTEGER);
    case VALUE_INTEGERS:
    case VALUE_NUMBERS:
        return read_numbers(text, param->type == VALUE_INTEGERS);
    case VALUE_BOOLEAN:
        return strcmp(text, "true") == 0    ? json_true()
               : strcmp(text, "false") == 0 ? json_false()
                                            : json_string(text);
    case VALUE_TEXTS:
    case VALUE_TEXT_MAP:
        return read_lines(text);
    case VALUE_TEXT:
    case VALUE_CHOICE:
    case VALUE_OBJECT:
    case VALUE_LIST:
        break;
    }
    return json_string(text);
}

json_t *param_form_read(const struct page_request *request, const struct tool *tool,
                        const char *const *omitted)
{
    json_t *arguments = json_object();

    for (const struct param *param = tool->params; param->name != NULL; param++) {
        const char *text = page_form(request, param->name);

        if (text != NULL && !is_among(omitted, param->name))
            json_object_set_new(arguments, param->name, read_value(param, text));
    }
    return arguments;
}
