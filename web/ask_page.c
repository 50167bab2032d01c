/* SPDX-License-Identifier: Apache-2.0 */
#include "web/ask_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/elicitation.h"
#include "store/ledger/page_questions.h"
#include "web/page_cell.h"
#include "web/param_form.h"

#define LISTED 10 /* the overview lists at most this many open questions */

/* A question with its JSON parsed. */
struct parsed_question {
    struct page_question row;
    json_t *params; /* of elicitation/create */
    json_t *answer; /* NULL: not answered */
};

static void asked_finish(struct parsed_question *asked)
{
    json_decref(asked->params);
    json_decref(asked->answer);
    page_question_finish(&asked->row);
}
#define ASKED_AUTO __attribute__((cleanup(asked_finish))) struct parsed_question

static CHECKED bool asked_find(const struct page_request *request, struct parsed_question *out,
                               struct error *error)
{
    if (!page_question_find(request->services->store, page_place(request, "id"), &out->row, error))
        return false;
    out->params = answer_json_stored(out->row.params);
    if (out->row.answer != NULL)
        out->answer = answer_json_stored(out->row.answer);
    if (strcmp(out->row.principal, request->principal.name) == 0)
        return true;
    return error_set(
        error, ERROR_FORBIDDEN,
        "a call by %s asks this question: only %s can answer it, and you are signed in as %s",
        out->row.principal, out->row.principal, request->principal.name);
}

static bool is_open(const struct parsed_question *asked)
{
    return asked->answer == NULL && clock_utc_ms() < asked->row.expires_ms;
}

static const json_t *properties_of(const struct parsed_question *asked)
{
    return json_object_get(json_object_get(asked->params, "requestedSchema"), "properties");
}

/* ---- The question ---- */

static void write_time(int64_t utc_ms, struct html *html)
{
    char text[CLOCK_TEXT_SIZE];
    json_auto_t *time = json_string(clock_format_utc(utc_ms, text));

    page_cell_write(PAGE_TIME, time, html);
}

static void write_message(const struct parsed_question *asked, struct html *html)
{
    const char *line = json_get_text(asked->params, "message", "");

    html_open(html, "div", { "class", "note" });
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        TEXT_AUTO text = { 0 };

        text_add_bytes(&text, line, length);
        html_element(html, "p", text_string(&text));
        line += length + (line[length] == '\n');
    }
    html_close(html, "div");
}

static void write_asker(const struct parsed_question *asked, struct html *html)
{
    html_open(html, "p", { "class", "soft" });
    html_textf(html, "Asked by your call to %s", asked->row.tool);
    if (asked->row.client[0] != '\0') {
        html_text(html, " from ");
        html_name(html, asked->row.client);
    }
    html_text(html, ", at ");
    write_time(asked->row.asked_ms, html);
    html_text(html, " UTC.");
    if (is_open(asked)) {
        html_text(html, " Nothing is done without your answer, which is accepted until ");
        write_time(asked->row.expires_ms, html);
        html_text(html, ".");
    }
    html_close(html, "p");
}

static void write_outcome(const struct parsed_question *asked, struct html *html)
{
    const json_t *content = json_object_get(asked->answer, "content");

    html_open(html, "p", { "class", "state" });
    if (asked->answer == NULL) {
        html_text(html, "Nobody has waited for an answer since ");
        write_time(asked->row.expires_ms, html);
        html_text(html, " UTC. Nothing was done; repeat the call to be asked again.");
    } else {
        html_text(html, "Answered at ");
        write_time(asked->row.answered_ms, html);
        html_textf(html, " UTC: %s", content != NULL ? "" : "declined");
        page_cell_write(PAGE_FOREIGN, content, html);
        html_text(html, ". You can close this page: the call continues where it was made.");
    }
    html_close(html, "p");
}

/* ---- The form ---- */

/* The name of a property's input. The prefix keeps it different from the names of the form's other
 * fields, `token` and `answer`. */
static const char *input_name(const char *property, struct text *out)
{
    text_add(out, "content.");
    text_add(out, property);
    return text_string(out);
}

static bool is_boolean(const json_t *property)
{
    return strcmp(json_get_text(property, "type", ""), "boolean") == 0;
}

static void write_choices(const char *name, const json_t *choices, const char *value,
                          struct html *html)
{
    const json_t *choice;
    size_t i;

    html_open(html, "select", { "name", name });
    json_array_foreach(choices, i, choice) {
        const char *words = json_string_value(choice);

        html_element(html, "option", words, { "value", words },
                     { "selected", strcmp(words, value) == 0 ? "" : NULL });
    }
    html_close(html, "select");
}

/* `sent` is NULL if no form has been sent yet. If `is_form_sent`, NULL means that the field was
 * left empty or, if it is a checkbox, not ticked. */
static void write_input(const char *name, const json_t *property, const char *sent,
                        bool is_form_sent, struct html *html)
{
    const json_t *choices = json_object_get(property, "enum");
    const char *value = sent != NULL ? sent : json_get_text(property, "default", "");
    bool is_ticked =
        sent != NULL || (!is_form_sent && json_get_boolean(property, "default", false));

    if (is_boolean(property))
        html_open(html, "input", { "type", "checkbox" }, { "name", name }, { "value", "true" },
                  { "checked", is_ticked ? "" : NULL });
    else if (choices != NULL)
        write_choices(name, choices, value, html);
    else
        html_open(html, "input", { "type", "text" }, { "name", name }, { "value", value },
                  { "autocomplete", "off" });
}

static void write_member(const struct page_request *request, const char *property_name,
                         const json_t *property, struct html *html)
{
    const char *hint = json_get_text(property, "description", NULL);
    TEXT_AUTO name = { 0 };

    html_open(html, "label");
    html_text(html, json_get_text(property, "title", property_name));
    if (hint != NULL)
        html_element(html, "span", hint, { "class", "hint" });
    input_name(property_name, &name);
    write_input(text_string(&name), property, page_form(request, text_string(&name)),
                page_form(request, "answer") != NULL, html);
    html_close(html, "label");
}

/* A yes-or-no question needs no checkbox: the button's label says what the user agrees to. Returns
 * this label. */
static const char *write_yes(const struct parsed_question *asked, struct html *html)
{
    void *only = json_object_iter(json_iterable(properties_of(asked)));
    TEXT_AUTO name = { 0 };

    html_open(html, "input", { "type", "hidden" },
              { "name", input_name(json_object_iter_key(only), &name) }, { "value", "true" });
    return json_get_text(json_object_iter_value(only), "title", "Yes");
}

/* Writes an input for each property, and returns the button's label. */
static const char *write_members(const struct page_request *request,
                                 const struct parsed_question *asked, struct html *html)
{
    const char *name;
    json_t *property;

    json_object_foreach(json_iterable(properties_of(asked)), name, property)
        write_member(request, name, property, html);
    return "Answer";
}

static bool is_yes_or_no(const struct parsed_question *asked)
{
    const json_t *properties = properties_of(asked);

    return json_object_size(properties) == 1
           && is_boolean(json_object_iter_value(json_object_iter(json_iterable(properties))));
}

static void write_form(const struct page_request *request, const struct parsed_question *asked,
                       struct html *html)
{
    const char *label;

    page_form_begin(request, html, request->path);
    label = is_yes_or_no(asked) ? write_yes(asked, html) : write_members(request, asked, html);
    html_open(html, "p", { "class", "row" });
    html_element(html, "button", label, { "name", "answer" }, { "value", "accept" });
    html_element(html, "button", "Decline", { "name", "answer" }, { "value", "decline" },
                 { "class", "quiet" });
    html_close(html, "p");
    html_close(html, "form");
}

static void write_page(const struct page_request *request, const struct parsed_question *asked,
                       const char *why, struct page_answer *answer)
{
    struct html html = html_begin(&answer->body);

    text_add(&answer->title, "Your answer");
    text_add(&answer->follows, asked->row.id);
    html_element(&html, "h1", is_open(asked) ? "Your answer is needed" : "A question");
    if (why != NULL)
        html_element(&html, "p", why, { "class", "error" }, { "role", "alert" });
    write_message(asked, &html);
    if (is_open(asked))
        write_form(request, asked, &html);
    else
        write_outcome(asked, &html);
    write_asker(asked, &html);
    html_finish(&html);
}

bool ask_page_write(const struct page_request *request, struct page_answer *answer,
                    struct error *error)
{
    ASKED_AUTO asked = { 0 };

    if (!asked_find(request, &asked, error))
        return false;
    write_page(request, &asked, NULL, answer);
    return true;
}

/* ---- The answer ---- */

/* The value of a property's input; NULL: nothing was filled in. Text in place of a number
 * becomes a string, which elicitation_check refuses. */
static json_t *read_member(const struct page_request *request, const char *property_name,
                           const json_t *property)
{
    const char *type = json_get_text(property, "type", "");
    TEXT_AUTO name = { 0 };
    const char *sent = page_form(request, input_name(property_name, &name));

    if (is_boolean(property))
        return json_boolean(sent != NULL);
    if (sent == NULL)
        return NULL;
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return param_form_number(sent, strcmp(type, "integer") == 0);
    return json_string(sent);
}

static json_t *read_answer(const struct page_request *request, const struct parsed_question *asked)
{
    const char *action = page_form(request, "answer"), *name;
    json_t *content, *property;

    if (action == NULL || strcmp(action, "accept") != 0)
        return json_pack("{s:s}", "action", "decline");
    content = json_object();
    json_object_foreach(json_iterable(properties_of(asked)), name, property)
        json_object_set_new(content, name, read_member(request, name, property));
    return json_pack("{s:s, s:o}", "action", "accept", "content", content);
}

static CHECKED bool store_answer(const struct page_request *request,
                                 const struct parsed_question *asked, const json_t *given,
                                 struct change *change, struct error *error)
{
    FREE_AUTO char *written = json_write(given);
    bool done;

    change->arguments = written;
    done = page_question_answer(request->services->store, asked->row.id, written, clock_utc_ms(),
                                change, error);
    change->arguments = "{}";
    return done;
}

static CHECKED bool accept_answer(const struct page_request *request, struct parsed_question *asked,
                                  struct change *change, struct page_answer *answer,
                                  struct error *error)
{
    json_auto_t *given = NULL;

    if (!asked_find(request, asked, error))
        return false;
    given = read_answer(request, asked);
    if (!elicitation_check(asked->params, given, error)) {
        write_page(request, asked, error->message, answer);
        answer->status = 422;
        return false;
    }
    if (!store_answer(request, asked, given, change, error))
        return false;
    text_add(&answer->location, request->path);
    return true;
}

/* An answer that is refused is recorded, too, but without the form's contents. */
bool ask_page_submit(const struct page_request *request, struct page_answer *answer,
                     struct error *error)
{
    struct change change = page_change(request, "question_answer", "{}");
    ASKED_AUTO asked = { 0 };

    if (accept_answer(request, &asked, &change, answer, error))
        return true;
    page_note_refusal(request, &change, page_place(request, "id"), error);
    return answer->status == 422;
}

/* ---- Open questions ---- */

static void write_link(const struct page_question *question, struct html *html)
{
    json_auto_t *params = answer_json_stored(question->params);
    TEXT_AUTO url = { 0 };

    text_addf(&url, "/ask/%s", question->id);
    html_open(html, "li");
    html_element(html, "a", question->tool, { "href", text_string(&url) });
    html_text(html, ": ");
    html_name(html, json_get_text(params, "message", ""));
    html_close(html, "li");
}

bool ask_page_list(const struct page_request *request, size_t *found, struct html *html,
                   struct error *error)
{
    struct page_question *rows;
    size_t count;

    if (!page_question_list(request->services->store, request->principal.name, clock_utc_ms(),
                            LISTED, &rows, &count, error))
        return false;
    *found += count;
    if (count > 0) {
        html_element(html, "h2", "Waiting for your answer");
        html_open(html, "ul");
        for (size_t i = 0; i < count; i++)
            write_link(&rows[i], html);
        html_close(html, "ul");
    }
    page_question_rows_free(rows, count);
    return true;
}
