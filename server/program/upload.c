/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/upload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/call.h"
#include "handlers/values.h"
#include "server/http/body_file.h"
#include "server/http/http_status.h"
#include "server/http/public_url.h"
#include "server/http/routes.h"
#include "server/settings/settings.h"
#include "server/streams/notifier.h"
#include "store/ledger/disk_space.h"

#define STORING "storing an uploaded file"
#define UPLOADS_AT_ONCE 8 /* each can take up UPLOAD_LIMIT_BYTES of the disk */

/* The struct at exchange->request. */
struct upload {
    struct uploads *uploads;
    struct body_file file;
    const struct tool *tool; /* the tool that imports the file */
    json_t *arguments;
    char base_url[PUBLIC_URL_SIZE]; /* the address at which the client reaches the pages */
};

static struct uploads *uploads_of(const struct exchange *exchange)
{
    return exchange->context;
}

static void upload_finish(void *request)
{
    struct upload *upload = request;

    body_file_finish(&upload->file);
    atomic_fetch_sub(&upload->uploads->count, 1);
    json_decref(upload->arguments);
    free(upload);
}

/* While the disk is nearly full, refuses an upload before it is received. Admins are exempt. */
static bool check_room(struct exchange *exchange)
{
    struct error error;

    if (role_allows(exchange->principal.role, ROLE_ADMIN)
        || disk_space_check(uploads_of(exchange)->services->store, &error))
        return true;
    exchange_refuse_fault(exchange, "accepting an upload", &error);
    return false;
}

/* Begins an upload: creates a file that disappears when it is closed. Returns false if the upload
 * was refused. */
static bool begin(struct exchange *exchange)
{
    struct uploads *uploads = exchange->context;
    struct upload *upload;
    struct error error;

    if (!check_room(exchange))
        return false;
    if (atomic_fetch_add(&uploads->count, 1) >= UPLOADS_AT_ONCE) {
        atomic_fetch_sub(&uploads->count, 1);
        exchange_add_header(exchange, "Retry-After", "5");
        exchange_refuse(exchange, 503, "%d files are being uploaded: try again in 5 s",
                        UPLOADS_AT_ONCE);
        return false;
    }
    upload = memory_zeroed(1, sizeof *upload);
    upload->uploads = uploads;
    exchange->request = upload;
    exchange->request_finish = upload_finish;
    if (body_file_create(uploads->settings->data, &upload->file, &error))
        return true;
    exchange_refuse_fault(exchange, STORING, &error);
    return false;
}

static void receive(struct exchange *exchange, const char *bytes, size_t size)
{
    struct upload *upload;
    struct error error;

    if (exchange->request == NULL && !begin(exchange))
        return;
    upload = exchange->request;
    if (!body_file_add(&upload->file, bytes, size, &error))
        exchange_refuse_fault(exchange, STORING, &error);
}

/* ---- The call ---- */

/* Returns a query parameter as JSON: a number if the tool expects one, otherwise a string. A value
 * that should be a number but is not one becomes a string, which the tool refuses. */
static json_t *argument(const struct param *param, const char *text)
{
    TEXT_AUTO printable = { 0 };
    char *end;
    double number = strtod(text, &end);

    if (param != NULL && param->type == VALUE_NUMBER && *text != '\0' && *end == '\0'
        && isfinite(number))
        return json_real(number);
    text_add_printable(&printable, text, strlen(text), 4000);
    return json_string(text_string(&printable));
}

/* Adds one value of a parameter that can occur several times. */
static void append(json_t *arguments, const char *name, json_t *value)
{
    if (json_object_get(arguments, name) == NULL)
        json_object_set_new(arguments, name, json_array());
    json_array_append_new(json_object_get(arguments, name), value);
}

static void add_argument(void *context, const char *name, const char *value)
{
    struct upload *upload = context;

    const struct param *param = value_param_find(upload->tool, name);

    if (param != NULL && param->type == VALUE_TEXTS)
        append(upload->arguments, name, argument(param, value == NULL ? "" : value));
    else if (text_is_name(name))
        json_object_set_new(upload->arguments, name, argument(param, value == NULL ? "" : value));
    else
        json_object_set_new(upload->arguments, "(unprintable)", json_null());
}

static bool is_cancelled(void *host)
{
    const struct exchange *exchange = host;

    return atomic_load(&exchange->left) || !exchange_may_continue(exchange);
}

static void reply(struct exchange *exchange, const struct answer *answer)
{
    const struct upload *upload = exchange->request;
    bool known = json_get_boolean(answer->structured, "already_known", false);
    struct text body = { 0 };

    if (!known && upload->tool->changes_resources)
        notifier_list_changed(uploads_of(exchange)->notifier, NOTIFIER_RESOURCES);
    json_add(&body, answer->structured);
    text_add_char(&body, '\n');
    exchange_reply(exchange, known ? 200 : 201, "application/json", &body);
}

static void import(struct exchange *exchange, const char *bytes, size_t length)
{
    const struct upload *upload = exchange->request;
    struct answer answer = { 0 };
    struct error error;
    struct call call = {
        .services = uploads_of(exchange)->services,
        .arguments = upload->arguments,
        .file = bytes,
        .file_bytes = length,
        .principal = exchange->principal,
        .change = { .actor = { .client = "upload", .request_id = exchange->id } },
        .base_url = upload->base_url,
        .host = exchange,
        .cancelled = is_cancelled,
    };

    call_without_client(&call);
    if (tool_call(upload->tool, &call, &answer, &error))
        reply(exchange, &answer);
    else
        exchange_refuse(exchange, http_status_of(&error), "%s", error.message);
    answer_finish(&answer);
}

static void work(struct exchange *exchange)
{
    const struct upload *upload = exchange->request;
    const char *bytes;
    struct error error;

    if (is_cancelled(exchange)) {
        exchange_refuse(exchange, 401, "nothing was stored: the caller has lost its access");
        return;
    }
    if (!body_file_map(&upload->file, &bytes, &error)) {
        exchange_refuse_fault(exchange, STORING, &error);
        return;
    }
    import(exchange, bytes, upload->file.size);
    body_file_unmap(&upload->file, bytes);
}

static void serve(struct exchange *exchange, const char *tool)
{
    struct upload *upload = exchange->request;

    if (upload == NULL) {
        exchange_refuse(exchange, 400, "the request has no body: send the file as the body");
        return;
    }
    upload->tool = tool_find(tool);
    upload->arguments = json_object();
    exchange_each_query(exchange, add_argument, upload);
    public_url_of(exchange, upload->base_url);
    exchange_submit_or_refuse(exchange, uploads_of(exchange)->workers, work);
}

static void serve_import(struct exchange *exchange)
{
    serve(exchange, "run_import");
}

static void serve_dataset(struct exchange *exchange)
{
    serve(exchange, "dataset_import");
}

const struct route upload_routes[] = {
    { "POST", "/v1/imports", .limited = true, .role = ROLE_OPERATOR, .serve = serve_import,
      .take = receive, .body_limit = UPLOAD_LIMIT_BYTES },
    { "POST", "/v1/datasets", .limited = true, .role = ROLE_OPERATOR, .serve = serve_dataset,
      .take = receive, .body_limit = UPLOAD_LIMIT_BYTES },
    { 0 },
};
