/* SPDX-License-Identifier: Apache-2.0 */
/* GET /assets/NAME?v=DIGEST: style sheet and scripts, for everybody, to be kept by the browser. */
#pragma once

#include <stdbool.h>

struct exchange;

bool page_asset_admit(struct exchange *exchange, const char *path);
void page_asset_serve(struct exchange *exchange);
