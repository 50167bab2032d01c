/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_caller.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/core/text.h"
#include "server/http/exchange.h"
#include "server/http/http.h"
#include "server/settings/settings.h"

#define COOKIE_NAME_SIZE 48
#define HEX "0123456789abcdef"

/* Reads the port from a host such as "localhost:8080" or "[::1]:8080"; "80" if it has no port. */
static void read_port(const char *host, char out[8])
{
    const char *colon = host != NULL ? strrchr(host, ':') : NULL;
    size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;

    text_copy(out, 8, digits > 0 && colon[1 + digits] == '\0' ? colon + 1 : "80");
}

static void write_name(const struct page_caller *caller, enum page_cookie cookie,
                       char out[COOKIE_NAME_SIZE])
{
    const char *what = cookie == PAGE_COOKIE_SESSION ? "" : "_form";

    if (caller->is_over_tls)
        snprintf(out, COOKIE_NAME_SIZE, "__Host-opsbrain%s", what);
    else
        snprintf(out, COOKIE_NAME_SIZE, "opsbrain%s_%s", what, caller->port);
}

/* ---- Reading ---- */

/* Finds the value of a cookie in a header such as "a=1; name=2". Ignores a value that this server
 * cannot have set. */
static void find_cookie(const char *header, const char *name, char out[SIGN_IN_COOKIE_SIZE])
{
    size_t length = strlen(name);

    while (*header != '\0') {
        size_t pair = (header += strspn(header, "; \t"), strcspn(header, ";"));

        if (pair == length + SIGN_IN_COOKIE_SIZE && strncmp(header, name, length) == 0
            && header[length] == '=' && strspn(header + length + 1, HEX) == pair - length - 1) {
            memcpy(out, header + length + 1, SIGN_IN_COOKIE_SIZE - 1);
            out[SIGN_IN_COOKIE_SIZE - 1] = '\0';
            return;
        }
        header += pair;
    }
}

/* exchange_each_header prescribes the parameters. NOLINTNEXTLINE(readability-function-size) */
static void read_header(void *context, const char *name, size_t name_size, const char *value,
                        size_t value_size)
{
    struct page_caller *caller = context;
    char cookie[COOKIE_NAME_SIZE];

    (void)value_size;
    if (value == NULL)
        return;
    if (name_size == 14 && strcasecmp(name, "Sec-Fetch-Site") == 0)
        text_copy(caller->site, sizeof caller->site, value);
    if (name_size != 6 || strcasecmp(name, "Cookie") != 0)
        return;
    write_name(caller, PAGE_COOKIE_SESSION, cookie);
    find_cookie(value, cookie, caller->session);
    write_name(caller, PAGE_COOKIE_ANONYMOUS, cookie);
    find_cookie(value, cookie, caller->anonymous);
}

/* Whether the setting public_url begins with https and names the host of this request. If so, the
 * browser used TLS as far as a proxy, even if that proxy is not in trusted_proxies. */
static bool is_for_public_url(const struct exchange *exchange)
{
    static const char SCHEME[] = "https://";
    const char *host = exchange->headers.host, *url = exchange->http->settings->public_url;
    size_t length;

    if (host == NULL || strncasecmp(url, SCHEME, sizeof SCHEME - 1) != 0)
        return false;
    url += sizeof SCHEME - 1;
    length = strcspn(url, "/");
    return strlen(host) == length && strncasecmp(host, url, length) == 0;
}

void page_caller_read(const struct exchange *exchange, struct page_caller *out)
{
    *out = (struct page_caller){ .is_over_tls = exchange_is_over_tls(exchange)
                                                || is_for_public_url(exchange) };
    read_port(exchange->headers.host, out->port);
    exchange_each_header(exchange, read_header, out);
    out->is_from_elsewhere =
        strcmp(out->site, "cross-site") == 0 || strcmp(out->site, "same-site") == 0;
}

/* ---- Forms ---- */

static void refuse_origin(struct exchange *exchange, const char *own)
{
    const char *origin = exchange->headers.origin;

    exchange_refuse(
        exchange, 403,
        "forms are accepted only from pages of this server: Origin is \"%.100s\", not "
        "%.100s. A proxy that terminates TLS must be listed in the setting trusted_proxies and "
        "send X-Forwarded-Proto, or the setting public_url must name its address",
        origin != NULL ? origin : "missing", own);
}

bool page_caller_check_origin(struct exchange *exchange, const struct page_caller *caller)
{
    const char *origin = exchange->headers.origin, *host = exchange->headers.host;
    TEXT_AUTO own = { 0 };

    text_add(&own, caller->is_over_tls ? "https://" : "http://");
    text_add(&own, host != NULL ? host : "");
    if (origin == NULL || strcasecmp(origin, text_string(&own)) != 0) {
        refuse_origin(exchange, text_string(&own));
        return false;
    }
    if (caller->site[0] == '\0' || strcmp(caller->site, "same-origin") == 0)
        return true;
    exchange_refuse(exchange, 403,
                    "forms are accepted only from pages of this server: Sec-Fetch-Site is %s",
                    caller->site);
    return false;
}

void page_caller_token(const struct page_caller *caller, char out[DIGEST_TEXT_SIZE])
{
    TEXT_AUTO words = { 0 };

    text_add(&words, "the forms of ");
    text_add(&words, caller->session[0] != '\0' ? caller->session : caller->anonymous);
    digest_sha256_text(text_string(&words), words.length, out);
}

/* The anonymous cookie is Lax, so that browsers also send it when the user follows a link from
 * another site. Otherwise the server would replace the cookie, and forms in other tabs would no
 * longer be valid. */
void page_caller_set_cookie(struct exchange *exchange, const struct page_caller *caller,
                            enum page_cookie cookie, const char *value, int64_t seconds)
{
    char name[COOKIE_NAME_SIZE];
    TEXT_AUTO line = { 0 };

    write_name(caller, cookie, name);
    text_addf(&line, "%s=%s; Path=/; HttpOnly; SameSite=%s%s", name, value,
              cookie == PAGE_COOKIE_SESSION ? "Strict" : "Lax",
              caller->is_over_tls ? "; Secure" : "");
    if (seconds > 0 || value[0] == '\0')
        text_addf(&line, "; Max-Age=%lld", (long long)seconds);
    exchange_add_header(exchange, "Set-Cookie", text_string(&line));
}
