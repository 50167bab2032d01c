/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/public_url.h"

#include <stdio.h>
#include <string.h>

#include "server/http/http.h"
#include "server/settings/settings.h"

#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]"
#define HOST_LIMIT 261 /* a name, and a port */

/* origin_check() looks at the name alone: what follows the colon is the caller's. */
static bool is_plain(const char *host)
{
    size_t length = strlen(host);

    return length > 0 && length <= HOST_LIMIT && strspn(host, HOST_CHARACTERS) == length;
}

const char *public_url_make(const char *setting, const char *scheme, const char *host,
                            char out[PUBLIC_URL_SIZE])
{
    size_t length = strlen(setting);

    while (length > 0 && setting[length - 1] == '/')
        length--;
    if (length > 0)
        snprintf(out, PUBLIC_URL_SIZE, "%.*s", (int)length, setting);
    else if (host != NULL && is_plain(host))
        snprintf(out, PUBLIC_URL_SIZE, "%s://%s", scheme, host);
    else
        out[0] = '\0';
    return out;
}

const char *public_url_of(const struct exchange *exchange, char out[PUBLIC_URL_SIZE])
{
    return public_url_make(exchange->http->settings->public_url,
                           exchange_is_over_tls(exchange) ? "https" : "http",
                           exchange->headers.host, out);
}
