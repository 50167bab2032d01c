/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/person.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "client/command/wording.h"
#include "client/terminal/readable.h"

/* Reads a line from standard input; NULL: the input ended. The caller frees the line. */
static char *read_line(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;

    fflush(stderr);
    length = getline(&line, &size, stdin);
    if (length < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static void show(const char *text)
{
    struct terminal terminal = terminal_of(fileno(stderr));
    TEXT_AUTO worded = { 0 }, clean = { 0 };

    wording_add_answer(text, &worded);
    readable_add_text(&terminal, text_string(&worded), &clean);
    fputs(text_string(&clean), stderr);
}

bool person_confirm(const char *question)
{
    TEXT_AUTO clean = { 0 };
    FREE_AUTO char *line = NULL;

    text_add_printable(&clean, question, strlen(question), 400);
    fprintf(stderr, "%s [y/N] ", text_string(&clean));
    line = read_line();
    return line != NULL && (strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0);
}

/* ---- Forms ---- */

static void show_choices(const json_t *property)
{
    const json_t *choice;
    TEXT_AUTO text = { 0 };
    size_t i;

    json_array_foreach(json_object_get(property, "enum"), i, choice)
        if (json_is_string(choice))
            text_addf(&text, "%s%s", text.length > 0 ? ", " : "", json_string_value(choice));
    if (text.length > 0)
        show(text_string(&text));
}

/* Asks for the value of a property. Returns a new reference; NULL: the input ended. For a boolean,
 * the end of the input means false. */
static json_t *ask_property(const char *name, const json_t *property)
{
    const char *title = json_get_text(property, "title", name);
    const char *type = json_get_text(property, "type", "string");
    FREE_AUTO char *line = NULL;
    struct error ignored;
    json_t *value;

    if (strcmp(type, "boolean") == 0)
        return json_boolean(person_confirm(title));
    show(title);
    show_choices(property);
    fputs("> ", stderr);
    line = read_line();
    if (line == NULL || strcmp(type, "string") == 0)
        return line == NULL ? NULL : json_string(line);
    return json_parse(line, strlen(line), &value, &ignored) ? value : json_string(line);
}

static json_t *answer_form(const json_t *params)
{
    json_t *content = json_object(), *property;
    const char *name;

    show(json_get_text(params, "message", ""));
    json_object_foreach(json_object_get(json_object_get(params, "requestedSchema"), "properties"),
                        name, property) {
        json_t *value = ask_property(name, property);

        if (value == NULL) {
            json_decref(content);
            return json_pack("{s:s}", "action", "cancel");
        }
        json_object_set_new(content, name, value);
    }
    return json_pack("{s:s, s:o}", "action", "accept", "content", content);
}

json_t *person_answer(const json_t *requests)
{
    json_t *responses = json_object(), *request;
    const char *key;

    json_object_foreach(json_iterable(requests), key, request) {
        const json_t *params = json_object_get(request, "params");
        bool is_form = strcmp(json_get_text(request, "method", ""), "elicitation/create") == 0
                       && json_object_get(params, "requestedSchema") != NULL
                       && isatty(STDIN_FILENO) == 1;

        json_object_set_new(responses, key,
                            is_form ? answer_form(params)
                                    : json_pack("{s:s}", "action", "decline"));
    }
    return responses;
}
