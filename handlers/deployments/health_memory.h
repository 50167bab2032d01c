/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the latest answer of model_health for each deployment. Viewers may not cause work at
 * will: they get that answer while it is recent; if several ask at once, only one call reaches the
 * model. Thread safe. */
#pragma once

#include "handlers/tool.h"

/* Seconds for which viewers get the same answer. */
#define HEALTH_KEPT_S 30

struct health_memory;

struct health_memory *health_memory_create(void);
void health_memory_destroy(struct health_memory *memory); /* does nothing for NULL */

enum health_turn {
    HEALTH_ASK,       /* the caller asks the model now, then calls health_memory_end_turn */
    HEALTH_KNOWN,     /* there is an answer from less than HEALTH_KEPT_S ago */
    HEALTH_CANCELLED, /* `cancelled` became true while another call was asking */
};
/* Waits while another call is asking the model. HEALTH_KNOWN: *answer gets a copy, and *age_s its
 * age in seconds. */
enum health_turn health_memory_get(struct health_memory *memory,
                                   const struct deployment *deployment,
                                   bool (*cancelled)(void *context), void *context,
                                   struct answer *answer, double *age_s);
/* Stores the answer. A call that did not get its turn from health_memory_get may do this, too. */
void health_memory_set(struct health_memory *memory, const struct deployment *deployment,
                       const struct answer *answer);
/* Ends the turn of the call that got HEALTH_ASK. If it stored no answer, one of the waiting calls
 * asks the model next. */
void health_memory_end_turn(struct health_memory *memory, const struct deployment *deployment);
