/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/recipes/recipe_members.h"

#include <string.h>

#include "base/json/json.h"

#define SHOWN_BYTES 60
#define VALUE_DEPTH 4

/* ---- Checks for maps, whose members can have any name ---- */

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

/* Returns true for printable strings, numbers, booleans, and lists and objects of them, unless one
 * is too long, too large or nested too deeply. */
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

/* These are refused, because anyone who can list processes, or read the platform's description of
 * the machine, would see the credential. */
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
                         "the recipe's \"%s\" has \"%s\": credentials must not be arguments; "
                         "opsbrain itself gives the engine its key",
                         path, name);
    if (!is_plain(value, VALUE_DEPTH))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s.%s\" must be a string of at most 512 bytes, a number, "
                         "true (for an argument without a value), or a list or object, which is "
                         "passed as JSON",
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
                         "the recipe's \"%s\" has %s, which decides what the machine runs: set it "
                         "in the image instead",
                         path, name);
    if (is_secret_reference(value))
        return true;
    if (recipe_sounds_secret(name, strlen(name)))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s.%s\" would hold a credential: name a secret in the "
                         "provider's store instead, such as {\"secret\": \"hf-token\"}",
                         path, name);
    if (!is_printable(value, 0, 512))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"%s.%s\" must be a string of at most 512 bytes, or "
                         "{\"secret\": NAME}",
                         path, name);
    return true;
}

/* Accepts a range, {"least": 1, "most": 8}, for a number, and {"choices": ["auto", "fp8"]} for
 * other values. */
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
                         "the recipe's \"%s\" opens \"%.*s\": only the names that docs/recipes.md "
                         "lists can be opened to overrides",
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
                         opening->value == RECIPE_CHOICE ? "{\"choices\": [STRING, ...]}"
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
      .help =
          "\"hub\" (the engine downloads the weights), \"bucket\" (the target's bucket, mounted or "
          "read) or \"mounted\" (a read-only folder on the machine)" },
    { "repository", RECIPE_WORD, .low = 1, .high = 255,
      .help = "The weights' repository on Hugging Face" },
    { "folder", RECIPE_WORD, .low = 1, .high = 255,
      .help = "The weights' folder in the bucket or on the machine" },
    { "mounted_at", RECIPE_WORD, .low = 2, .high = 255,
      .help = "The path in the container at which the bucket or folder is mounted, read-only" },
    { "copied_to_memory", RECIPE_BOOLEAN,
      .help = "Whether the weights are copied to a tmpfs before the engine starts" },
    { 0 },
};

static const struct recipe_member probe[] = {
    { "path", RECIPE_WORD, .low = 1, .high = 128,
      .help = "Path for an HTTP GET; without it, the probe only opens a TCP connection" },
    { "initial_s", RECIPE_INTEGER, .high = 3600, .help = "Seconds before the first attempt" },
    { "period_s", RECIPE_INTEGER, .required = true, .low = 1, .high = 3600,
      .help = "Seconds between attempts" },
    { "timeout_s", RECIPE_INTEGER, .low = 1, .high = 3600,
      .help = "Time limit for one attempt, in seconds" },
    { "failures", RECIPE_INTEGER, .required = true, .low = 1, .high = 1000,
      .help = "Failed attempts after which the probe fails" },
    { 0 },
};

static const struct recipe_member probes[] = {
    { "startup", RECIPE_OBJECT, .members = probe, .help = "Repeated until the model is loaded" },
    { "readiness", RECIPE_OBJECT, .members = probe,
      .help = "Decides whether the server gets requests" },
    { "liveness", RECIPE_OBJECT, .members = probe,
      .help = "Decides whether the server is restarted" },
    { 0 },
};

static const struct recipe_member licence[] = {
    { "name", RECIPE_TEXT, .required = true, .low = 1, .high = 128, .help = "The licence's name" },
    { "accept_at", RECIPE_WORD, .low = 8, .high = 255,
      .help = "URL where a user accepts the licence, if the hub requires that" },
    { 0 },
};

static const struct recipe_member host[] = {
    { "cpu", RECIPE_INTEGER, .low = 1, .high = 1024, .help = "Number of virtual CPUs" },
    { "memory_gib", RECIPE_INTEGER, .low = 1, .high = 16384, .help = "Main memory, in GiB" },
    { "shared_memory_gib", RECIPE_INTEGER, .low = 1, .high = 16384,
      .help = "Size of /dev/shm, in GiB" },
    { "machine", RECIPE_NAME, .low = 1, .high = 63, .help = "Machine type, such as g2-standard-4" },
    { 0 },
};

static const struct recipe_member scale[] = {
    { "min", RECIPE_INTEGER, .high = 1000, .help = "Minimum number of instances" },
    { "max", RECIPE_INTEGER, .low = 1, .high = 1000, .help = "Maximum number of instances" },
    { "concurrency", RECIPE_INTEGER, .low = 1, .high = 1000,
      .help = "Requests that one instance handles at a time" },
    { 0 },
};

static const struct recipe_member cost[] = {
    { "item", RECIPE_NAME, .required = true, .low = 1, .high = 63,
      .help = "An item in catalog/prices.json" },
    { "quantity", RECIPE_NUMBER, .required = true, .low = 0.001, .high = 1e6,
      .help = "Units of the item that one replica uses" },
    { 0 },
};

const struct recipe_member recipe_members[] = {
    { "name", RECIPE_NAME, .required = true, .low = 1, .high = 63,
      .help = "The recipe's name, which is also its file's name" },
    { "revision", RECIPE_INTEGER, .required = true, .low = 1, .high = 1e9,
      .help = "A number that every change increments" },
    { "title", RECIPE_TEXT, .required = true, .low = 5, .high = 120,
      .help = "The title that users see" },
    { "provider", RECIPE_NAME, .required = true, .low = 1, .high = 31,
      .help = "The platform that the recipe is for; a member with the platform's name has settings "
              "for this platform alone" },
    { "engine", RECIPE_NAME, .required = true, .low = 1, .high = 31, .help = "vllm, ollama, ..." },
    { "model", RECIPE_WORD, .required = true, .low = 1, .high = 255,
      .help = "The model, as the engine loads it" },
    { "quantization", RECIPE_CHOICE, .choices = formats,
      .help = "Number format of the model's weights" },
    { "image", RECIPE_WORD, .low = 1, .high = 511, .help = "Container image, by digest or tag" },
    { "program", RECIPE_WORD, .low = 2, .high = 511,
      .help = "Instead of an image: an absolute path on this machine" },
    { "service", RECIPE_NAME, .low = 1, .high = 31,
      .help = "Instead of an image or a program: a service that is already running on this machine "
              "and loads the model; only ollama" },
    { "command", RECIPE_WORDS, .low = 1, .high = 16,
      .help = "Replaces the image's own command; also holds arguments without a name" },
    { "arguments", RECIPE_MAP, .high = 64, .judge = judge_argument,
      .help =
          "A value for each argument's name; true: the argument has no value; a list or object is "
          "passed as JSON; {deployment} stands for the deployment's name" },
    { "environment", RECIPE_MAP, .high = 64, .judge = judge_variable,
      .help = "A string for each variable's name, or {\"secret\": NAME} for a secret in the "
              "provider's store" },
    { "port", RECIPE_INTEGER, .required = true, .low = 1, .high = 65535,
      .help = "The port that the server listens on" },
    { "weights", RECIPE_OBJECT, .required = true, .members = weights,
      .help = "Where the engine gets the weights" },
    { "probes", RECIPE_OBJECT, .members = probes,
      .help = "How the platform checks that the server is alive" },
    { "disk_gb", RECIPE_INTEGER, .low = 1, .high = 65536,
      .help = "Size of the machine's disk, in GB" },
    { "licence", RECIPE_OBJECT, .required = true, .members = licence,
      .help = "The model's licence" },
    { "hardware", RECIPE_NAME, .low = 1, .high = 63,
      .help =
          "The accelerator's name in catalog/hardware.json; without it, whatever the machine has" },
    { "chips", RECIPE_INTEGER, .low = 1, .high = 1024,
      .help = "Number of accelerators for one replica" },
    { "host", RECIPE_OBJECT, .members = host, .help = "The machine that has the accelerator" },
    { "kinds", RECIPE_WORDS, .low = 1, .high = 8, .choices = kinds_of_price,
      .help =
          "How the hardware can be bought: on_demand, spot, flex_start, reserved; the first is the "
          "default" },
    { "places", RECIPE_WORDS, .low = 1, .high = 32,
      .help = "Regions or zones that have the hardware; the first is the default" },
    { "scale", RECIPE_OBJECT, .members = scale,
      .help = "How many instances can run, and how many requests each handles at a time" },
    { "cost", RECIPE_OBJECTS, .high = 16, .members = cost,
      .help = "What one replica costs; []: nothing; if missing: not known" },
    { "overrides", RECIPE_MAP, .high = 32, .judge = judge_override,
      .help = "The members that a plan can override, each with a range or with choices" },
    { "notes", RECIPE_TEXTS, .high = 16, .help = "What to know before using the recipe" },
    { "status", RECIPE_CHOICE, .required = true, .choices = statuses,
      .help =
          "\"verified\" (somebody ran it and recorded the result), \"reported\" (the source only "
          "says that it works) or \"cannot_work\" (it is known not to work; \"reason\" says why)" },
    { "reason", RECIPE_TEXT, .low = 5, .high = 500, .help = "Why the recipe cannot work" },
    { "source", RECIPE_TEXT, .required = true, .low = 5, .high = 500,
      .help = "Where the recipe comes from" },
    { "as_of", RECIPE_DATE, .required = true, .help = "The date of the source" },
    { 0 },
};

const struct recipe_opening recipe_openings[] = {
    { "max_model_len", "arguments.--max-model-len", RECIPE_INTEGER, "Maximum tokens in a context" },
    { "max_num_seqs", "arguments.--max-num-seqs", RECIPE_INTEGER,
      "Maximum requests computed at a time" },
    { "max_num_batched_tokens", "arguments.--max-num-batched-tokens", RECIPE_INTEGER,
      "Maximum tokens computed at a time" },
    { "gpu_memory_utilization", "arguments.--gpu-memory-utilization", RECIPE_NUMBER,
      "Share of the accelerator's memory that the engine uses" },
    { "kv_cache_dtype", "arguments.--kv-cache-dtype", RECIPE_CHOICE, "Format of the KV cache" },
    { "num_speculative_tokens", "arguments.--speculative-config.num_speculative_tokens",
      RECIPE_INTEGER, "Tokens drafted at a time" },
    { "ctx_size", "arguments.--ctx-size", RECIPE_INTEGER,
      "Maximum tokens in a context (llama.cpp)" },
    { "parallel", "arguments.--parallel", RECIPE_INTEGER, "Requests at a time (llama.cpp)" },
    { "context_length", "environment.OLLAMA_CONTEXT_LENGTH", RECIPE_CHOICE,
      "Maximum tokens in a context (Ollama)" },
    { "min_instances", "scale.min", RECIPE_INTEGER, "Minimum number of instances" },
    { "max_instances", "scale.max", RECIPE_INTEGER, "Maximum number of instances" },
    { "concurrency", "scale.concurrency", RECIPE_INTEGER,
      "Requests that one instance handles at a time" },
    { "disk_gb", "disk_gb", RECIPE_INTEGER, "Size of the machine's disk, in GB" },
    { 0 },
};

const struct recipe_opening *recipe_opening_find(const char *name)
{
    for (size_t i = 0; recipe_openings[i].name != NULL; i++)
        if (strcmp(recipe_openings[i].name, name) == 0)
            return &recipe_openings[i];
    return NULL;
}
