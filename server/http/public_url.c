/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/public_url.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "server/http/http.h"
#include "server/settings/settings.h"

#define HOST_LIMIT 261 /* maximum length of a name and a port, in bytes */

static bool is_plain_character(unsigned char c)
{
    return isalnum(c) || (c != '\0' && strchr(".-_:[]", c) != NULL);
}

/* Whether a Host can become part of a URL: origin_check() checks only the name, so there could be
 * anything after the colon. */
static bool is_plain(const char *host)
{
    size_t length = 0;

    while (is_plain_character((unsigned char)host[length]))
        length++;
    return length > 0 && length <= HOST_LIMIT && host[length] == '\0';
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
        stpcpy(stpcpy(stpcpy(out, scheme), "://"), host);
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
