/* SPDX-License-Identifier: Apache-2.0 */
/* Answers /metrics, and the probes of a supervisor: /health and /ready. */
#pragma once

#include "server/http/routes.h"

extern const struct route probe_routes[]; /* their context: struct metrics_sources */
