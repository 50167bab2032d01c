/* SPDX-License-Identifier: Apache-2.0 */
/* What looks after the server asks it: is it there, is it ready, how is it. */
#pragma once

#include "server/http/routes.h"

extern const struct route probe_routes[]; /* their context: struct metrics_sources */
