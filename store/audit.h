/* The audit: who, with which client, called what, with which arguments, and what came of it. */
#pragma once

#include "store/store.h"

struct audit_row {
    int64_t id, at_ms;
    char request_id[40], principal[64], role[16], client[128], tool[64], phase[8], outcome[24];
    char *arguments, *detail, *subject; /* heap */
};

/* An outcome of its own: refusals and failures, and changes that were already there. */
bool audit_add(struct store *store, const struct change *change, const char *phase,
               const char *outcome, const char *detail, const char *subject, struct error *error);

struct audit_filter {
    const char *principal, *tool, *subject; /* NULL: any */
    int64_t before_id;                      /* 0: from the newest; else rows with a smaller id */
    int64_t since_ms;
};
/* Newest first, at most `limit`. *rows is a heap array; free with audit_rows_free. */
bool audit_list(struct store *store, const struct audit_filter *filter, size_t limit,
                struct audit_row **rows, size_t *count, struct error *error);
void audit_rows_free(struct audit_row *rows, size_t count);
