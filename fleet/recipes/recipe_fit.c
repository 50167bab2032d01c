/* SPDX-License-Identifier: Apache-2.0 */
/* Computes, as vLLM does, the memory that a model needs. On a GPU, all pages of the KV cache are as
 * large as those of the largest layer; on a TPU, the pages of each layer have their own size. The
 * results agree with what servers reported (test_recipe_fit.c has the figures). */
#include "fleet/recipes/recipe_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB (1024.0 * 1024 * 1024)
/* What activations, captured graphs and the engine need on one accelerator: 2.2 GiB was measured on
 * an RTX PRO 6000 with 57.09 GiB of KV cache, and 0.6 GiB on each chip of a v6e-4. */
#define GPU_OVERHEAD_BYTES (2.2 * GIB)
#define TPU_OVERHEAD_BYTES (0.6 * GIB)
/* vLLM's defaults */
#define USUAL_UTILIZATION 0.9
#define USUAL_BATCHED_TOKENS 2048

/* The inputs of the computation. */
struct serving {
    const struct hardware *hardware;
    const struct model *model;
    double chips;      /* how many share one copy of the model */
    double value_size; /* bytes for each number in the KV cache */
    double context;    /* tokens in the longest request */
    double batched;    /* tokens computed at a time */
    double utilization;
    double offloaded_bytes; /* weights that each chip leaves in main memory */
    enum number_format format;
    bool is_tpu;
};

static CHECKED bool find_format(const char *name, enum number_format *out)
{
    static const char *const names[] = {
        [FORMAT_BF16] = "bf16", [FORMAT_FP16] = "fp16", [FORMAT_FP8] = "fp8",
        [FORMAT_INT8] = "int8", [FORMAT_FP4] = "fp4",   [FORMAT_W4A16] = "w4a16",
    };

    for (int i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum number_format)i;
            return true;
        }
    return false;
}

/* Returns why the memory cannot be computed, or NULL if it can. */
static const char *read_serving(const struct recipe *recipe, const struct catalog *catalog,
                                struct serving *out)
{
    const char *format = recipe->quantization[0] == '\0' ? "bf16" : recipe->quantization;

    *out = (struct serving){
        .hardware = catalog_find_hardware(catalog, recipe->hardware),
        .model = catalog_find_model(catalog, recipe->model),
        .chips = recipe_number(recipe, "arguments.--tensor-parallel-size", 1),
        .value_size =
            strncmp(recipe_text(recipe, "arguments.--kv-cache-dtype", "auto"), "fp8", 3) == 0 ? 1
                                                                                              : 2,
        .batched =
            recipe_number(recipe, "arguments.--max-num-batched-tokens", USUAL_BATCHED_TOKENS),
        .utilization =
            recipe_number(recipe, "arguments.--gpu-memory-utilization", USUAL_UTILIZATION),
        .offloaded_bytes = recipe_number(recipe, "arguments.--cpu-offload-gb", 0) * GIB,
    };
    if (strcmp(recipe->engine, "vllm") != 0)
        return "opsbrain can compute the memory only for vLLM";
    if (recipe->hardware[0] == '\0')
        return "the recipe names no hardware";
    if (out->hardware == NULL || isnan(out->hardware->visible_bytes))
        return "the catalogue does not say how much memory programs see on this hardware";
    if (out->model == NULL || !find_format(format, &out->format)
        || isnan(out->model->weight_bytes[out->format]))
        return "the catalogue has no size for this model's weights in this format";
    out->is_tpu = strncmp(out->hardware->name, "google-tpu", strlen("google-tpu")) == 0;
    out->context = recipe_number(recipe, "arguments.--max-model-len", out->model->context_tokens);
    return NULL;
}

/* Returns the bytes of one token's keys and values in one layer, on all chips together. A head is
 * never split, so each chip has at least one. */
static double layer_bytes(const struct serving *serving, double heads, double head_size)
{
    return fmax(heads, serving->chips) * head_size * 2 * serving->value_size;
}

struct kv_layers {
    /* Numbers of layers with and without a sliding window. If all layers of a model are of one
     * kind, they count as sliding. */
    double sliding, full;
    double sliding_bytes, full_bytes; /* per token, in one such layer */
};

static struct kv_layers layers_of(const struct serving *serving)
{
    const struct model *model = serving->model;
    double full = isnan(model->full_layers) ? 0 : model->full_layers;

    return (struct kv_layers){
        .sliding = model->kv_layers - full,
        .full = full,
        .sliding_bytes = layer_bytes(serving, model->kv_heads, model->head_size),
        .full_bytes =
            full > 0 ? layer_bytes(serving, model->full_kv_heads, model->full_head_size) : 0,
    };
}

static double token_bytes(const struct serving *serving)
{
    const struct kv_layers layers = layers_of(serving);

    if (serving->is_tpu)
        return layers.sliding * layers.sliding_bytes + layers.full * layers.full_bytes;
    return (layers.sliding + layers.full) * fmax(layers.sliding_bytes, layers.full_bytes);
}

/* On a GPU, layers with a sliding window free the pages outside the window. */
static double request_bytes(const struct serving *serving)
{
    const struct kv_layers layers = layers_of(serving);
    double window = serving->model->window_tokens + serving->batched;

    if (serving->is_tpu || isnan(window))
        return token_bytes(serving) * serving->context;
    return layers.full * layers.full_bytes * serving->context
           + layers.sliding * layers.sliding_bytes * fmin(serving->context, window);
}

static void compute(const struct serving *serving, struct recipe_fit *out)
{
    double visible = serving->hardware->visible_bytes * serving->chips;

    *out = (struct recipe_fit){
        .known = true,
        .usable_bytes = visible * serving->utilization,
        .weights_bytes = fmax(serving->model->weight_bytes[serving->format]
                                  - serving->offloaded_bytes * serving->chips,
                              0),
        .overhead_bytes =
            serving->chips * (serving->is_tpu ? TPU_OVERHEAD_BYTES : GPU_OVERHEAD_BYTES),
        .kv_bytes_per_token = token_bytes(serving),
        .request_bytes = request_bytes(serving),
        .context_tokens = (int64_t)serving->context,
    };
    out->kv_bytes = out->usable_bytes - out->weights_bytes - out->overhead_bytes;
    out->kv_tokens = out->kv_bytes > 0 ? (int64_t)(out->kv_bytes / out->kv_bytes_per_token) : 0;
    out->fits = out->kv_bytes >= out->request_bytes;
}

static void write_arithmetic(const struct recipe *recipe, const struct serving *serving,
                             struct recipe_fit *out)
{
    snprintf(out->arithmetic, sizeof out->arithmetic,
             "%g x %s: %.1f GiB visible x %.2f = %.1f; less %.1f for weights in %s%s and %.1f for "
             "overhead leaves %.1f GiB for the KV cache (%lld tokens at %.1f KiB); one request of "
             "%lld tokens needs %.1f",
             serving->chips, serving->hardware->title,
             serving->hardware->visible_bytes * serving->chips / GIB, serving->utilization,
             out->usable_bytes / GIB, out->weights_bytes / GIB,
             recipe->quantization[0] == '\0' ? "bf16" : recipe->quantization,
             serving->offloaded_bytes > 0 ? " (the rest in main memory)" : "",
             out->overhead_bytes / GIB, out->kv_bytes / GIB, (long long)out->kv_tokens,
             out->kv_bytes_per_token / 1024, (long long)out->context_tokens,
             out->request_bytes / GIB);
}

static CHECKED bool check_shape(const struct recipe *recipe, const struct serving *serving,
                                struct error *error)
{
    if (serving->chips > (double)recipe->chips)
        return error_set(error, ERROR_INVALID,
                         "the recipe %s splits the model over %g chips (--tensor-parallel-size) "
                         "but has only %lld",
                         recipe->name, serving->chips, (long long)recipe->chips);
    if (serving->format == FORMAT_FP4 && isnan(serving->hardware->peak_flops[FORMAT_FP4]))
        return error_set(
            error, ERROR_INVALID,
            "the recipe %s has weights in fp4, which %s does not support: use a Blackwell GPU",
            recipe->name, serving->hardware->title);
    if (serving->context > serving->model->context_tokens)
        return error_set(
            error, ERROR_INVALID,
            "the recipe %s serves %.0f tokens of context (--max-model-len), but %s has only %.0f",
            recipe->name, serving->context, serving->model->name, serving->model->context_tokens);
    return true;
}

bool recipe_fit(const struct recipe *recipe, const struct catalog *catalog, struct recipe_fit *out,
                struct error *error)
{
    struct serving serving;
    const char *missing = read_serving(recipe, catalog, &serving);

    *out = (struct recipe_fit){ .usable_bytes = NAN,
                                .weights_bytes = NAN,
                                .overhead_bytes = NAN,
                                .kv_bytes = NAN,
                                .kv_bytes_per_token = NAN,
                                .request_bytes = NAN };
    if (missing != NULL) {
        snprintf(out->arithmetic, sizeof out->arithmetic,
                 "it is not known whether the model fits: %s", missing);
        return true;
    }
    if (!check_shape(recipe, &serving, error))
        return false;
    compute(&serving, out);
    write_arithmetic(recipe, &serving, out);
    return true;
}

bool recipe_fit_check(const struct recipe *recipe, const struct catalog *catalog,
                      struct error *error)
{
    struct recipe_fit fit;

    if (strcmp(recipe->status, "cannot_work") == 0)
        return error_set(error, ERROR_INVALID, "the recipe %s cannot work: %s", recipe->name,
                         recipe->reason);
    if (!recipe_fit(recipe, catalog, &fit, error))
        return false;
    if (fit.known && !fit.fits)
        return error_set(error, ERROR_INVALID, "%s does not fit: %s", recipe->model,
                         fit.arithmetic);
    return true;
}
