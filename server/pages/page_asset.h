/* SPDX-License-Identifier: Apache-2.0 */
/* GET /assets/NAME?v=DIGEST: the style sheets, scripts and icon of the pages, for everybody. A
 * browser may cache a file for a year if DIGEST is the digest of its content; otherwise it must
 * revalidate the file. */
#pragma once

#include <stdbool.h>

struct exchange;

/* The route's functions. page_asset_admit returns false if it refused the request. */
bool page_asset_admit(struct exchange *exchange, const char *path);
void page_asset_serve(struct exchange *exchange);
