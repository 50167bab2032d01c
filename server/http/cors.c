/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/cors.h"

#include <string.h>
#include <strings.h>

#include "base/core/text.h"
#include "server/http/exchange.h"
#include "server/http/http_text.h"

#define ALLOWED_HEADERS                                                                            \
    "Authorization, Content-Type, Accept, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, "   \
    "Mcp-Method, Mcp-Name, traceparent, tracestate, baggage"
#define EXPOSED_HEADERS "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"
#define PARAM_PREFIX "Mcp-Param-"
#define ALLOWED_BYTES_LIMIT 2048 /* approximate limit on Access-Control-Allow-Headers */
#define KEPT_S "7200" /* seconds for which browsers may keep the response to a preflight */

bool cors_is_preflight(const struct exchange *exchange)
{
    return strcmp(exchange->verb, "OPTIONS") == 0 && exchange->headers.origin != NULL
           && exchange->headers.cors_verb != NULL;
}

void cors_allow(struct exchange *exchange)
{
    exchange_add_header(exchange, "Access-Control-Allow-Origin", exchange->headers.origin);
    exchange_add_header(exchange, "Access-Control-Expose-Headers", EXPOSED_HEADERS);
    exchange_add_header(exchange, "Vary", "Origin");
}

/* Allows the headers Mcp-Param-... that the page asks for. They cannot be listed in
 * ALLOWED_HEADERS, because each tool chooses their names. */
static void add_param_headers(const char *requested, struct text *out)
{
    while (*requested != '\0') {
        size_t length;

        requested += strspn(requested, ", \t");
        length = strcspn(requested, ", \t");
        if (strncasecmp(requested, PARAM_PREFIX, sizeof PARAM_PREFIX - 1) == 0
            && http_pass(requested, requested + length, HTTP_TOKEN) == requested + length
            && out->length + length < ALLOWED_BYTES_LIMIT) {
            text_add(out, ", ");
            text_add_bytes(out, requested, length);
        }
        requested += length;
    }
}

void cors_answer_preflight(struct exchange *exchange, const char *verbs)
{
    TEXT_AUTO headers = { 0 };

    text_add(&headers, ALLOWED_HEADERS);
    if (exchange->headers.cors_headers != NULL)
        add_param_headers(exchange->headers.cors_headers, &headers);
    exchange_add_header(exchange, "Access-Control-Allow-Methods", verbs);
    exchange_add_header(exchange, "Access-Control-Allow-Headers", text_string(&headers));
    exchange_add_header(exchange, "Access-Control-Max-Age", KEPT_S);
    exchange_reply(exchange, 204, NULL, NULL);
}
