/* SPDX-License-Identifier: Apache-2.0 */
/* The browser that sent a request: its cookies, and whether one of our own pages sent its form. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/access/sign_ins.h"

struct exchange;

struct page_caller {
    bool is_over_tls;       /* over TLS, according to a trusted proxy or the setting public_url */
    bool is_from_elsewhere; /* another origin led here: the session's cookie may be missing */
    char session[SIGN_IN_COOKIE_SIZE];   /* value of the cookie of a sign-in; "": none */
    char anonymous[SIGN_IN_COOKIE_SIZE]; /* that of a browser without a sign-in; "": none */
    char site[16];                       /* the header Sec-Fetch-Site; "": missing */
    char port[8];                        /* the port in Host; "80": it has none */
};

enum page_cookie { PAGE_COOKIE_SESSION, PAGE_COOKIE_ANONYMOUS };

/* On the loop's thread. */
void page_caller_read(const struct exchange *exchange, struct page_caller *out);
/* Whether a page of this server sent the form, by Origin and Sec-Fetch-Site. False: the request was
 * answered with 403. A site in allowed_origins may call /mcp, but may not send forms on behalf of a
 * user.
 */
bool page_caller_check_origin(struct exchange *exchange, const struct page_caller *caller);

/* Sets a cookie, for `seconds` (0: until the browser is closed); the value "", for 0 seconds,
 * removes it. Over TLS it is Secure and bound to the host (__Host-); over plain HTTP its name has
 * the port, since servers on one host share their cookies. */
void page_caller_set_cookie(struct exchange *exchange, const struct page_caller *caller,
                            enum page_cookie cookie, const char *value, int64_t seconds);
/* The token in the forms of this browser, derived from a cookie that no other site can read. */
void page_caller_token(const struct page_caller *caller, char out[DIGEST_TEXT_SIZE]);
