/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a tool's answer: as text, as JSON, as the picture that it contains or the file that it
 * names. */

#include <stdlib.h>
#include <string.h>

#include "base/core/base64.h"
#include "base/json/json.h"
#include "client/command/brief_report.h"
#include "client/command/client.h"
#include "client/command/wording.h"
#include "client/terminal/readable.h"

/* ---- Parts of an answer ---- */

static const json_t *find_image(const json_t *result)
{
    const json_t *block;
    size_t i;

    json_array_foreach(json_object_get(result, "content"), i, block)
        if (strcmp(json_get_text(block, "type", ""), "image") == 0)
            return block;
    return NULL;
}

/* Blocks without an audience are for everybody. */
static bool is_for_people(const json_t *block)
{
    const json_t *audience = json_object_get(json_object_get(block, "annotations"), "audience"),
                 *who;
    size_t i;

    json_array_foreach(audience, i, who)
        if (json_is_string(who) && strcmp(json_string_value(who), "user") == 0)
            return true;
    return json_array_size(audience) == 0;
}

/* Only a report on a terminal is shortened: a pipe gets all of it. */
static bool is_brief(const struct client *client)
{
    return client->out.is_terminal && !client->all && strcmp(client->called, "run_report") == 0;
}

static void add_texts(const struct client *client, const json_t *result, struct text *out)
{
    const json_t *block;
    size_t i;

    json_array_foreach(json_object_get(result, "content"), i, block) {
        const char *text = json_get_text(block, "text", NULL);
        TEXT_AUTO worded = { 0 }, brief = { 0 };

        if (text == NULL || !is_for_people(block))
            continue;
        if (is_brief(client))
            brief_report_add(text, &brief);
        wording_add_answer(is_brief(client) ? text_string(&brief) : text, &worded);
        readable_add_text(&client->out, text_string(&worded), out);
    }
}

static CHECKED bool write_out(const struct text *text, struct error *error)
{
    return client_write(text)
           || error_set(error, ERROR_INTERNAL, "the answer cannot be written to standard output");
}

static CHECKED bool show_image(const struct client *client, const json_t *result,
                               const json_t *image, struct error *error)
{
    const char *data = json_get_text(image, "data", "");
    TEXT_AUTO text = { 0 };

    if (!client->out.is_terminal) {
        if (!base64_decode(&text, data, strlen(data)))
            return error_set(error, ERROR_UPSTREAM,
                             "the picture that the server sent is not valid base64");
        return write_out(&text, error);
    }
    add_texts(client, result, &text);
    text_add(&text, "To write the picture to a file, redirect the output: ... >chart.png\n");
    return write_out(&text, error);
}

/* The text in an answer can be shorter than the file that the answer names. */
bool client_read_file(struct client *client, const json_t *result, struct text *out,
                      struct error *error)
{
    const json_t *structured = json_object_get(result, "structuredContent");
    const char *uri = json_get_text(structured, "resource", NULL);
    json_auto_t *params = uri == NULL ? NULL : json_pack("{s:s}", "uri", uri), *read = NULL;
    const struct remote_request request = { .method = "resources/read",
                                            .name = uri,
                                            .params = params };
    const json_t *contents;

    if (uri == NULL) {
        contents = json_array_get(json_object_get(result, "content"), 0);
        text_add(out, json_get_text(contents, "text", ""));
        return true;
    }
    if (!remote_ask(&client->remote, &request, &read, error))
        return false;
    contents = json_array_get(json_object_get(read, "contents"), 0);
    text_add(out, json_get_text(contents, "text", ""));
    return true;
}

/* The answer's text about the file goes to standard error, to keep it out of the file. */
static CHECKED bool show_file(struct client *client, const json_t *result, struct error *error)
{
    const json_t *words = json_array_get(json_object_get(result, "content"), 0);
    const json_t *page = json_object_get(json_object_get(result, "structuredContent"), "content");
    TEXT_AUTO file = { 0 }, clean = { 0 }, worded = { 0 }, sentences = { 0 };

    wording_add_answer(json_get_text(words, "text", ""), &worded);
    readable_add_text(&client->err, text_string(&worded), &sentences);
    fputs(text_string(&sentences), stderr);
    if (client->out.is_terminal && page == NULL) {
        fputs("To write it to a file, redirect the output: ... >FILE\n", stderr);
        return true;
    }
    if (!client_read_file(client, result, &file, error))
        return false;
    if (!client->out.is_terminal)
        return write_out(&file, error);
    text_add_printable(&clean, text_string(&file), file.length, SIZE_MAX / 2);
    return write_out(&clean, error);
}

/* An answer about a file names the resource that has the whole file. */
static bool is_file(const json_t *structured)
{
    return json_get_text(structured, "resource", NULL) != NULL;
}

bool client_show(struct client *client, const json_t *result, struct error *error)
{
    const json_t *structured = json_object_get(result, "structuredContent");
    const json_t *image = find_image(result);
    TEXT_AUTO text = { 0 };

    if (client->json) {
        readable_add_json(structured != NULL ? structured : result, READABLE_INDENT, &text);
        return write_out(&text, error);
    }
    if (image != NULL)
        return show_image(client, result, image, error);
    if (is_file(structured))
        return show_file(client, result, error);
    add_texts(client, result, &text);
    return write_out(&text, error);
}
