/* The cells of a run in the orders that rules need which hold them against one another, so that no
 * cell is held against all of twenty thousand. Private to audit*.c. */
#pragma once

#include "analysis/audit/audit_parts.h"

struct place {
    bool is_measured;
    double users, length, output;
    double mean_ms; /* E2E */
    const struct evidence_cell *cell;
    size_t pass;         /* which of the runs of a file that does not tell them apart */
    size_t run, run_end; /* its run's places */
    const struct evidence_cell *run_first; /* in the file */
    size_t shape, shape_end;               /* those of them with the same length */
};

struct places {
    size_t count;
    struct place *at;             /* by run, length and users */
    const struct place **by_mean; /* by run and mean latency */
    const struct place **by_row;  /* as in the file */
    bool cache_is_off;            /* as the server's flags say */
};
struct places places_of(const struct evidence *evidence);
void places_finish(struct places *places);
#define PLACES_AUTO __attribute__((cleanup(places_finish))) struct places

bool place_same_length(const struct place *a, const struct place *b);
bool place_same_output(const struct place *a, const struct place *b);
/* The measured cell of the same shape with the fewest users above this one's, or NULL. */
const struct place *place_next_level(const struct places *places, const struct place *place);
/* No cell of its shape has fewer users. */
bool place_is_lowest(const struct places *places, const struct place *place);
/* Its flags turn the prefix cache off. */
bool caches_nothing(const struct evidence_facts *facts);
/* `first` read its prompt and those with more users took it from the prefix cache, as far as times
 * tell: the next level then; else NULL (audit_cache.c). */
const struct place *cached_reads(const struct places *places, const struct place *first);
/* Rows have a prompt, or somebody stated what was sent. */
bool tells_prompts(const struct evidence *evidence);
