/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether an attempt counts. This depends on what the server monitor reports, and on how
 * even (steady) the window was. Private to bench/. */
#pragma once

#include "bench/sweep/sweep_private.h"

/* Judges an attempt by what the server monitor reports. To reject an attempt is to set its state to
 * CELL_PENDING: it does not count.
 *
 * If the server served another model, rejects the attempt and stops the sweep. If the server
 * restarted or stopped answering, rejects the attempt or, if it was the last one allowed, sets its
 * state to CELL_FAILED. If the server worked for other clients, rejects an attempt that is
 * CELL_MEASURED or, if it was the last one allowed, marks it as contaminated. */
void attempt_outcome_judge(struct sweep_work *work, struct subject *subject,
                           const struct cross_check *cross_check, struct cell_result *result);
/* If the server's metrics were unavailable for a while, marks a measured attempt as uneven, with
 * the reason, unless it is already marked. Rejects an uneven attempt, unless an earlier attempt at
 * the cell was rejected. */
void attempt_outcome_judge_evenness(struct sweep_work *work, const struct cross_check *cross_check,
                                    struct cell_result *result);
