/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/recipes/recipe_members.h"

#include <string.h>

#include "base/json/json.h"

#define SHOWN_BYTES 60
#define VALUE_DEPTH 4

/* ---- Checks of free-form members ---- */

static bool is_printable(const json_t *value, size_t low, size_t high)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);

    if (text == NULL || length < low || length > high)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return true;
}

static bool is_word(const json_t *value, size_t low, size_t high)
{
    return is_printable(value, low, high) && strchr(json_string_value(value), ' ') == NULL;
}

static bool is_simple(const json_t *value)
{
    return json_is_number(value) || json_is_boolean(value) || is_printable(value, 0, 512);
}

/* Returns true for printable texts, numbers, booleans, and lists and objects of them, unless one is
 * too long, too large or nested too deeply. */
static bool is_plain(const json_t *value, unsigned depth)
{
    const json_t *member;
    const char *name;
    size_t i;

    if (is_simple(value))
        return true;
    if (depth == 0 || json_array_size(value) > 32 || json_object_size(value) > 32)
        return false;
    json_array_foreach(value, i, member)
        if (!is_plain(member, depth - 1))
            return false;
    json_object_foreach(json_iterable(value), name, member)
        if (strlen(name) > 64 || !is_plain(member, depth - 1))
            return false;
    return json_is_array(value) || json_is_object(value);
}

/* Everyone who may list processes, or read the platform's description of the machine, would see a
 * credential in an argument. */
static const char *const credential_arguments[] = { "--api-key", "--hf-token", "--hf_token",
                                                    "--ssl-keyfile", NULL };

static bool is_in(const char *const *list, const char *text)
{
    for (size_t i = 0; list[i] != NULL; i++)
        if (strcasecmp(list[i], text) == 0)
            return true;
    return false;
}

static CHECKED bool judge_argument(const char *path, const char *name, const json_t *value,
                                   struct error *error)
{
    size_t dashes = strspn(name, "-");

    if (dashes < 1 || dashes > 2 || strlen(name) > 64 || name[dashes] == '\0'
        || name[strspn(name, "-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")]
               != '\0')
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s\" has \"%.*s\", which is not an argument's name: write "
                         "it like \"--max-model-len\"",
                         path, SHOWN_BYTES, name);
    if (is_in(credential_arguments, name))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s\" has \"%s\": a credential is never an argument; the "
                         "provider gives the engine its key",
                         path, name);
    if (!is_plain(value, VALUE_DEPTH))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s.%s\" must be a text of at most 512 bytes, a number, "
                         "true (the argument alone), or a list or object, which is written as JSON",
                         path, name);
    return true;
}

static bool is_secret_reference(const json_t *value)
{
    const json_t *key = json_object_get(value, "key");

    return json_is_object(value) && is_word(json_object_get(value, "secret"), 1, 128)
           && (key == NULL || is_word(key, 1, 128))
           && json_object_size(value) == (key == NULL ? 1 : 2);
}

bool recipe_sounds_secret(const char *name, size_t length)
{
    static const char *const ends[] = { "TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIALS" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (length >= strlen(ends[i])
            && strncasecmp(name + length - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
            return true;
    return false;
}

static CHECKED bool judge_variable(const char *path, const char *name, const json_t *value,
                                   struct error *error)
{
    if (strlen(name) > 64 || (name[0] >= '0' && name[0] <= '9')
        || name[strspn(name, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")]
               != '\0'
        || name[0] == '\0')
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s\" has \"%.*s\", which is not a variable's name: use "
                         "letters, digits and '_'",
                         path, SHOWN_BYTES, name);
    if (strncmp(name, "LD_", 3) == 0 || strcmp(name, "PATH") == 0)
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s\" has %s, which decides what the machine runs: put it "
                         "into the image",
                         path, name);
    if (is_secret_reference(value))
        return true;
    if (recipe_sounds_secret(name, strlen(name)))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s.%s\" would hold a credential: name a secret of the "
                         "provider's store instead, {\"secret\": \"hf-token\"}",
                         path, name);
    if (!is_printable(value, 0, 512))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s.%s\" must be a text of at most 512 bytes, or "
                         "{\"secret\": NAME}",
                         path, name);
    return true;
}

/* Accepts {"least": 1, "most": 8} or {"choices": ["auto", "fp8"]}. */
static CHECKED bool judge_override(const char *path, const char *name, const json_t *value,
                                   struct error *error)
{
    const struct recipe_opening *opening = recipe_opening_find(name);
    const json_t *least = json_object_get(value, "least"), *most = json_object_get(value, "most"),
                 *choices = json_object_get(value, "choices"), *choice;
    bool good = json_is_object(value);
    size_t i;

    if (opening == NULL)
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s\" opens \"%.*s\": only members of the table in "
                         "docs/recipes.md can be opened",
                         path, SHOWN_BYTES, name);
    if (opening->value == RECIPE_CHOICE) {
        good = good && json_object_size(value) == 1 && json_array_size(choices) >= 1
               && json_array_size(choices) <= 16;
        json_array_foreach(choices, i, choice)
            good = good && is_word(choice, 1, 64);
    } else
        good = good && json_object_size(value) == 2 && json_is_number(least) && json_is_number(most)
               && json_number_value(least) <= json_number_value(most)
               && (opening->value == RECIPE_NUMBER
                   || (json_is_integer(least) && json_is_integer(most)));
    if (!good)
        return error_set(error, ERROR_INVALID, "the recipe's \"%s.%s\" must be %s", path, name,
                         opening->value == RECIPE_CHOICE ? "{\"choices\": [TEXT, ...]}"
                         : opening->value == RECIPE_NUMBER
                             ? "{\"least\": NUMBER, \"most\": NUMBER}"
                             : "{\"least\": INTEGER, \"most\": INTEGER}");
    return true;
}

/* ---- The tables ---- */

static const char *const statuses[] = { "verified", "reported", "cannot_work", NULL };
static const char *const weights_from[] = { "hub", "bucket", "mounted", NULL };
static const char *const kinds_of_price[] = { "on_demand", "spot", "flex_start", "reserved", NULL };
static const char *const formats[] = {
    "bf16", "fp16", "fp8", "int8", "fp4", "w4a16", "gguf", NULL
};

static const struct recipe_member weights[] = {
    { "from", RECIPE_CHOICE, .required = true, .choices = weights_from,
      .help = "hub: downloaded by the engine; bucket: the target's, mounted or read; mounted: a "
              "read-only folder of the machine" },
    { "repository", RECIPE_WORD, .low = 1, .high = 255,
      .help = "The weights' repository on the hub" },
    { "folder", RECIPE_WORD, .low = 1, .high = 255,
      .help = "The weights' folder in the bucket or on the machine" },
    { "mounted_at", RECIPE_WORD, .low = 2, .high = 255,
      .help = "Where the container sees the bucket or the folder, read-only" },
    { "copied_to_memory", RECIPE_BOOLEAN,
      .help = "Whether the weights are copied to a tmpfs before the engine starts" },
    { 0 },
};

static const struct recipe_member probe[] = {
    { "path", RECIPE_WORD, .low = 1, .high = 128,
      .help = "Path of an HTTP GET; without it, a TCP connection" },
    { "initial_s", RECIPE_INTEGER, .high = 3600, .help = "Seconds before the first try" },
    { "period_s", RECIPE_INTEGER, .required = true, .low = 1, .high = 3600,
      .help = "Seconds between tries" },
    { "timeout_s", RECIPE_INTEGER, .low = 1, .high = 3600,
      .help = "Time limit of one try, in seconds" },
    { "failures", RECIPE_INTEGER, .required = true, .low = 1, .high = 1000,
      .help = "Failed tries after which the probe fails" },
    { 0 },
};

static const struct recipe_member probes[] = {
    { "startup", RECIPE_OBJECT, .members = probe, .help = "Repeated until the model is loaded" },
    { "readiness", RECIPE_OBJECT, .members = probe, .help = "Whether the server gets requests" },
    { "liveness", RECIPE_OBJECT, .members = probe, .help = "Whether the server is restarted" },
    { 0 },
};

static const struct recipe_member licence[] = {
    { "name", RECIPE_TEXT, .required = true, .low = 1, .high = 128, .help = "The licence's name" },
    { "accept_at", RECIPE_WORD, .low = 8, .high = 255,
      .help = "URL where a user accepts the licence, if the hub requires that" },
    { 0 },
};

static const struct recipe_member host[] = {
    { "cpu", RECIPE_INTEGER, .low = 1, .high = 1024, .help = "vCPUs" },
    { "memory_gib", RECIPE_INTEGER, .low = 1, .high = 16384, .help = "Main memory, in GiB" },
    { "shared_memory_gib", RECIPE_INTEGER, .low = 1, .high = 16384, .help = "/dev/shm" },
    { "machine", RECIPE_NAME, .low = 1, .high = 63, .help = "Machine type: g2-standard-4" },
    { 0 },
};

static const struct recipe_member scale[] = {
    { "min", RECIPE_INTEGER, .high = 1000, .help = "Instances at least" },
    { "max", RECIPE_INTEGER, .low = 1, .high = 1000, .help = "Instances at most" },
    { "concurrency", RECIPE_INTEGER, .low = 1, .high = 1000,
      .help = "Requests at a time for one instance" },
    { 0 },
};

static const struct recipe_member cost[] = {
    { "item", RECIPE_NAME, .required = true, .low = 1, .high = 63,
      .help = "An item of catalog/prices.json" },
    { "quantity", RECIPE_NUMBER, .required = true, .low = 0.001, .high = 1e6,
      .help = "Units of the item that one replica uses" },
    { 0 },
};

const struct recipe_member recipe_members[] = {
    { "name", RECIPE_NAME, .required = true, .low = 1, .high = 63,
      .help = "Also the name of the recipe's file" },
    { "revision", RECIPE_INTEGER, .required = true, .low = 1, .high = 1e9,
      .help = "Incremented by every change" },
    { "title", RECIPE_TEXT, .required = true, .low = 5, .high = 120, .help = "What users see" },
    { "provider", RECIPE_NAME, .required = true, .low = 1, .high = 31,
      .help = "The platform that the recipe is for. A member with its name holds what only it "
              "needs" },
    { "engine", RECIPE_NAME, .required = true, .low = 1, .high = 31, .help = "vllm, ollama, ..." },
    { "model", RECIPE_WORD, .required = true, .low = 1, .high = 255,
      .help = "The model, as the engine loads it" },
    { "quantization", RECIPE_CHOICE, .choices = formats,
      .help = "Number format of the model's weights" },
    { "image", RECIPE_WORD, .low = 1, .high = 511, .help = "Container image, by digest or tag" },
    { "program", RECIPE_WORD, .low = 2, .high = 511,
      .help = "Instead of an image: an absolute path on this machine" },
    { "service", RECIPE_NAME, .low = 1, .high = 31,
      .help = "Instead of an image or a program: a service that already runs on this machine and "
              "loads the model: ollama" },
    { "command", RECIPE_WORDS, .low = 1, .high = 16,
      .help = "Instead of the image's own command; arguments without a name go here" },
    { "arguments", RECIPE_MAP, .high = 64, .judge = judge_argument,
      .help = "By name; true: the name alone; an object is written as JSON; {deployment} is the "
              "deployment's name" },
    { "environment", RECIPE_MAP, .high = 64, .judge = judge_variable,
      .help = "Texts, or {\"secret\": NAME} of the provider's store" },
    { "port", RECIPE_INTEGER, .required = true, .low = 1, .high = 65535,
      .help = "The port that the server listens on" },
    { "weights", RECIPE_OBJECT, .required = true, .members = weights,
      .help = "Where the engine gets the weights" },
    { "probes", RECIPE_OBJECT, .members = probes,
      .help = "How the platform checks that the server is alive" },
    { "disk_gb", RECIPE_INTEGER, .low = 1, .high = 65536, .help = "Disk of a machine, in GB" },
    { "licence", RECIPE_OBJECT, .required = true, .members = licence,
      .help = "The model's licence" },
    { "hardware", RECIPE_NAME, .low = 1, .high = 63,
      .help = "A name of catalog/hardware.json; without it, whatever the machine has" },
    { "chips", RECIPE_INTEGER, .low = 1, .high = 1024,
      .help = "Number of accelerators for one replica" },
    { "host", RECIPE_OBJECT, .members = host, .help = "The machine that has the accelerator" },
    { "kinds", RECIPE_WORDS, .low = 1, .high = 8, .choices = kinds_of_price,
      .help =
          "How the hardware may be bought: on_demand, spot, flex_start, reserved; the first is the "
          "default" },
    { "places", RECIPE_WORDS, .low = 1, .high = 32,
      .help = "Regions or zones that have the hardware; the first is the default" },
    { "scale", RECIPE_OBJECT, .members = scale, .help = "Instances" },
    { "cost", RECIPE_OBJECTS, .high = 16, .members = cost,
      .help = "What is paid for; []: nothing; missing: not known" },
    { "overrides", RECIPE_MAP, .high = 32, .judge = judge_override,
      .help = "What a plan may change" },
    { "notes", RECIPE_TEXTS, .high = 16, .help = "What to know before using it" },
    { "status", RECIPE_CHOICE, .required = true, .choices = statuses,
      .help = "verified: the source ran it; reported: the source says it works; cannot_work: with "
              "a reason" },
    { "reason", RECIPE_TEXT, .low = 5, .high = 500, .help = "Why it cannot work" },
    { "source", RECIPE_TEXT, .required = true, .low = 5, .high = 500,
      .help = "Where the recipe was read" },
    { "as_of", RECIPE_DATE, .required = true, .help = "The date of the source" },
    { 0 },
};

const struct recipe_opening recipe_openings[] = {
    { "max_model_len", "arguments.--max-model-len", RECIPE_INTEGER, "Tokens of a context" },
    { "max_num_seqs", "arguments.--max-num-seqs", RECIPE_INTEGER, "Requests computed at a time" },
    { "max_num_batched_tokens", "arguments.--max-num-batched-tokens", RECIPE_INTEGER,
      "Tokens computed at a time" },
    { "gpu_memory_utilization", "arguments.--gpu-memory-utilization", RECIPE_NUMBER,
      "Share of the memory that the engine takes" },
    { "kv_cache_dtype", "arguments.--kv-cache-dtype", RECIPE_CHOICE, "Format of the KV cache" },
    { "num_speculative_tokens", "arguments.--speculative-config.num_speculative_tokens",
      RECIPE_INTEGER, "Tokens drafted at a time" },
    { "ctx_size", "arguments.--ctx-size", RECIPE_INTEGER, "Tokens of a context (llama.cpp)" },
    { "parallel", "arguments.--parallel", RECIPE_INTEGER, "Requests at a time (llama.cpp)" },
    { "context_length", "environment.OLLAMA_CONTEXT_LENGTH", RECIPE_CHOICE,
      "Tokens of a context (Ollama)" },
    { "min_instances", "scale.min", RECIPE_INTEGER, "Instances at least" },
    { "max_instances", "scale.max", RECIPE_INTEGER, "Instances at most" },
    { "concurrency", "scale.concurrency", RECIPE_INTEGER, "Requests at a time for one instance" },
    { "disk_gb", "disk_gb", RECIPE_INTEGER, "Disk of the machine, in GB" },
    { 0 },
};

const struct recipe_opening *recipe_opening_find(const char *name)
{
    for (size_t i = 0; recipe_openings[i].name != NULL; i++)
        if (strcmp(recipe_openings[i].name, name) == 0)
            return &recipe_openings[i];
    return NULL;
}
