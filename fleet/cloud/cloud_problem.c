/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/cloud/cloud_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"

#define SENTENCE_BYTES 260
#define WORD_BYTES 90
#define CAUSES_MAX 3
#define LONGEST_WAIT_S 3600

/* The gRPC codes, by number. */
static const struct code {
    long status; /* the HTTP status that corresponds to the code */
    const char *name;
} codes[] = {
    [1] = { 499, "CANCELLED" },           [2] = { 500, "UNKNOWN" },
    [3] = { 400, "INVALID_ARGUMENT" },    [4] = { 504, "DEADLINE_EXCEEDED" },
    [5] = { 404, "NOT_FOUND" },           [6] = { 409, "ALREADY_EXISTS" },
    [7] = { 403, "PERMISSION_DENIED" },   [8] = { 429, "RESOURCE_EXHAUSTED" },
    [9] = { 400, "FAILED_PRECONDITION" }, [10] = { 409, "ABORTED" },
    [11] = { 400, "OUT_OF_RANGE" },       [12] = { 501, "UNIMPLEMENTED" },
    [13] = { 500, "INTERNAL" },           [14] = { 503, "UNAVAILABLE" },
    [15] = { 500, "DATA_LOSS" },          [16] = { 401, "UNAUTHENTICATED" },
};
#define CODES ((int64_t)(sizeof codes / sizeof codes[0]))

long cloud_problem_status_of_code(int64_t code)
{
    return code > 0 && code < CODES ? codes[code].status : 500;
}

static void add_foreign(struct text *out, const char *foreign, size_t limit)
{
    text_add_printable(out, foreign, strlen(foreign), limit);
}

/* Copies a cloud's error code if it fits and has only letters, digits and '_'; otherwise leaves
 * `out` unchanged. */
static void copy_code(char out[64], const char *foreign)
{
    size_t length =
        strspn(foreign, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

    if (length > 0 && length < 64 && foreign[length] == '\0')
        text_copy(out, 64, foreign);
}

/* Reads "30s" or "1.5s". Returns the seconds, rounded up and at most LONGEST_WAIT_S; -1 if the
 * text is not a duration. */
static int64_t read_duration(const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || strcmp(end, "s") != 0 || !(seconds >= 0))
        return -1;
    return seconds < LONGEST_WAIT_S ? (int64_t)(seconds + 0.999) : LONGEST_WAIT_S;
}

/* ---- Google ---- */

/* Advice for well-known values of `reason` in an ErrorInfo detail. */
static const struct advice {
    const char *reason, *sentence;
    /* the member of the detail's metadata whose value replaces %s; NULL: the sentence has no %s */
    const char *member;
} advices[] = {
    { "SERVICE_DISABLED", "enable the API: gcloud services enable %s", "service" },
    { "IAM_PERMISSION_DENIED", "the credential lacks the permission %s", "permission" },
    { "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
      "the machine's access scopes do not include cloud-platform", NULL },
    { "BILLING_DISABLED", "the project has no billing account", NULL },
    { "CONSUMER_INVALID", "there is no such project, or the credential is not allowed to see it",
      NULL },
    { "USER_PROJECT_DENIED", "the credential is not allowed to use the project's quota", NULL },
    { "RATE_LIMIT_EXCEEDED", "too many requests within a minute", NULL },
};

static void add_advice(const json_t *detail, struct cloud_problem *out, struct text *text)
{
    const char *reason = json_get_text(detail, "reason", "");
    const json_t *metadata = json_object_get(detail, "metadata");

    copy_code(out->kind, reason);
    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++) {
        const char *sentence = advices[i].sentence, *placeholder = strstr(sentence, "%s");

        if (strcmp(reason, advices[i].reason) != 0)
            continue;
        text_add(text, "; ");
        text_add_bytes(text, sentence,
                       placeholder != NULL ? (size_t)(placeholder - sentence) : strlen(sentence));
        if (advices[i].member != NULL)
            add_foreign(text, json_get_text(metadata, advices[i].member, "(not named)"),
                        WORD_BYTES);
    }
}

/* Reads [{"field": ..., "description": ...}] or [{"subject": ..., "description": ...}]. `subject`
 * is the member that names what the violation is about. */
static void add_violations(const json_t *list, const char *subject, struct text *text)
{
    const json_t *violation;
    size_t i;

    json_array_foreach(list, i, violation) {
        const char *what = json_get_text(violation, "description", "");

        if (i == CAUSES_MAX)
            return;
        if (strstr(text_string(text), what) != NULL) /* already in the text, or "" */
            continue;
        text_add(text, "; ");
        add_foreign(text, json_get_text(violation, subject, ""), WORD_BYTES);
        text_add(text, ": ");
        add_foreign(text, what, WORD_BYTES);
    }
}

static void read_detail(const json_t *detail, struct cloud_problem *out, struct text *text)
{
    const char *type = json_get_text(detail, "@type", "");
    const char *name = strrchr(type, '.');

    if (name == NULL)
        return;
    if (strcmp(name, ".ErrorInfo") == 0)
        add_advice(detail, out, text);
    else if (strcmp(name, ".BadRequest") == 0)
        add_violations(json_object_get(detail, "fieldViolations"), "field", text);
    else if (strcmp(name, ".QuotaFailure") == 0)
        add_violations(json_object_get(detail, "violations"), "subject", text);
    else if (strcmp(name, ".RetryInfo") == 0)
        out->retry_after_s = read_duration(json_get_text(detail, "retryDelay", ""));
}

/* Adds the name and, if known, the unit of the quota in a Cloud Run message: "... Quota violated:
 * NAME requested: 60000 allowed: 20000". */
static void add_quota(const char *message, struct text *text)
{
    const char *name = strstr(message, "Quota violated: "), *end;

    if (name == NULL)
        return;
    name += strlen("Quota violated: ");
    end = name + strcspn(name, " ");
    text_add(text, "; the quota is ");
    text_add_printable(text, name, (size_t)(end - name), WORD_BYTES);
    if (strncmp(name, "CpuAlloc", 8) == 0)
        text_add(text, " (thousandths of a vCPU)");
    else if (strncmp(name, "MemAlloc", 8) == 0)
        text_add(text, " (bytes)");
    else if (strncmp(name, "NvidiaRtxPro6000", 16) == 0)
        text_add(text, " (some regions count in thousandths of a GPU)");
}

/* Reads {"code":, "message":, "status":, "details": [...], "errors": [{"reason":}]} from an answer
 * or an operation, or {"errors": [{"code": "QUOTA_EXCEEDED", ...}]} from a Compute Engine
 * operation. */
static void read_google(const json_t *error, struct cloud_problem *out, struct text *text)
{
    const json_t *first = json_array_get(json_object_get(error, "errors"), 0), *detail;
    const char *message = json_get_text(error, "message", json_get_text(first, "message", ""));
    int64_t code = json_get_integer(error, "code", 0);
    size_t i;

    if (code > 0 && code < CODES)
        copy_code(out->kind, codes[code].name);
    copy_code(out->kind, json_get_text(first, "reason", json_get_text(first, "code", "")));
    copy_code(out->kind, json_get_text(error, "status", ""));
    add_foreign(text, message, SENTENCE_BYTES);
    json_array_foreach(json_object_get(error, "details"), i, detail)
        if (i < 16)
            read_detail(detail, out, text);
    add_quota(message, text);
}

/* Reads {"error": "invalid_grant", "error_description": ...} from the token endpoint. */
static void read_token_error(const json_t *body, struct cloud_problem *out, struct text *text)
{
    const char *code = json_get_text(body, "error", "");

    copy_code(out->kind, code);
    add_foreign(text, json_get_text(body, "error_description", code), SENTENCE_BYTES);
    if (strcmp(code, "invalid_grant") == 0)
        text_add(text, "; the key may have been deleted, or this machine's clock is wrong");
}

/* ---- Kubernetes ---- */

static void read_status(const json_t *body, struct cloud_problem *out, struct text *text)
{
    const json_t *details = json_object_get(body, "details"), *cause;
    const char *message = json_get_text(body, "message", "");
    int64_t wait_s = json_get_integer(details, "retryAfterSeconds", -1);
    size_t i;

    copy_code(out->kind, json_get_text(body, "reason", ""));
    add_foreign(text, message, SENTENCE_BYTES);
    json_array_foreach(json_object_get(details, "causes"), i, cause) {
        const char *what = json_get_text(cause, "message", "");

        if (i == CAUSES_MAX)
            break;
        if (strstr(message, what) != NULL)
            continue;
        text_add(text, "; ");
        add_foreign(text, json_get_text(cause, "field", ""), WORD_BYTES);
        text_add(text, ": ");
        add_foreign(text, what, WORD_BYTES);
    }
    if (wait_s > 0)
        out->retry_after_s = wait_s < LONGEST_WAIT_S ? wait_s : LONGEST_WAIT_S;
}

static bool is_status(const json_t *body)
{
    return strcmp(json_get_text(body, "kind", ""), "Status") == 0;
}

/* ---- Any error body ---- */

void cloud_problem_read(long status, const json_t *body, struct cloud_problem *out)
{
    const json_t *error = json_object_get(body, "error");
    TEXT_AUTO text = { 0 };

    *out = (struct cloud_problem){ .retry_after_s = -1 };
    if (is_status(body))
        read_status(body, out, &text);
    else if (json_is_object(error))
        read_google(error, out, &text);
    else if (json_is_string(error))
        read_token_error(body, out, &text);
    else if (json_is_object(body) && json_object_get(body, "message") != NULL)
        read_google(body, out, &text); /* the error object of an operation */
    if (text.length == 0)
        text_addf(&text, "HTTP status %ld without a reason", status);
    text_copy(out->message, sizeof out->message, text_string(&text));
}

/* Kubernetes answers 500 without a reason if a server-side apply has an unknown field: the request
 * is wrong, and a retry does not help. */
static bool is_wrong_request(long status, const json_t *body)
{
    return status == 500 && is_status(body) && json_get_text(body, "reason", "")[0] == '\0';
}

/* Compute Engine answers 403 instead of 429 if there are too many requests within a minute. If a
 * 403 has any other reason, such as another exceeded quota, waiting does not help. */
static bool is_rate_limited(long status, const json_t *body)
{
    const json_t *errors = json_object_get(json_object_get(body, "error"), "errors");
    const char *reason = json_get_text(json_array_get(errors, 0), "reason", "");

    return status == 429
           || (status == 403
               && (strcmp(reason, "rateLimitExceeded") == 0
                   || strcmp(reason, "userRateLimitExceeded") == 0));
}

enum cloud_verdict cloud_problem_judge(long status, const json_t *body, bool is_read)
{
    if (status >= 200 && status < 300)
        return CLOUD_DONE;
    if (is_rate_limited(status, body))
        return CLOUD_AGAIN;
    if (status == 408 || status == 500 || status == 502 || status == 503 || status == 504)
        return is_wrong_request(status, body) ? CLOUD_REFUSED : is_read ? CLOUD_AGAIN : CLOUD_LOST;
    return CLOUD_REFUSED;
}
