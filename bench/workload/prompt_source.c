/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/prompt_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/json/json.h"
#include "bench/plan/plan_workload.h"
#include "bench/workload/lengths.h"

/* If the model's context length is not known, drawn lengths are shortened to fit this one, unless
 * there is a dataset. */
#define ASSUMED_CONTEXT_TOKENS 2000000
/* The body of a generated prompt begins at one of this many pieces at the beginning of the arena,
 * chosen at random. */
#define ARENA_SLACK 4096

/* The parts of a request, in order. */
enum part {
    PART_OPENING,
    PART_LIMITS,
    PART_LEAD,
    PART_PREFIX,
    PART_HEAD,
    PART_BODY,
    PART_CLOSING,
};

/* Mixed into a seed or a nonce, so that the random numbers for each purpose are independent. */
enum purpose { PURPOSE_LENGTHS = 1, PURPOSE_PREFIXES, PURPOSE_ORDER };

struct prompt_source {
    const struct workload *workload;
    struct text opening;
    const char *lead, *closing;
    struct text arena;    /* text of the pieces, each after its separator */
    uint32_t *offsets;    /* offset of each piece in the arena, and of the end of the last one */
    struct text prefixes; /* the prefixes, one after the other */
    uint32_t *prefix_offsets; /* offset of each prefix, and of the end of the last one */
    int64_t pools;            /* number of prefixes; if none are planned: one, which is empty */
    int64_t prefix_pieces, prefix_tokens; /* how many pieces and how many tokens a prefix has */
    uint64_t seed, nonce;
    struct lengths input, output;
    struct workload_room room;
    int64_t shortest;       /* tokens of the shortest possible generated prompt */
    int64_t context_tokens; /* the model's context length; 0: not known */
    bool may_stop;          /* answers may be shorter than planned */
    const struct dataset *dataset;
    uint32_t *usable; /* rows of the dataset, in the order in which they are sent */
    size_t usable_count;
    bool dataset_sent, unique;
    char specification_digest[DIGEST_TEXT_SIZE]; /* of plan_workload_specification */
};

/* ---- Setting up ------------------------------------------------------------------------------ */

static bool is_drawn(const struct lengths *lengths)
{
    return lengths->distribution == DISTRIBUTION_UNIFORM
           || lengths->distribution == DISTRIBUTION_LOGNORMAL;
}

/* If lengths are drawn, checks that the means fit the context; each drawn length is later shortened
 * to fit it. The server itself refuses fixed lengths that do not fit. */
static CHECKED bool check_context(const struct prompt_source *prompts, struct error *error)
{
    int64_t input = prompts->input.mean, output = prompts->output.mean;

    if ((!is_drawn(&prompts->input) && !is_drawn(&prompts->output)) || prompts->context_tokens == 0
        || input + output <= prompts->context_tokens)
        return true;
    return error_set(error, ERROR_INVALID,
                     "the mean lengths (%ld input and %ld output tokens) together exceed the "
                     "model's context of %ld tokens",
                     input, output, prompts->context_tokens);
}

/* Converts the tokens of a prefix to pieces, and checks that prompts have room for the prefix and
 * fit the context. */
static CHECKED bool set_prefix_length(struct prompt_source *prompts, const struct plan *plan,
                                      struct error *error)
{
    const struct workload *workload = prompts->workload;
    int64_t count;

    if (!workload_count_pieces(workload, prompts->input.mean, &count, error))
        return false;
    prompts->prefix_tokens = plan->shared_prefix_tokens;
    prompts->prefix_pieces =
        llround((double)plan->shared_prefix_tokens / workload->tokens_per_piece);
    prompts->shortest = prompts->room.shortest_tokens + prompts->prefix_tokens;
    if (count <= prompts->prefix_pieces)
        return error_set(error, ERROR_INVALID,
                         "%ld input tokens are too few for a shared prefix of %ld tokens: the "
                         "shortest possible prompt has %ld",
                         prompts->input.mean, prompts->prefix_tokens, prompts->shortest);
    return check_context(prompts, error);
}

/* ---- Datasets -------------------------------------------------------------------------------- */

static bool is_text(const struct prompt_source *prompts)
{
    return prompts->dataset != NULL && prompts->dataset->kind == DATASET_PROMPTS;
}

/* Gets the number of tokens in a row's prompt and in its answer. Where only a text is known, the
 * number is an estimate. Unless the plan takes the lengths of answers from the dataset, *output is
 * the plan's mean. */
static void measure_row(const struct prompt_source *prompts, const struct dataset_row *row,
                        int64_t *input, int64_t *output)
{
    /* The same estimate for every server, so that all of them get the same rows. */
    const double per_byte = DATASET_TOKENS_PER_BYTE;

    *input = dataset_input_tokens(row, per_byte);
    if (is_text(prompts))
        *input += prompts->room.overhead_tokens;
    *output = prompts->output.mean;
    if (prompts->output.distribution == DISTRIBUTION_DATASET)
        *output = dataset_output_tokens(row, per_byte);
}

static bool is_usable(const struct prompt_source *prompts, const struct dataset_row *row)
{
    int64_t input, output;

    measure_row(prompts, row, &input, &output);
    return output >= 1 && (is_text(prompts) || input >= prompts->shortest)
           && (prompts->context_tokens == 0 || input + output <= prompts->context_tokens);
}

/* Shuffles the rows. Their new order depends on the seed. */
static void shuffle(struct prompt_source *prompts)
{
    struct generator generator;

    generator_init(&generator, random_mix(prompts->seed, PURPOSE_ORDER));
    for (size_t i = prompts->usable_count; i > 1; i--) {
        size_t other = generator_below(&generator, i);
        uint32_t row = prompts->usable[i - 1];

        prompts->usable[i - 1] = prompts->usable[other];
        prompts->usable[other] = row;
    }
}

static CHECKED bool choose_rows(struct prompt_source *prompts, struct error *error)
{
    const struct dataset *dataset = prompts->dataset;

    prompts->shortest = prompts->room.shortest_tokens;
    prompts->usable = memory_zeroed(dataset->count, sizeof *prompts->usable);
    for (size_t i = 0; i < dataset->count; i++)
        if (is_usable(prompts, &dataset->rows[i]))
            prompts->usable[prompts->usable_count++] = (uint32_t)i;
    if (prompts->usable_count == 0 && prompts->context_tokens == 0)
        return error_set(error, ERROR_INVALID,
                         "none of the dataset's %zu prompts can be sent: they are too short, or "
                         "have no known lengths",
                         dataset->count);
    if (prompts->usable_count == 0)
        return error_set(error, ERROR_INVALID,
                         "none of the dataset's %zu prompts can be sent: with their answers, they "
                         "do not fit the model's context of %ld tokens, or they are too short, or "
                         "have no known lengths",
                         dataset->count, prompts->context_tokens);
    shuffle(prompts);
    return true;
}

/* The length of the longest prompt that has to be generated; 0 if none has to be. */
static int64_t longest_of_dataset(const struct prompt_source *prompts)
{
    int64_t longest = 0;

    for (size_t i = 0; !is_text(prompts) && i < prompts->usable_count; i++) {
        int64_t tokens = prompts->dataset->rows[prompts->usable[i]].input_tokens;

        longest = tokens > longest ? tokens : longest;
    }
    return longest;
}

size_t prompt_source_left_out(const struct prompt_source *prompts)
{
    return prompts->dataset != NULL ? prompts->dataset->count - prompts->usable_count : 0;
}

/* ---- Generated prompts ----------------------------------------------------------------------- */

static const char *random_piece(const struct workload *workload, struct generator *generator)
{
    return workload->pieces[generator_below(generator, workload->piece_count)];
}

static int64_t longest_input(const struct prompt_source *prompts)
{
    int64_t longest = lengths_longest(&prompts->input);
    int64_t limit = prompts->context_tokens > 0 ? prompts->context_tokens : ASSUMED_CONTEXT_TOKENS;

    if (prompts->dataset != NULL)
        return longest_of_dataset(prompts);
    return is_drawn(&prompts->input) && longest > limit ? limit : longest;
}

/* Fills the arena. With the same pieces and seed, a shorter arena is the beginning of a longer
 * one. */
static void fill_arena(struct prompt_source *prompts)
{
    const struct workload *workload = prompts->workload;
    double pieces = (double)longest_input(prompts) / workload->tokens_per_piece;
    size_t count = (size_t)pieces + 1 + ARENA_SLACK;
    struct generator generator;

    prompts->offsets = memory_zeroed(count + 1, sizeof *prompts->offsets);
    generator_init(&generator, prompts->seed);
    for (size_t i = 0; i < count; i++) {
        prompts->offsets[i] = (uint32_t)prompts->arena.length;
        text_add_char(&prompts->arena, workload_separator(workload));
        text_add(&prompts->arena, random_piece(workload, &generator));
    }
    prompts->offsets[count] = (uint32_t)prompts->arena.length;
}

static void fill_prefixes(struct prompt_source *prompts)
{
    const struct workload *workload = prompts->workload;
    struct generator generator;

    prompts->prefix_offsets =
        memory_zeroed((size_t)prompts->pools + 1, sizeof *prompts->prefix_offsets);
    generator_init(&generator, random_mix(prompts->nonce, PURPOSE_PREFIXES));
    for (int64_t pool = 0; pool < prompts->pools; pool++) {
        for (int64_t i = 0; i < prompts->prefix_pieces; i++) {
            if (i > 0 || workload->form == PROMPT_WORDS)
                text_add_char(&prompts->prefixes, workload_separator(workload));
            text_add(&prompts->prefixes, random_piece(workload, &generator));
        }
        prompts->prefix_offsets[pool + 1] = (uint32_t)prompts->prefixes.length;
    }
}

static void digest_specification(const struct plan *plan, char out[DIGEST_TEXT_SIZE])
{
    json_auto_t *json = plan_workload_specification(plan);
    FREE_AUTO char *written = json_write_canonical(json);

    digest_sha256_text(written, strlen(written), out);
}

bool prompt_source_create(const struct prompt_source_order *order, struct prompt_source **out,
                          struct error *error)
{
    struct prompt_source *prompts = memory_zeroed(1, sizeof *prompts);
    const struct plan *plan = order->plan;

    prompts->workload = order->workload;
    prompts->seed = plan->seed;
    prompts->nonce = order->nonce;
    prompts->context_tokens = order->context_tokens;
    prompts->room = order->room;
    workload_room_widen(&prompts->room, order->workload);
    prompts->may_stop = plan->natural_output;
    prompts->dataset = order->dataset;
    prompts->dataset_sent = order->dataset_sent;
    prompts->unique = plan->unique_prompts;
    prompts->pools = plan->prefix_pools > 0 ? plan->prefix_pools : 1;
    prompts->input =
        (struct lengths){ plan->input_distribution, order->input_tokens, plan->input_spread };
    prompts->output =
        (struct lengths){ plan->output_distribution, order->output_tokens, plan->output_spread };
    if (!(order->dataset != NULL ? choose_rows(prompts, error)
                                 : set_prefix_length(prompts, plan, error))) {
        prompt_source_destroy(prompts);
        return false;
    }
    digest_specification(plan, prompts->specification_digest);
    workload_open(order->workload, order->model, true, &prompts->opening);
    prompts->lead =
        is_text(prompts) ? workload_text_lead(order->workload) : workload_lead(order->workload);
    prompts->closing =
        is_text(prompts) ? workload_text_close(order->workload) : workload_close(order->workload);
    fill_arena(prompts);
    fill_prefixes(prompts);
    *out = prompts;
    return true;
}

void prompt_source_destroy(struct prompt_source *prompts)
{
    if (prompts == NULL)
        return;
    text_finish(&prompts->opening);
    text_finish(&prompts->arena);
    text_finish(&prompts->prefixes);
    free(prompts->offsets);
    free(prompts->prefix_offsets);
    free(prompts->usable);
    free(prompts);
}

void prompt_source_digest(const struct prompt_source *prompts, char out[DIGEST_TEXT_SIZE])
{
    json_auto_t *specification = workload_specification(prompts->workload);
    FREE_AUTO char *written = json_write_canonical(specification);
    char arena_digest[DIGEST_TEXT_SIZE];
    TEXT_AUTO all = { 0 };

    digest_sha256_text(prompts->arena.data, prompts->arena.length, arena_digest);
    text_addf(&all, "%s\n%s\n%ld input tokens, %ld output tokens\n%s", written,
              prompts->specification_digest, prompts->input.mean, prompts->output.mean,
              arena_digest);
    digest_sha256_text(all.data, all.length, out);
}

/* ---- One prompt ------------------------------------------------------------------------------ */

static int64_t clamp(int64_t value, int64_t low, int64_t high, bool *changed)
{
    int64_t clamped = value > high ? high : value;

    clamped = clamped < low ? low : clamped;
    *changed |= clamped != value;
    return clamped;
}

static const struct dataset_row *row_of(const struct prompt_source *prompts, uint64_t index)
{
    return &prompts->dataset->rows[prompts->usable[index % prompts->usable_count]];
}

/* Sets the lengths that come from the dataset, and `repeated`. A drawn answer length is shortened
 * to fit the context. */
static void set_dataset_lengths(const struct prompt_source *prompts, uint64_t index,
                                struct wanted *out)
{
    int64_t input, output;

    measure_row(prompts, row_of(prompts, index), &input, &output);
    if (prompts->output.distribution == DISTRIBUTION_DATASET)
        out->output_tokens = output;
    else if (prompts->context_tokens > 0 && is_drawn(&prompts->output))
        out->output_tokens =
            clamp(out->output_tokens, 1, prompts->context_tokens - input, &out->cut);
    out->input_tokens = is_text(prompts) ? -1 : input;
    out->repeated = is_text(prompts) && !prompts->unique
                    && (prompts->dataset_sent || index >= prompts->usable_count);
}

/* The lengths do not depend on the nonce, so they are the same in every attempt. */
static void draw_lengths(const struct prompt_source *prompts, uint64_t index, struct wanted *out)
{
    int64_t context =
        prompts->context_tokens > 0 ? prompts->context_tokens : ASSUMED_CONTEXT_TOKENS;
    struct generator generator;

    generator_init(&generator, random_mix(random_mix(prompts->seed, PURPOSE_LENGTHS), index));
    out->output_tokens = lengths_draw(&prompts->output, &generator);
    out->input_tokens = lengths_draw(&prompts->input, &generator);
    if (prompts->dataset != NULL) {
        set_dataset_lengths(prompts, index, out);
        return;
    }
    if (is_drawn(&prompts->output))
        out->output_tokens =
            clamp(out->output_tokens, 1,
                  context - (is_drawn(&prompts->input) ? prompts->shortest : prompts->input.mean),
                  &out->cut);
    if (is_drawn(&prompts->input))
        out->input_tokens =
            clamp(out->input_tokens, prompts->shortest, context - out->output_tokens, &out->cut);
}

/* Writes `count` random pieces. Returns the number of bytes. */
static size_t write_head(const struct prompt_source *prompts, int64_t count,
                         struct generator *generator, char *out)
{
    const struct workload *workload = prompts->workload;
    bool starts_array = prompts->prefix_pieces == 0 && workload->form == PROMPT_IDS;
    char *at = out;

    for (int64_t i = 0; i < count; i++) {
        if (i > 0 || !starts_array)
            *at++ = workload_separator(workload);
        at = stpcpy(at, random_piece(workload, generator));
    }
    return (size_t)(at - out);
}

static struct prompt_part choose_prefix(const struct prompt_source *prompts,
                                        struct generator *generator)
{
    const uint32_t *offset =
        prompts->prefix_offsets + generator_below(generator, (uint64_t)prompts->pools);

    return (struct prompt_part){ text_string(&prompts->prefixes) + offset[0],
                                 offset[1] - offset[0] };
}

/* Writes a unique head for a prompt from the dataset: 16 hexadecimal digits and a space. Returns
 * the number of bytes; 0 if the plan does not ask for unique prompts. */
static size_t write_tag(const struct prompt_source *prompts, uint64_t index, char *out)
{
    if (!prompts->unique)
        return 0;
    return (size_t)sprintf(out, "%016lx ", random_mix(prompts->nonce, index));
}

static void write_text(const struct prompt_source *prompts, uint64_t index,
                       struct bench_prompt *out)
{
    const struct dataset_row *row = row_of(prompts, index);
    const char *texts = text_string(&prompts->dataset->texts);

    out->parts[PART_HEAD] = (struct prompt_part){ out->head, write_tag(prompts, index, out->head) };
    out->parts[PART_BODY] = (struct prompt_part){ texts + row->offset, row->length };
}

static void write_pieces(const struct prompt_source *prompts, uint64_t index,
                         struct bench_prompt *out)
{
    struct generator generator;
    const uint32_t *from;
    int64_t unshared;    /* number of pieces after the prefix */
    int64_t head;        /* how many of these are in the head */
    struct error unused; /* the lengths were checked before */

    if (!workload_count_pieces(prompts->workload, out->wanted.input_tokens, &unshared, &unused))
        unshared = 0;
    unshared = unshared > prompts->prefix_pieces ? unshared - prompts->prefix_pieces : 1;
    head = unshared < PROMPT_HEAD_PIECES ? unshared : PROMPT_HEAD_PIECES;
    generator_init(&generator, random_mix(prompts->nonce, index));
    from = prompts->offsets + generator_below(&generator, ARENA_SLACK);
    out->parts[PART_PREFIX] = choose_prefix(prompts, &generator);
    out->parts[PART_HEAD] =
        (struct prompt_part){ out->head, write_head(prompts, head, &generator, out->head) };
    out->parts[PART_BODY] =
        (struct prompt_part){ prompts->arena.data + *from, from[unshared - head] - *from };
}

static void write_limits(const struct prompt_source *prompts, uint64_t index,
                         struct bench_prompt *out)
{
    size_t length = workload_limits(prompts->workload, out->wanted.output_tokens,
                                    random_mix(prompts->seed, index), out->limits);

    out->parts[PART_LIMITS] = (struct prompt_part){ out->limits, length };
}

void prompt_source_make(const struct prompt_source *prompts, uint64_t index,
                        struct bench_prompt *out)
{
    out->wanted =
        (struct wanted){ .may_stop = prompts->may_stop, .shared_tokens = prompts->prefix_tokens };
    draw_lengths(prompts, index, &out->wanted);
    for (int i = 0; i < PROMPT_PARTS; i++)
        out->parts[i] = (struct prompt_part){ "", 0 };
    out->parts[PART_OPENING] =
        (struct prompt_part){ prompts->opening.data, prompts->opening.length };
    write_limits(prompts, index, out);
    out->parts[PART_LEAD] = (struct prompt_part){ prompts->lead, strlen(prompts->lead) };
    if (is_text(prompts))
        write_text(prompts, index, out);
    else
        write_pieces(prompts, index, out);
    out->parts[PART_CLOSING] = (struct prompt_part){ prompts->closing, strlen(prompts->closing) };
    out->length = 0;
    for (int i = 0; i < PROMPT_PARTS; i++)
        out->length += out->parts[i].length;
    prompt_source_rewind(out);
}

void prompt_source_rewind(struct bench_prompt *prompt)
{
    prompt->part = prompt->offset = 0;
}

size_t prompt_source_read(struct bench_prompt *prompt, char *out, size_t size)
{
    size_t done = 0;

    while (prompt->part < PROMPT_PARTS && done < size) {
        const struct prompt_part *from = &prompt->parts[prompt->part];
        size_t left = from->length - prompt->offset;
        size_t count = left < size - done ? left : size - done;

        if (count > 0) /* a part may be empty */
            memcpy(out + done, from->bytes + prompt->offset, count);
        done += count;
        prompt->offset += count;
        if (prompt->offset == from->length) {
            prompt->part++;
            prompt->offset = 0;
        }
    }
    return done;
}
