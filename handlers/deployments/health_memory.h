/* SPDX-License-Identifier: Apache-2.0 */
/* What models said last when they were asked whether they answer: a viewer, who may not let them
 * work at will, is told that, and of several viewers who come at once one asks. Any thread. */
#pragma once

#include "handlers/tool.h"

#define HEALTH_KEPT_S 30

struct health_memory;

struct health_memory *health_memory_create(void);
void health_memory_destroy(struct health_memory *memory); /* NULL is fine */

enum health_turn {
    HEALTH_ASK,   /* ask now, and tell health_memory_set */
    HEALTH_KNOWN, /* it was asked less than HEALTH_KEPT_S ago */
    HEALTH_LEFT,  /* `cancelled` while another one asked */
};
/* Waits while another asks. HEALTH_KNOWN: *answer has a copy, and *age_s tells how old it is. */
enum health_turn health_memory_get(struct health_memory *memory,
                                   const struct deployment *deployment,
                                   bool (*cancelled)(void *context), void *context,
                                   struct answer *answer, double *age_s);
/* What came of it; without a structure nothing did, and who waits asks. */
void health_memory_set(struct health_memory *memory, const struct deployment *deployment,
                       const struct answer *answer);
