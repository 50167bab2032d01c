/* The audit: who, with which client, called what, with which arguments, and what came of it. */
#pragma once

#include "store/store.h"

struct audit_row {
    int64_t id, at_ms;
    int64_t began_ms; /* when it was announced; 0: it was not */
    int64_t times;    /* how many calls it stands for */
    char request_id[40], principal[64], role[16], client[128], tool[64], outcome[24];
    char phase[8]; /* "intent": announced, and what came of it is not known */
    char *arguments, *detail, *subject, *changed; /* heap */
};

/* Before something has effects outside: what comes of it is added with the same change. */
bool audit_announce(struct store *store, struct change *change, struct error *error);
/* An outcome of its own: refusals and failures, and changes that were already there. */
bool audit_add(struct store *store, const struct change *change, const char *outcome,
               const char *detail, const char *subject, struct error *error);

struct audit_filter {
    const char *principal, *tool, *subject; /* NULL: any */
    int64_t before_id;                      /* 0: from the newest; else rows with a smaller id */
    int64_t since_ms;
};
/* Newest first, at most `limit`. *rows is a heap array; free with audit_rows_free. */
bool audit_list(struct store *store, const struct audit_filter *filter, size_t limit,
                struct audit_row **rows, size_t *count, struct error *error);
void audit_rows_free(struct audit_row *rows, size_t count);
