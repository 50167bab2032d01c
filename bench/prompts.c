#include "bench/prompts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"

/* Bodies begin anywhere in the arena's first so many pieces. */
#define ARENA_SLACK 4096

struct prompts {
    const struct workload *workload;
    struct text opening;
    const char *closing;
    struct text arena;  /* pieces, each behind its separator */
    uint32_t *offsets;  /* of every piece in the arena, and of its end */
    int64_t head, body; /* pieces */
    uint64_t seed;
    int64_t input_tokens, output_tokens;
};

/* The same seed gives the same arena; a longer one begins with the shorter one. */
static void fill_arena(struct prompts *prompts)
{
    const struct workload *workload = prompts->workload;
    size_t count = (size_t)prompts->body + ARENA_SLACK;
    struct generator generator;

    prompts->offsets = memory_zeroed(count + 1, sizeof *prompts->offsets);
    generator_init(&generator, prompts->seed);
    for (size_t i = 0; i < count; i++) {
        prompts->offsets[i] = (uint32_t)prompts->arena.length;
        text_add_char(&prompts->arena, workload_separator(workload));
        text_add(&prompts->arena,
                 workload->pieces[generator_below(&generator, workload->piece_count)]);
    }
    prompts->offsets[count] = (uint32_t)prompts->arena.length;
}

bool prompts_create(const struct workload *workload, const char *model, uint64_t seed,
                    int64_t input_tokens, int64_t output_tokens, struct prompts **out,
                    struct error *error)
{
    struct prompts *prompts;
    int64_t count;

    if (!workload_count(workload, input_tokens, &count, error))
        return false;
    prompts = memory_zeroed(1, sizeof *prompts);
    prompts->workload = workload;
    prompts->seed = seed;
    prompts->input_tokens = input_tokens;
    prompts->output_tokens = output_tokens;
    prompts->head = count < PROMPT_HEAD_PIECES ? count : PROMPT_HEAD_PIECES;
    prompts->body = count - prompts->head;
    workload_open(workload, model, output_tokens, true, &prompts->opening);
    prompts->closing = workload_close(workload);
    fill_arena(prompts);
    *out = prompts;
    return true;
}

void prompts_destroy(struct prompts *prompts)
{
    if (prompts == NULL)
        return;
    text_finish(&prompts->opening);
    text_finish(&prompts->arena);
    free(prompts->offsets);
    free(prompts);
}

void prompts_digest(const struct prompts *prompts, char out[DIGEST_TEXT_SIZE])
{
    json_auto_t *specification = workload_specification(prompts->workload);
    FREE_AUTO char *written = json_write_canonical(specification);
    char arena[DIGEST_TEXT_SIZE];
    TEXT_AUTO all = { 0 };

    digest_sha256_text(prompts->arena.data, prompts->arena.length, arena);
    text_addf(&all, "%s\nseed %lu, %ld input tokens, %ld output tokens\n%s", written, prompts->seed,
              prompts->input_tokens, prompts->output_tokens, arena);
    digest_sha256_text(all.data, all.length, out);
}

/* Writes the head's pieces; returns their bytes. */
static size_t write_head(const struct prompts *prompts, struct generator *generator, char *out)
{
    const struct workload *workload = prompts->workload;
    char *at = out;

    for (int64_t i = 0; i < prompts->head; i++) {
        const char *piece = workload->pieces[generator_below(generator, workload->piece_count)];

        if (i > 0 || workload->form == PROMPT_WORDS)
            *at++ = workload_separator(workload);
        at = stpcpy(at, piece);
    }
    return (size_t)(at - out);
}

void prompt_make(const struct prompts *prompts, uint64_t nonce, uint64_t index, struct prompt *out)
{
    struct generator generator;
    uint64_t start;
    const uint32_t *from, *to;

    generator_init(&generator, seed_mix(nonce, index));
    start = generator_below(&generator, ARENA_SLACK);
    from = prompts->offsets + start;
    to = from + prompts->body;
    out->parts[0] = (struct prompt_part){ prompts->opening.data, prompts->opening.length };
    out->parts[1] = (struct prompt_part){ out->head, write_head(prompts, &generator, out->head) };
    out->parts[2] = (struct prompt_part){ prompts->arena.data + *from, *to - *from };
    out->parts[3] = (struct prompt_part){ prompts->closing, strlen(prompts->closing) };
    out->length = 0;
    for (int i = 0; i < 4; i++)
        out->length += out->parts[i].length;
    prompt_rewind(out);
}

void prompt_rewind(struct prompt *prompt)
{
    prompt->part = prompt->offset = 0;
}

size_t prompt_read(struct prompt *prompt, char *out, size_t size)
{
    size_t done = 0;

    while (prompt->part < 4 && done < size) {
        const struct prompt_part *from = &prompt->parts[prompt->part];
        size_t left = from->length - prompt->offset;
        size_t count = left < size - done ? left : size - done;

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
