/* SPDX-License-Identifier: Apache-2.0 */
/* GET /metrics: the server about itself, in the Prometheus text format. */
#pragma once

#include "base/core/text.h"

struct server;

void metrics_endpoint_write(struct server *server, struct text *out);
