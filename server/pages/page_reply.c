/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_reply.h"

#include <string.h>

#include "base/core/digest.h"
#include "server/http/exchange.h"
#include "web/frame.h"

#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "                    \
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "            \
    "require-trusted-types-for 'script'; trusted-types opsbrain"

void page_reply_headers(struct exchange *exchange, const char *policy)
{
    exchange_add_header(exchange, "Content-Security-Policy", policy != NULL ? policy : POLICY);
    exchange_add_header(exchange, "X-Content-Type-Options", "nosniff");
    exchange_add_header(exchange, "Referrer-Policy", "same-origin");
    exchange_add_header(exchange, "Cross-Origin-Opener-Policy", "same-origin");
    exchange_add_header(exchange, "Cross-Origin-Resource-Policy", "same-origin");
}

bool page_reply_if_known(struct exchange *exchange, const char *digest, const char *known)
{
    TEXT_AUTO tag = { 0 };

    text_addf(&tag, "\"%s\"", digest);
    exchange_add_header(exchange, "ETag", text_string(&tag));
    if (known == NULL || (strstr(known, text_string(&tag)) == NULL && strcmp(known, "*") != 0))
        return false;
    exchange_reply(exchange, 304, NULL, NULL);
    return true;
}

static void add_attachment(struct exchange *exchange, const struct page_answer *answer)
{
    TEXT_AUTO value = { 0 };

    text_addf(&value, "attachment; filename=\"%s\"", text_string(&answer->file));
    exchange_add_header(exchange, "Content-Disposition", text_string(&value));
}

static bool reply_if_known(struct exchange *exchange, const struct page_request *request,
                           const struct page_answer *answer)
{
    char digest[DIGEST_TEXT_SIZE];

    digest_sha256_text(text_string(&answer->body), answer->body.length, digest);
    return page_reply_if_known(exchange, digest, request->known);
}

void page_reply_send(struct exchange *exchange, const struct page_request *request,
                     struct page_answer *answer)
{
    unsigned status = answer->status != 0 ? answer->status : 200;
    struct text body = { 0 };

    page_reply_headers(exchange, page_text(&answer->policy));
    exchange_add_header(exchange, "Cache-Control",
                        answer->is_kept ? "private, no-cache" : "no-store");
    if (answer->location.length > 0) {
        exchange_add_header(exchange, "Location", text_string(&answer->location));
        exchange_reply(exchange, 303, NULL, NULL);
        return;
    }
    if (answer->file.length > 0)
        add_attachment(exchange, answer);
    if (answer->is_kept && reply_if_known(exchange, request, answer))
        return;
    if (answer->type != NULL) {
        exchange_reply(exchange, status, answer->type, &answer->body);
        return;
    }
    frame_write(request, answer, &body);
    exchange_reply(exchange, status, "text/html; charset=utf-8", &body);
}
