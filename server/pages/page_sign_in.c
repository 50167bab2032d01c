/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_sign_in.h"

#include <string.h>

#include "base/core/rate_limit.h"
#include "server/access/gate.h"
#include "server/http/exchange.h"
#include "server/pages/page_exchange.h"
#include "server/pages/page_reply.h"
#include "server/settings/settings.h"
#include "web/sign_in.h"

/* Returns the path of the next page: `path` if it is a path on this server, otherwise "/". */
static const char *safe_path(const char *path)
{
    if (path == NULL || path[0] != '/' || path[1] == '/' || path[1] == '\\')
        return "/";
    return text_plain_length(path, strlen(path)) == strlen(path) ? path : "/";
}

static void send_to(struct exchange *exchange, const char *path)
{
    PAGE_ANSWER_AUTO answer = { 0 };

    text_add(&answer.location, safe_path(path));
    page_reply_send(exchange, NULL, &answer);
}

static void show_form(struct exchange *exchange, const char *to, const char *why)
{
    PAGE_ANSWER_AUTO answer = { 0 };
    struct page_request request;

    page_exchange_prepare_token(exchange);
    request = page_exchange_request(exchange);
    answer.status = why != NULL ? 403 : 200;
    answer.reloads = page_exchange_of(exchange)->caller.is_from_elsewhere;
    sign_in_write(&request, safe_path(to), why, &answer);
    page_reply_send(exchange, &request, &answer);
}

void page_sign_in_show(struct exchange *exchange)
{
    struct page_values query;
    const char *to;

    page_exchange_read_query(exchange);
    query = form_values(&page_exchange_of(exchange)->query);
    to = page_value(&query, "to");
    if (exchange->principal.name[0] != '\0')
        send_to(exchange, to);
    else
        show_form(exchange, to, NULL);
}

/* ---- Signing in ---- */

static void sign_in(struct exchange *exchange)
{
    struct page_exchange *page = page_exchange_of(exchange);
    const struct page_server *server = page_exchange_server(exchange);
    const struct page_request request = page_exchange_request(exchange);
    const char *key = page_form(&request, "key"), *to = page_form(&request, "to");
    struct change change = { .actor = { .client = "page", .request_id = exchange->id },
                             .tool = "sign_in",
                             .arguments = "{}" };
    char cookie[SIGN_IN_COOKIE_SIZE];
    struct error error;

    if (sign_in_add(server->sign_ins, key != NULL ? key : "", &change, cookie, &error)) {
        page_caller_set_cookie(exchange, &page->caller, PAGE_COOKIE_SESSION, cookie,
                               server->settings->sign_in_s);
        send_to(exchange, to);
    } else if (error.kind == ERROR_UNAUTHENTICATED) {
        gate_count_refused_login(exchange, error.message);
        show_form(exchange, to, error.message);
    } else {
        exchange_refuse_fault(exchange, "signing in", &error);
    }
}

static void sign_in_with_form(struct exchange *exchange)
{
    if (page_exchange_read_form(exchange))
        sign_in(exchange);
}

static void submit(struct exchange *exchange, void (*work)(struct exchange *exchange))
{
    exchange_submit_or_refuse(exchange, page_exchange_server(exchange)->workers, work);
}

/* Attempts that succeed count, too: nobody needs to sign in that often. */
static bool check_rate(struct exchange *exchange)
{
    const struct ip_address network = ip_client_network(&exchange->client);
    char address[IP_TEXT_SIZE];
    int64_t wait_ms;

    ip_format(&network, address);
    if (rate_limit_spend(page_exchange_server(exchange)->sign_in_attempts, address,
                         exchange->started_ns, &wait_ms))
        return true;
    gate_count_refused_login(exchange, "too many attempts to sign in");
    exchange_refuse(exchange, 429, "too many attempts to sign in from %s: try again in %lld s",
                    address, (long long)exchange_add_retry_after(exchange, wait_ms));
    return false;
}

void page_sign_in_submit(struct exchange *exchange)
{
    if (exchange->principal.name[0] != '\0')
        send_to(exchange, NULL);
    else if (check_rate(exchange))
        submit(exchange, sign_in_with_form);
}

/* ---- Signing out ---- */

static void sign_out(struct exchange *exchange)
{
    const struct page_caller *caller = &page_exchange_of(exchange)->caller;
    const struct principal *principal = &exchange->principal;
    struct change change = { .actor = { .principal = principal->name,
                                        .role = role_name(principal->role),
                                        .client = "page",
                                        .request_id = exchange->id },
                             .tool = "sign_out",
                             .arguments = "{}" };
    struct error error;

    if (!page_exchange_read_form(exchange))
        return;
    if (!sign_in_remove(page_exchange_server(exchange)->sign_ins, caller->session, &change,
                        &error)) {
        exchange_refuse_fault(exchange, "signing out", &error);
        return;
    }
    page_caller_set_cookie(exchange, caller, PAGE_COOKIE_SESSION, "", 0);
    send_to(exchange, "/sign-in");
}

void page_sign_out(struct exchange *exchange)
{
    if (page_exchange_of(exchange)->is_signed_in)
        submit(exchange, sign_out);
    else
        send_to(exchange, NULL);
}
