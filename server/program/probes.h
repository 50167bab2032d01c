/* SPDX-License-Identifier: Apache-2.0 */
/* Answers /health and /ready, the probes of a supervisor, and /metrics. */
#pragma once

#include "server/http/routes.h"

extern const struct route probe_routes[]; /* their context: struct metrics_sources */
