/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "server/access/authority.h"
#include "server/http/exchange.h"
#include "server/http/http.h"
#include "server/http/http_status.h"
#include "server/http/route_pattern.h"
#include "server/http/routes.h"
#include "server/pages/page_reply.h"
#include "server/streams/notifier.h"

const struct page_server *page_exchange_server(const struct exchange *exchange)
{
    return exchange->context;
}

struct page_exchange *page_exchange_of(const struct exchange *exchange)
{
    return exchange->request;
}

static const struct page *row_of(const struct exchange *exchange)
{
    return &pages[exchange->route - page_exchange_server(exchange)->routes];
}

static void page_exchange_finish(void *request)
{
    struct page_exchange *page = request;

    page_body_finish(&page->body);
    free(page->path);
    free(page->known);
    form_finish(&page->places);
    form_finish(&page->query);
    form_finish(&page->form);
    free(page);
}

/* ---- On the loop's thread ---- */

static void keep_request(struct exchange *exchange, const char *path)
{
    struct page_exchange *page = memory_zeroed(1, sizeof *page);
    struct route_places places;

    page->path = memory_copy_text(path);
    if (exchange->headers.if_none_match != NULL)
        page->known = memory_copy_text(exchange->headers.if_none_match);
    route_pattern_matches(exchange->route->path, path, &places);
    for (size_t i = 0; i < places.count; i++)
        form_add(&page->places, places.at[i].name, places.at[i].name_length, places.at[i].text,
                 places.at[i].length);
    exchange->request = page;
    exchange->request_finish = page_exchange_finish;
}

static void keep_query(void *context, const char *name, const char *value)
{
    if (value != NULL)
        form_add(context, name, strlen(name), value, strlen(value));
}

void page_exchange_read_query(struct exchange *exchange)
{
    exchange_each_query(exchange, keep_query, &page_exchange_of(exchange)->query);
}

/* Redirects to the sign-in page. Once signed in, the user is sent to the requested page if this is
 * a GET, otherwise to "/". */
static void send_to_sign_in(struct exchange *exchange)
{
    const struct page_exchange *page = page_exchange_of(exchange);
    PAGE_ANSWER_AUTO answer = { 0 };
    TEXT_AUTO back = { 0 };

    if (strcmp(exchange->route->verb, "GET") == 0) {
        page_exchange_read_query(exchange);
        page_url_add_path(&back, page->path);
        for (size_t i = 0; i < page->query.count; i++)
            page_url_add(&back, page->query.at[i].name, page->query.at[i].value);
    }
    text_add(&answer.location, "/sign-in");
    if (back.length > 1)
        page_url_add(&answer.location, "to", text_string(&back));
    page_reply_send(exchange, NULL, &answer);
}

/* Whether the browser accepts only a stream of events. It would report a redirect to a page as an
 * error in its console, whereas status 204 makes it give up the stream quietly. */
static bool wants_only_events(const struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->headers;

    return headers->accepts_events && !headers->accepts_json && !headers->accepts_html;
}

static void ask_to_sign_in(struct exchange *exchange)
{
    if (!wants_only_events(exchange)) {
        send_to_sign_in(exchange);
        return;
    }
    page_reply_headers(exchange, NULL);
    exchange_reply(exchange, 204, NULL, NULL);
}

/* Identifies the caller by the cookie. A route without a role does not require the caller to be
 * signed in. */
static bool find_signed_in(struct exchange *exchange)
{
    struct page_exchange *page = page_exchange_of(exchange);
    struct error error;

    page->is_signed_in = sign_in_check(page_exchange_server(exchange)->sign_ins,
                                       page->caller.session, &exchange->principal, &error);
    if (page->is_signed_in)
        return true;
    page->caller.session[0] = '\0';
    if (error.kind == ERROR_BUSY)
        exchange_refuse(exchange, 503, "%s", error.message);
    else if (exchange->route->role != ROLE_NONE)
        ask_to_sign_in(exchange);
    return exchange->reply.status == 0;
}

/* If no keys are needed, every caller is `local`. A program may read pages with its key, but may
 * not send forms. */
static bool find_principal(struct exchange *exchange)
{
    bool reads = strcmp(exchange->route->verb, "GET") == 0;

    if (!authority_needs_keys(page_exchange_server(exchange)->authority)
        || (reads && exchange->headers.authorization != NULL))
        return exchange->http->gate->admit(exchange);
    return find_signed_in(exchange);
}

bool page_exchange_admit(struct exchange *exchange, const char *path)
{
    struct page_caller *caller;

    keep_request(exchange, path);
    caller = &page_exchange_of(exchange)->caller;
    page_caller_read(exchange, caller);
    if (strcmp(exchange->route->verb, "GET") != 0 && !page_caller_check_origin(exchange, caller))
        return false;
    return find_principal(exchange);
}

/* Receives a piece of the body. Copies the boundary from the Content-Type header, because the
 * header might be gone when a worker reads the body. */
void page_exchange_receive(struct exchange *exchange, const char *bytes, size_t size)
{
    struct page_body *body = &page_exchange_of(exchange)->body;

    if (body->boundary[0] != '\0'
        || multipart_boundary(exchange->headers.content_type, body->boundary))
        page_body_add(body, exchange, exchange->context, bytes, size);
    else
        exchange_refuse(exchange, 415,
                        "this form must be sent as multipart/form-data, with a boundary");
}

/* ---- On a worker ---- */

static bool is_cancelled(void *host)
{
    const struct exchange *exchange = host;

    return atomic_load(&exchange->left) || !exchange_may_continue(exchange);
}

static void report_change(void *host, const char *deployment)
{
    notifier_changed_by_tool(page_exchange_server(host)->notifier, deployment);
}

bool page_exchange_read_form(struct exchange *exchange)
{
    struct page_exchange *page = page_exchange_of(exchange);
    struct page_values values;
    const char *token;
    struct error error;

    if (!page_body_read(&page->body, &exchange->body, &page->form, &error)) {
        exchange_refuse_fault(exchange, "reading a form", &error);
        return false;
    }
    values = form_values(&page->form);
    token = page_value(&values, "token");
    page_caller_token(&page->caller, page->token);
    if (token != NULL && text_equal_constant_time(token, page->token)
        && (page->caller.session[0] != '\0' || page->caller.anonymous[0] != '\0'))
        return true;
    exchange_refuse(exchange, 403,
                    "this form comes from a page that is out of date: go back, reload the page, "
                    "and send its form again");
    return false;
}

struct page_request page_exchange_request(struct exchange *exchange)
{
    const struct page_exchange *page = page_exchange_of(exchange);

    return (struct page_request){
        .services = page_exchange_server(exchange)->services,
        .principal = exchange->principal,
        .may_sign_out = page->is_signed_in,
        .path = page->path,
        .known = page->known,
        .places = form_values(&page->places),
        .query = form_values(&page->query),
        .form = form_values(&page->form),
        .token = page->token,
        .request_id = exchange->id,
        .file = page->body.file,
        .file_bytes = page->body.file_bytes,
        .host = exchange,
        .cancelled = is_cancelled,
        .changed = report_change,
    };
}

void page_exchange_prepare_token(struct exchange *exchange)
{
    struct page_exchange *page = page_exchange_of(exchange);
    uint8_t bytes[DIGEST_BYTES];

    if (page->caller.session[0] == '\0' && page->caller.anonymous[0] == '\0') {
        random_bytes(bytes, sizeof bytes);
        digest_write(bytes, page->caller.anonymous);
        page_caller_set_cookie(exchange, &page->caller, PAGE_COOKIE_ANONYMOUS,
                               page->caller.anonymous, 0);
    }
    page_caller_token(&page->caller, page->token);
}

static void refuse(struct exchange *exchange, const struct error *error)
{
    if (error->kind == ERROR_INTERNAL)
        exchange_refuse_fault(exchange, "writing a page", error);
    else
        exchange_refuse(exchange, http_status_of(error), "%s", error->message);
}

static void work(struct exchange *exchange)
{
    struct page_request request;
    PAGE_ANSWER_AUTO answer = { 0 };
    struct error error;

    if (is_cancelled(exchange)) {
        exchange_refuse(
            exchange, 401,
            "nothing was done: the caller is no longer authorized, perhaps because its API "
            "key expired, was revoked or has a lower role now");
        return;
    }
    if (strcmp(exchange->route->verb, "GET") != 0 && !page_exchange_read_form(exchange))
        return;
    if (exchange->headers.authorization == NULL)
        page_exchange_prepare_token(exchange);
    request = page_exchange_request(exchange);
    if (row_of(exchange)->write(&request, &answer, &error))
        page_reply_send(exchange, &request, &answer);
    else
        refuse(exchange, &error);
}

void page_exchange_serve(struct exchange *exchange)
{
    const struct page_server *server = page_exchange_server(exchange);
    bool waits = row_of(exchange)->waits;

    page_exchange_read_query(exchange);
    exchange_submit_or_refuse(exchange, waits ? server->waiting : server->workers, work);
}
