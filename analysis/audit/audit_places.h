/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of an import or of our own run, sorted so that rules need not compare each cell with
 * all others: there can be 20,000. Private to analysis/audit/. */
#pragma once

#include "analysis/audit/audit_parts.h"

/* In tokens or words. The time to read a shorter prompt cannot be distinguished from other
 * delays. */
#define AUDIT_CACHE_LENGTH 512

/* A cell, and where it is among the others. */
struct audit_place {
    bool is_measured;
    /* users, length and output are as requested; NaN: not known. */
    double users;
    double length;  /* of the input, in tokens or words */
    double output;  /* tokens per answer */
    double mean_ms; /* the mean E2E latency; NaN: not known */
    const struct evidence_cell *cell;
    size_t pass;                           /* number of its run (audit_passes) */
    size_t run, run_end;                   /* at[run] to at[run_end - 1] are the cells of its run */
    size_t shape, shape_end;               /* likewise the cells of its run and input length */
    const struct evidence_cell *run_first; /* the run's first cell in the order of the file */
};

struct audit_places {
    size_t count;
    struct audit_place *at;             /* sorted by run, length and users */
    const struct audit_place **by_mean; /* sorted by run and mean latency */
    const struct audit_place **by_row;  /* in the order of the file */
    bool cache_is_off;                  /* according to the server's flags */
};
struct audit_places audit_places_of(const struct evidence *evidence);
void audit_places_finish(struct audit_places *places);
#define AUDIT_PLACES_AUTO __attribute__((cleanup(audit_places_finish))) struct audit_places

bool audit_place_same_length(const struct audit_place *a, const struct audit_place *b);
bool audit_place_same_output(const struct audit_place *a, const struct audit_place *b);
/* The measured cell of the same run, input and output length with the next higher number of users;
 * NULL: there is none. */
const struct audit_place *audit_place_next_level(const struct audit_places *places,
                                                 const struct audit_place *place);
/* Whether no cell of the same run, input and output length has fewer users. */
bool audit_place_is_lowest(const struct audit_places *places, const struct audit_place *place);
/* Whether the server's flags turn the prefix cache off. */
bool audit_cache_is_off(const struct evidence_facts *facts);
/* Returns the cell with the next higher number of users after `first` if the times show that the
 * server read the prompt for `first`, and found it in the prefix cache for that next cell; else
 * NULL (audit_cache.c). */
const struct audit_place *audit_cache_first_hit(const struct audit_places *places,
                                                const struct audit_place *first);
/* Whether at least one row gives its prompt as text, or the run's workload is stated. */
bool audit_cache_describes_prompts(const struct evidence *evidence);
