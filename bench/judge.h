/* What the second witness says of an attempt decides whether it counts. Private to bench/. */
#pragma once

#include "bench/sweep_private.h"

/* Turns the result into one that is rejected (CELL_PENDING, to be measured again), failed or
 * marked, or leaves it as it is; may stop the sweep. */
void judge_attempt(struct sweep_work *work, struct subject *subject,
                   const struct testimony *testimony, struct cell_result *result);
