/* SPDX-License-Identifier: Apache-2.0 */
/* Decides, by what the server's monitor reports, whether an attempt counts. Private to bench/. */
#pragma once

#include "bench/sweep/sweep_private.h"

/* Turns the result into a rejected one (CELL_PENDING, to be measured again), a failed or a marked
 * one, or leaves it unchanged; may stop the sweep. */
void attempt_outcome_judge(struct sweep_work *work, struct subject *subject,
                           const struct cross_check *cross_check, struct cell_result *result);
/* Marks an attempt uneven if the server stalled or changed its speed in its middle, or its metrics
 * were unavailable for a while. The first such attempt is rejected; the second is kept, with the
 * mark and the reason. */
void attempt_outcome_evenness(struct sweep_work *work, const struct cross_check *cross_check,
                              struct cell_result *result);
