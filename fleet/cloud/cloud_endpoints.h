/* SPDX-License-Identifier: Apache-2.0 */
/* The services that a cloud's credential may be sent to. Private to fleet/cloud. */
#pragma once

#include "fleet/cloud/cloud.h"

#define CLOUD_URL_SIZE 2048

/* The base URL at which a service of the table is called now. Borrowed. */
const char *cloud_endpoints_base(const struct cloud_endpoints *endpoints, const char *name);
bool cloud_endpoints_is_replaced(const struct cloud_endpoints *endpoints, const char *name);
/* The URL that is called for this one now. FORBIDDEN: it belongs to no service of the table that
 * takes an access token. */
CHECKED bool cloud_endpoints_resolve(const struct cloud_endpoints *endpoints, const char *url,
                                     char out[CLOUD_URL_SIZE], struct error *error);
/* Visible ASCII without '#', '\' and dot segments. */
CHECKED bool cloud_url_check(const char *url, struct error *error);
