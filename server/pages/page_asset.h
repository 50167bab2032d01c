/* SPDX-License-Identifier: Apache-2.0 */
/* GET /assets/NAME?v=DIGEST: the style sheets, scripts and icon of the pages, for everybody. A
 * browser may keep what it got for a year if DIGEST is that of the content, and must revalidate it
 * if not. */
#pragma once

#include <stdbool.h>

struct exchange;

/* The functions of the route. False: the request was refused. */
bool page_asset_admit(struct exchange *exchange, const char *path);
void page_asset_serve(struct exchange *exchange);
