/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that is known about a run, measured here or by another tool, in one form in which it
 * can be audited, compared, shown and exported. Unknown values stay unknown: NaN, "" or UNKNOWN,
 * never a guess. Cells are in the order of the file or of our plan. If a file contains a grid
 * twice, both copies are kept. Failed rows are kept, too, and lengths in words stay lengths in
 * words. */
#pragma once

#include <jansson.h>

#include "store/ledger/sweeps.h"

enum evidence_state {
    EVIDENCE_UNKNOWN, /* neither the file nor a figure shows the state */
    /* Some requests succeeded (success_rate says what share), or the file says that the cell was
     * measured or states a speed. */
    EVIDENCE_MEASURED,
    /* Attempted without success, or marked as failed in the file, even if the file states a
     * speed. */
    EVIDENCE_FAILED,
    EVIDENCE_INFEASIBLE, /* cannot succeed: longer than the model's context, for example */
    EVIDENCE_SKIPPED,    /* not measured, or not yet measured, for some other reason */
    EVIDENCE_STATES,
};
const char *evidence_state_name(enum evidence_state state); /* "measured", ... */

/* The unit of a run's input lengths. LENGTH_UNKNOWN: neither the file nor its format states it. */
enum length_unit { LENGTH_UNKNOWN, LENGTH_TOKENS, LENGTH_WORDS, LENGTH_UNITS };
const char *length_unit_name(enum length_unit unit);
enum length_unit length_unit_find(const char *name); /* LENGTH_UNKNOWN: there is no such name */

struct evidence_latency {
    double count, mean_ms, deviation_ms, min_ms, p50_ms, p90_ms, p95_ms, p99_ms, max_ms;
    /* Whether the percentile of this name is only a lower bound, because a timeout or the cell's
     * end cut requests off. False for imports, whose files do not say so. */
    bool p50_at_least, p90_at_least, p95_at_least, p99_at_least;
};

/* What was measured at one load, with one input length and one output length. The tables
 * evidence_cell_fields and evidence_latency_fields describe each figure. Figures that are not known
 * are NaN. */
struct evidence_cell {
    int64_t position; /* 0, 1, ... in the order of the file; for our own runs, of the plan */
    int64_t row;      /* the line in the file (CSV, JSONL), else the entry's number, from 1 */
    enum evidence_state state;
    /* as requested */
    double concurrency, request_rate_asked;
    double input_length; /* in the run's input_unit, per request */
    double output_tokens_asked;
    double requests_asked; /* requests planned */
    /* requests, and the share of them that succeeded */
    double attempted, succeeded, failed, success_rate;
    double duration_s;
    double input_tokens, output_tokens, cached_tokens; /* of all requests together */
    double cached_share; /* of the input tokens, where the file gives no cached_tokens */
    /* per request, with tokens counted as in the rates below */
    double input_tokens_mean, output_tokens_mean;
    /* per request as the server reports it, where the tool counts with its own tokenizer */
    double input_tokens_usage, output_tokens_usage;
    double request_throughput, goodput; /* per second, like all rates */
    double input_throughput, output_throughput, total_throughput;
    double token_throughput;  /* tokens per second, where the file does not say which tokens */
    double stream_throughput; /* output tokens per second of one stream */
    double concurrency_actual, concurrency_max;
    double concurrency_expected; /* computed from users and think time; NaN: not known */
    double timeout_s;
    struct evidence_latency latency[METRIC_COUNT];
    /* whether `marks` has the warning of this name */
    bool client_limited, contaminated, tokens_estimated;
    char status[64]; /* as the file says, or the state of our own cell; "": not known */
    char time[40];   /* as the file says; "": not known */
    /* What distinguishes the cell from others with the same load in a file of several runs:
     * "model=a, trial=2"; "": nothing. */
    char variant[200];
    /* Names of the warnings from a measurement or an export: "burst, client_limited"; "": none. */
    char marks[512];
    char *error; /* what went wrong, or why the cell was skipped; heap; NULL: not known */
    /* The fields of the row in the file, as strings: all of them if the importer reads the file as
     * a table; otherwise, those that the importer does not know. NULL: our own run. */
    json_t *original;
    int64_t attempt_id; /* the accepted attempt, for our own runs; 0: none */
    /* The audit's rule that found the cell wrong; NULL: none did. Static, not stored. */
    const char *found_wrong;
};

/* The facts about the run; unknown texts are "", unknown numbers NaN. */
struct evidence_facts {
    char model[160], model_revision[96], quantization[64], weights_type[64], cache_type[64];
    char engine[64], engine_version[96], flags[2048];
    char hardware[96], provider[64], region[64], deployment[64];
    char tool[96], dataset[96], workload[512], date[40];
    double chips, memory_gb_per_chip, price_usd_per_chip_hour;
    double context_limit_tokens, max_instances, container_concurrency, tensor_parallel;
    double repetitions;              /* runs averaged in each cell */
    double output_tokens, timeout_s; /* per request, where the cell does not say */
};

struct evidence {
    char id[ID_SIZE]; /* imp_... for an import, run_... for our own */
    bool imported;
    char format[32]; /* "csv", "vllm", ...; "opsbrain" for our own */
    char name[160];  /* the file's name; for our own runs, the sweep's id */
    /* SHA-256 of the file or, for our own runs, of the fingerprint ("" before the first cell). */
    char digest[65];
    char principal[64]; /* who imported the file; "" for our own runs */
    int64_t created_ms;
    /* The import whose stated facts this import corrects, or the run that this run replaces; "":
     * none. */
    char corrects[ID_SIZE];
    /* For our own runs: the newest run that replaces this one; "": none. */
    char corrected_by[ID_SIZE];
    int64_t repetition;    /* for our own runs: within the sweep, counted from 0; -1: none */
    int64_t deployment_id; /* for our own runs; 0: none */
    /* For our own runs: the measured revision of the deployment. evidence_find() moves it back to
     * the first of the consecutive revisions that measure the same (deployment_same_since() in
     * deployments.h). */
    int64_t revision;
    char *notes;         /* heap; NULL: none */
    json_t *other_names; /* list of other names under which the file was imported; NULL: none */
    json_t *remarks;     /* list of sentences: what the importer did not recognise or skipped */
    enum length_unit input_unit;
    struct evidence_facts facts;
    json_t *fingerprint; /* of our own run; NULL: an import, or not known */
    struct evidence_cell *cells;
    size_t cell_count;
};

#define EVIDENCE_CELLS_MAX 20000

void evidence_init(struct evidence *evidence);
void evidence_finish(struct evidence *evidence);
#define EVIDENCE_AUTO __attribute__((cleanup(evidence_finish))) struct evidence
/* Appends a cell and sets its position and row; its other members are unknown. The pointer is valid
 * until the next cell is added. NULL: there are already EVIDENCE_CELLS_MAX cells. */
struct evidence_cell *evidence_add(struct evidence *evidence);
/* Makes a sentence printable and appends it to the remarks. */
void evidence_remark(struct evidence *evidence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a warning unless the cell has it already, and sets the cell's flag for it, if there is one.
 * A text that is not a name ([a-z0-9_]), or that does not fit into `marks`, is ignored. */
void evidence_add_warning(struct evidence_cell *cell, const char *name);
/* Adds the warnings in `marks`, a list with the format of the cell's own `marks`. */
void evidence_add_warnings(struct evidence_cell *cell, const char *marks);
bool evidence_has_warning(const struct evidence_cell *cell, const char *name);

/* Whether the id, judged by its prefix, is that of an import and not of a run. */
bool evidence_is_import(const char *id);
/* Loads the run (run_...) or the import (imp_...) with this id. NOT_FOUND: the message names the
 * id. Free *out with evidence_finish(), even after a failure. */
CHECKED bool evidence_find(struct store *store, const char *id, struct evidence *out,
                           struct error *error);
/* Loads an import with its cells as in the file. Unlike evidence_find(), does not copy the run's
 * output tokens and timeout into cells that do not state their own. */
CHECKED bool evidence_find_import(struct store *store, const char *id, struct evidence *out,
                                  struct error *error);
/* Makes the evidence for our own run from its stored row and the stored rows of its cells. Free
 * *out with evidence_finish(). */
void evidence_of_run(const struct run_row *run, const struct cell_row *cells, size_t count,
                     struct evidence *out);

/* ---- Tables and JSON ---- */

/* A number or a text in one of the structs above. Each table of these ends with a NULL name. */
struct evidence_field {
    const char *name; /* its name in the JSON */
    size_t offset;
    size_t size; /* 0: a double; otherwise, the size of a char array */
    const char *help;
};
extern const struct evidence_field evidence_cell_fields[];    /* in struct evidence_cell */
extern const struct evidence_field evidence_latency_fields[]; /* in struct evidence_latency */
extern const struct evidence_field evidence_fact_fields[];    /* in struct evidence_facts */

/* A flag that says whether a percentile is a lower bound. The table ends with a NULL name. */
struct evidence_flag {
    const char *name; /* its name in the JSON, where it is written only if it is true */
    size_t offset;    /* of a bool in struct evidence_latency */
};
extern const struct evidence_flag evidence_latency_flags[];

/* These write only the values that are known. New references. */
json_t *evidence_cell_json(const struct evidence_cell *cell);
json_t *evidence_facts_json(const struct evidence_facts *facts);
/* These read what the functions above wrote. Values that are missing in the JSON become unknown. */
void evidence_cell_read(const json_t *json, struct evidence_cell *out);
void evidence_facts_read(const json_t *json, struct evidence_facts *out);
/* The document that is stored with an import: facts, unit, remarks, notes. New reference. */
json_t *evidence_document(const struct evidence *evidence);
