/* SPDX-License-Identifier: Apache-2.0 */
/* What the server's monitor reports of an attempt decides whether it counts. Private to bench/. */
#pragma once

#include "bench/sweep/sweep_private.h"

/* Turns the result into one that is rejected (CELL_PENDING, to be measured again), failed or
 * marked, or leaves it as it is; may stop the sweep. */
void attempt_outcome_judge(struct sweep_work *work, struct subject *subject,
                           const struct cross_check *testimony, struct cell_result *result);
/* One in whose middle the server stalled or changed its pace, or did not tell its metrics for a
 * while, is marked uneven. It is rejected once; then it stays, with its mark and the reason. */
void attempt_outcome_evenness(struct sweep_work *work, const struct cross_check *testimony,
                              struct cell_result *result);
