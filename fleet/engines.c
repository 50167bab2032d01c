/* SPDX-License-Identifier: Apache-2.0 */
/* What each engine reports about itself, and at which path. Only the listed members are kept,
 * because some servers report their own API key among their settings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/formats/promtext.h"
#include "base/json/json.h"
#include "fleet/probe.h"

static json_t *ask_object(struct probe *probe, const char *path, const char *body)
{
    enum failure failure;
    struct error error;
    json_t *answer = NULL;

    if (small_request_json(&probe->ask, path, body, &answer, &failure, &error)
        && json_is_object(answer))
        return answer;
    json_decref(answer);
    return NULL;
}

/* ---- vLLM: /version, and the labels of one metric ---- */

static bool note_cache_config(void *context, const struct promtext_sample *sample)
{
    static const char name[] = "vllm:cache_config_info";
    static const char *const wanted[] = { "block_size",
                                          "num_gpu_blocks",
                                          "cache_dtype",
                                          "enable_prefix_caching",
                                          "gpu_memory_utilization",
                                          "kv_cache_memory_bytes",
                                          "sliding_window",
                                          NULL };
    struct probe *probe = context;
    int64_t block_size = 0, blocks = 0;
    json_auto_t *found = NULL;
    char value[128];

    if (sample->name_length != strlen(name) || memcmp(sample->name, name, strlen(name)) != 0)
        return true;
    found = json_object();
    for (size_t i = 0; wanted[i] != NULL; i++)
        if (promtext_label(sample, wanted[i], value, sizeof value))
            json_object_set_new(found, wanted[i], json_string(value));
    probe_note_members(probe, found, wanted);
    if (text_to_integer(json_get_text(found, "block_size", ""), 1, 1 << 20, &block_size)
        && text_to_integer(json_get_text(found, "num_gpu_blocks", ""), 1, INT32_MAX, &blocks))
        probe_note_integer(probe, "kv_cache_tokens", block_size * blocks);
    return false; /* further replicas have the same settings */
}

static bool read_vllm(struct probe *probe)
{
    json_auto_t *answer = NULL;

    if (strcmp(probe->owner, "vllm") != 0 && strstr(text_string(&probe->metrics), "vllm:") == NULL)
        return false;
    answer = ask_object(probe, "/version", NULL);
    probe_set_version(probe, json_get_text(answer, "version", ""));
    promtext_read(text_string(&probe->metrics), probe->metrics.length, note_cache_config, probe,
                  NULL);
    return true;
}

/* ---- SGLang: /get_model_info, /get_server_info; since 2026 /model_info, /server_info ---- */

static bool read_sglang(struct probe *probe)
{
    static const char *const of_model[] = { "model_path", "is_generation", NULL };
    static const char *const of_server[] = { "quantization",
                                             "dtype",
                                             "kv_cache_dtype",
                                             "tp_size",
                                             "dp_size",
                                             "mem_fraction_static",
                                             "max_running_requests",
                                             "chunked_prefill_size",
                                             "disable_radix_cache",
                                             "speculative_algorithm",
                                             "attention_backend",
                                             NULL };
    json_auto_t *model = ask_object(probe, "/get_model_info", NULL);
    json_auto_t *server = NULL;

    if (model == NULL)
        model = ask_object(probe, "/model_info", NULL);
    if (json_object_get(model, "model_path") == NULL)
        return false;
    probe_note_members(probe, model, of_model);
    server = ask_object(probe, "/get_server_info", NULL);
    if (server == NULL)
        server = ask_object(probe, "/server_info", NULL);
    probe_set_version(probe, json_get_text(server, "version", ""));
    probe_note_members(probe, server, of_server);
    probe_note_integer(probe, "kv_cache_tokens",
                       json_get_integer(server, "max_total_num_tokens", 0));
    probe_set_context(probe, NULL, json_get_integer(server, "context_length", 0));
    return true;
}

/* ---- llama.cpp: /props, whose context length is that of one slot ---- */

static bool read_llama_cpp(struct probe *probe)
{
    static const char *const wanted[] = { "total_slots", "model_path", NULL };
    json_auto_t *props = ask_object(probe, "/props", NULL);
    const json_t *generation = json_object_get(props, "default_generation_settings");

    if (!json_is_object(generation))
        return false;
    probe_set_version(probe, json_get_text(props, "build_info", ""));
    probe_note_members(probe, props, wanted);
    probe_set_context(probe, NULL, json_get_integer(generation, "n_ctx", 0));
    return true;
}

/* ---- Ollama: /api/version, /api/tags, /api/show, /api/ps ---- */

/* Returns the context length of a loaded model; 0 if the model is not loaded or the server does not
 * report it. */
static int64_t ollama_loaded_context(struct probe *probe, const char *model)
{
    json_auto_t *loaded = ask_object(probe, "/api/ps", NULL);
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(loaded, "models"), i, row)
        if (strcmp(json_get_text(row, "model", json_get_text(row, "name", "")), model) == 0)
            return json_get_integer(row, "context_length", 0);
    return 0;
}

/* `model_info` looks like {"general.architecture": "llama", "llama.context_length": 131072}. */
static int64_t ollama_trained_context(const json_t *model_info)
{
    char name[128];

    snprintf(name, sizeof name, "%s.context_length",
             json_get_text(model_info, "general.architecture", ""));
    return json_get_integer(model_info, name, 0);
}

/* `parameters` comes from the Modelfile, one parameter per line: "num_ctx   8192". */
static int64_t ollama_configured_context(const char *parameters)
{
    const char *number = strstr(parameters, "num_ctx");
    char digits[16];
    int64_t tokens = 0;

    if (number == NULL)
        return 0;
    number += strlen("num_ctx");
    number += strspn(number, " \t");
    snprintf(digits, sizeof digits, "%.*s", (int)strspn(number, "0123456789"), number);
    text_to_integer(digits, 1, CONTEXT_TOKENS_LIMIT, &tokens);
    return tokens;
}

static void read_ollama_model(struct probe *probe, const char *model)
{
    static const char *const wanted[] = { "family", "parameter_size", "quantization_level", NULL };
    static const char *const sources[] = { "the loaded model", "num_ctx of the model",
                                           "the model's maximum; the server may truncate earlier" };
    json_auto_t *question = json_pack("{s:s}", "model", model);
    char *body = json_write(question);
    json_auto_t *shown = ask_object(probe, "/api/show", body);
    const int64_t contexts[] = { ollama_loaded_context(probe, model),
                                 ollama_configured_context(json_get_text(shown, "parameters", "")),
                                 ollama_trained_context(json_object_get(shown, "model_info")) };

    free(body);
    probe_note_members(probe, json_object_get(shown, "details"), wanted);
    for (size_t i = 0; i < 3; i++)
        if (contexts[i] > 0) {
            probe_set_context(probe, model, contexts[i]);
            json_object_set_new(probe->details, "context_source", json_string(sources[i]));
            return;
        }
}

static bool read_ollama(struct probe *probe)
{
    json_auto_t *version = ask_object(probe, "/api/version", NULL);
    json_auto_t *tags = NULL;
    const json_t *row;
    size_t i;

    if (json_get_text(version, "version", NULL) == NULL)
        return false;
    tags = ask_object(probe, "/api/tags", NULL);
    if (!json_is_array(json_object_get(tags, "models")))
        return false;
    probe_set_version(probe, json_get_text(version, "version", ""));
    if (probe->report->model_count == 0) /* old versions have no /v1/models */
        json_array_foreach(json_object_get(tags, "models"), i, row)
            probe_add_model(probe, json_get_text(row, "model", json_get_text(row, "name", "")), 0);
    if (probe_model(probe)[0] != '\0')
        read_ollama_model(probe, probe_model(probe));
    return true;
}

/* ---- TGI: /info ---- */

static bool read_tgi(struct probe *probe)
{
    static const char *const wanted[] = { "model_sha",         "model_dtype",
                                          "max_input_tokens",  "max_concurrent_requests",
                                          "max_batch_size",    "max_batch_total_tokens",
                                          "model_device_type", NULL };
    json_auto_t *info = ask_object(probe, "/info", NULL);
    const char *id = json_get_text(info, "model_id", NULL);

    if (id == NULL || json_object_get(info, "max_total_tokens") == NULL)
        return false;
    probe_set_version(probe, json_get_text(info, "version", ""));
    probe_note_members(probe, info, wanted);
    if (probe->report->model_count == 0) /* TGI before version 2 has no models list */
        probe_add_model(probe, id, 0);
    probe_set_context(probe, NULL, json_get_integer(info, "max_total_tokens", 0));
    return true;
}

/* ---- llama-cpp-python: only its models list ---- */

static bool read_llama_cpp_python(struct probe *probe)
{
    return strcmp(probe->owner, "me") == 0;
}

/* The engines are tried in this order if the models list names none of their owners. */
const struct engine engines[] = {
    { "vllm", "vllm", read_vllm },
    { "sglang", "sglang", read_sglang },
    { "llama.cpp", "llamacpp", read_llama_cpp },
    { "ollama", "library", read_ollama },
    { "tgi", NULL, read_tgi },
    { "llama-cpp-python", "me", read_llama_cpp_python },
};
const size_t engine_count = sizeof engines / sizeof *engines;
