/* SPDX-License-Identifier: Apache-2.0 */
/* Decides, from what the server monitor reports, whether an attempt counts. Private to bench/. */
#pragma once

#include "bench/sweep/sweep_private.h"

/* Rejects the attempt (CELL_PENDING: the cell is measured again), lets it fail, or marks it as
 * contaminated, if the server restarted, served another model or worked for other clients. Another
 * model also stops the sweep. */
void attempt_outcome_judge(struct sweep_work *work, struct subject *subject,
                           const struct cross_check *cross_check, struct cell_result *result);
/* Marks an attempt as uneven, with the reason, if the server stalled or changed its speed, or its
 * metrics were unavailable for a while. Such an attempt is rejected, unless an earlier attempt at
 * the cell was rejected. */
void attempt_outcome_evenness(struct sweep_work *work, const struct cross_check *cross_check,
                              struct cell_result *result);
