/* SPDX-License-Identifier: Apache-2.0 */
/* The browser that sent a request: its cookies, and whether one of this server's own pages sent
 * its form. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/access/sign_ins.h"

struct exchange;

struct page_caller {
    bool is_over_tls; /* it used TLS, according to a trusted proxy or the setting public_url */
    /* a page from another origin led here, so the browser might not have sent the sign-in cookie */
    bool is_from_elsewhere;
    char session[SIGN_IN_COOKIE_SIZE]; /* value of the sign-in cookie; "": none */
    /* value of the cookie for browsers that are not signed in; "": none */
    char anonymous[SIGN_IN_COOKIE_SIZE];
    char site[16]; /* the header Sec-Fetch-Site; "": missing */
    char port[8];  /* the port in Host, or "80" if it has none */
};

enum page_cookie { PAGE_COOKIE_SESSION, PAGE_COOKIE_ANONYMOUS };

/* Reads the members from the request's headers. Call it on the loop's thread. */
void page_caller_read(const struct exchange *exchange, struct page_caller *out);
/* Checks by Origin and Sec-Fetch-Site that a page of this server sent the form. False: the request
 * was answered with 403. A site in the setting allowed_origins may call /mcp, but may not send
 * forms on behalf of a user. */
bool page_caller_check_origin(struct exchange *exchange, const struct page_caller *caller);

/* Sets a cookie for `seconds` (0: until the browser is closed). The value "" with 0 seconds removes
 * the cookie. Over TLS, the cookie is Secure and bound to the host (__Host-). Over plain HTTP, its
 * name contains the port, because all servers on one host share their cookies. */
void page_caller_set_cookie(struct exchange *exchange, const struct page_caller *caller,
                            enum page_cookie cookie, const char *value, int64_t seconds);
/* The token that this browser's forms must contain. It is derived from a cookie that no other site
 * can read. */
void page_caller_token(const struct page_caller *caller, char out[DIGEST_TEXT_SIZE]);
