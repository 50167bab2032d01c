/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a run, our own or one that another tool measured, in one form, so that it can be
 * audited, compared, shown and exported. What is not known is not known: NaN, "" or UNKNOWN, never
 * a guess. Cells stand in the order of their file: a file may hold a grid twice, rows that failed,
 * and words instead of tokens, and here all of it is seen as it is. */
#pragma once

#include <jansson.h>

#include "store/ledger/sweeps.h"

enum evidence_state {
    EVIDENCE_UNKNOWN,    /* the file does not say, and no figure tells */
    EVIDENCE_MEASURED,   /* requests were answered; how many: success_rate */
    EVIDENCE_FAILED,     /* tried, and no request succeeded: its speeds are none */
    EVIDENCE_INFEASIBLE, /* cannot be tried: longer than the model's context, or so */
    EVIDENCE_SKIPPED,    /* not tried, for another reason */
    EVIDENCE_STATES,
};
const char *evidence_state_name(enum evidence_state state); /* "measured", ... */

/* What a file counts its inputs in, as it says itself. */
enum length_unit { LENGTH_UNKNOWN, LENGTH_TOKENS, LENGTH_WORDS, LENGTH_UNITS };
const char *length_unit_name(enum length_unit unit);
enum length_unit length_unit_find(const char *name); /* LENGTH_UNKNOWN: of no such name */

struct evidence_latency {
    double count, mean_ms, deviation_ms, min_ms, p50_ms, p90_ms, p95_ms, p99_ms, max_ms;
    /* the true value is at least that: a timeout cut it off (known of our own runs alone) */
    bool p50_at_least, p90_at_least, p95_at_least, p99_at_least;
};

struct evidence_cell {
    int64_t position; /* 0, 1, ... in the file's order; of our own cells their position */
    int64_t row;      /* the file's line (CSV, JSONL), else the entry's number from 1 */
    enum evidence_state state;
    /* asked for */
    double concurrency, request_rate_asked;
    double input_length; /* in the run's input_unit, per request */
    double output_tokens_asked;
    double requests_asked; /* how many were to be sent */
    /* what came of it */
    double attempted, succeeded, failed, success_rate;
    double duration_s;
    double input_tokens, output_tokens, cached_tokens; /* of all requests together */
    double cached_share; /* of the input tokens, where the file tells it instead */
    double input_tokens_mean, output_tokens_mean;   /* per request, as all rates count them */
    double input_tokens_usage, output_tokens_usage; /* per request, as the server told, where the
                                                       tool counts by a tokenizer of its own */
    double request_throughput, goodput;             /* per second, as all rates */
    double input_throughput, output_throughput, total_throughput;
    double token_throughput;  /* of tokens that the file does not say which */
    double stream_throughput; /* output tokens per second of one stream */
    double concurrency_actual, concurrency_max;
    double concurrency_expected; /* of users who think, known of our own; else NaN */
    double timeout_s;
    struct evidence_latency latency[METRIC_COUNT];
    bool client_limited, contaminated,
        tokens_estimated; /* known of our own, and of their exports */
    char status[64];      /* as the file says; "" */
    char time[40];        /* as the file says; "" */
    char variant[200]; /* what sets it apart from cells of the same load where a file holds several
                        * runs: "model=a, trial=2"; "" */
    char marks[512];   /* why to doubt it, by names, of audit rules and the like: "burst,
                        * client_limited"; as it was measured, or when it was exported; "" */
    char *error;       /* what went wrong, heap; NULL: nothing is told */
    json_t *original;  /* the row as it stands in the file: name to text; NULL of our own */
    const char *found_wrong; /* the rule of the audit by which it is; static, not stored; NULL */
};

/* What is known of the whole run. Texts are "" and numbers NaN where it is not known. */
struct evidence_facts {
    char model[160], model_revision[96], quantization[64], weights_type[64], cache_type[64];
    char engine[64], engine_version[96], flags[2048];
    char hardware[96], provider[64], region[64], deployment[64];
    char tool[96], dataset[96], workload[512], date[40];
    double chips, memory_gb_per_chip, price_usd_per_chip_hour;
    double context_limit_tokens, max_instances, container_concurrency, tensor_parallel;
    double repetitions;              /* runs behind each cell */
    double output_tokens, timeout_s; /* of each request, where its cell does not say */
};

struct evidence {
    char id[ID_SIZE]; /* imp_... of an import, run_... of our own */
    bool imported;
    char format[32]; /* "csv", "vllm", ...; "opsbrain" of our own */
    char name[160];  /* the file's; the sweep's id of our own */
    char digest[65]; /* SHA-256 of the file; the fingerprint's of our own ("" before a cell) */
    char principal[64];
    int64_t created_ms;
    char corrects[ID_SIZE];     /* the import whose facts this one states anew, or the run that this
                                 * one stands in for; "" */
    char corrected_by[ID_SIZE]; /* of our own runs: the newest that stands in for it; "" */
    int64_t repetition;         /* within the sweep, of our own runs; -1: of none */
    int64_t deployment_id;      /* of our own runs; 0: of none */
    int64_t revision;    /* its first one at which it was what was measured (deployments.h) */
    char *notes;         /* heap; NULL: none */
    json_t *other_names; /* list: under which other names the same file came; NULL: none */
    json_t *remarks;     /* list of sentences: what the importer did not know, or left out */
    enum length_unit input_unit;
    struct evidence_facts facts;
    json_t *fingerprint; /* of our own runs; NULL */
    struct evidence_cell *cells;
    size_t cell_count;
};

#define EVIDENCE_CELLS_MAX 20000

void evidence_init(struct evidence *evidence);
void evidence_finish(struct evidence *evidence);
#define EVIDENCE_AUTO __attribute__((cleanup(evidence_finish))) struct evidence
/* A new last cell of which nothing is known yet; valid until the next is added. NULL: there are
 * EVIDENCE_CELLS_MAX. */
struct evidence_cell *evidence_add(struct evidence *evidence);
void evidence_remark(struct evidence *evidence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a mark, once, and sets the flag of its name; what is no name ([a-z0-9_]) is no mark. */
void evidence_mark(struct evidence_cell *cell, const char *name);
/* The marks that such a text lists. */
void evidence_mark_all(struct evidence_cell *cell, const char *marks);
bool evidence_is_marked(const struct evidence_cell *cell, const char *name);

bool evidence_is_import(const char *id); /* by its prefix */
/* Of a run_... or an imp_...; NOT_FOUND names the id. Free with evidence_finish, also after
 * failing. */
CHECKED bool evidence_find(struct store *store, const char *id, struct evidence *out,
                           struct error *error);
/* Of an import: its cells as the file has them, without what is known of all of them
 * (output_tokens, timeout_s). */
CHECKED bool evidence_find_import(struct store *store, const char *id, struct evidence *out,
                                  struct error *error);
/* Of our own run and its cells. */
void evidence_of_run(const struct run_row *run, const struct cell_row *cells, size_t count,
                     struct evidence *out);

/* ---- Tables and JSON ---- */

/* One row per number or text; ends with a NULL name. */
struct evidence_field {
    const char *name;    /* as in the JSON */
    size_t offset, size; /* size 0: a double; else a text of so many bytes */
    const char *help;
};
extern const struct evidence_field evidence_cell_fields[];    /* in struct evidence_cell */
extern const struct evidence_field evidence_latency_fields[]; /* in struct evidence_latency */
extern const struct evidence_field evidence_fact_fields[];    /* in struct evidence_facts */

/* What is known alone: members that are not known are missing. New references. */
json_t *evidence_cell_json(const struct evidence_cell *cell);
json_t *evidence_facts_json(const struct evidence_facts *facts);
/* Reads what those wrote; what is missing is not known. */
void evidence_cell_read(const json_t *json, struct evidence_cell *out);
void evidence_facts_read(const json_t *json, struct evidence_facts *out);
/* What is kept of an imported run beside its cells: facts, unit, remarks. New reference. */
json_t *evidence_document(const struct evidence *evidence);
