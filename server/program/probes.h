/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the probes of a supervisor: is the server alive, is it ready, how is it. */
#pragma once

#include "server/http/routes.h"

extern const struct route probe_routes[]; /* their context: struct metrics_sources */
