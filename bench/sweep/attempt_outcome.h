/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether an attempt counts, by what the server monitor reports and by how even the window
 * was. Private to bench/. */
#pragma once

#include "bench/sweep/sweep_private.h"

/* Rejects the attempt (CELL_PENDING: it does not count), lets it fail, or marks it as
 * contaminated, if the server restarted or stopped answering, served another model, or worked for
 * other clients. An attempt that is not CELL_MEASURED is neither rejected nor marked because of
 * other clients. Another model also stops the sweep. */
void attempt_outcome_judge(struct sweep_work *work, struct subject *subject,
                           const struct cross_check *cross_check, struct cell_result *result);
/* If the server's metrics were unavailable for a while, marks a measured attempt as uneven, with
 * the reason, unless it is already marked. Rejects an uneven attempt, unless an earlier attempt at
 * the cell was rejected. */
void attempt_outcome_judge_evenness(struct sweep_work *work, const struct cross_check *cross_check,
                                    struct cell_result *result);
