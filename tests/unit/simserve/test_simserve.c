/* SPDX-License-Identifier: Apache-2.0 */
/* The API of simserve: the form of its answers, how it counts tokens, what it refuses, and how it
 * reads requests. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "tests/simserve/harness/simserve.h"

static int start(void **state)
{
    static struct simserve server;

    server = simserve_start((const char *[]){ "--ttft-ms", "1", "--step-ms", "1", "--max-model-len",
                                              "4096", "--api-key", "sesame", NULL });
    *state = &server;
    return 0;
}

static int stop(void **state)
{
    return simserve_stop(*state);
}

#define KEY "Authorization: Bearer sesame\r\n"

/* Sends `body` with POST, or sends a GET if `body` is NULL. The answer must have the status
 * `status`. Returns its JSON, which the caller releases. */
static json_t *ask(void **state, const char *path, const char *body, int status)
{
    ANSWER_AUTO answer = { 0 };
    struct error error;
    json_t *out = NULL;

    simserve_call(*state, body ? "POST" : "GET", path, KEY, body ? body : "", &answer);
    assert_int_equal(answer.status, status);
    assert_true(answer.complete);
    assert_true(json_parse(text_string(&answer.body), answer.body.length, &out, &error));
    return out;
}

/* Sends `body`. The answer must be a stream; returns its events, which the caller releases. */
static json_t *stream(void **state, const char *path, const char *body)
{
    ANSWER_AUTO answer = { 0 };

    simserve_call(*state, "POST", path, KEY, body, &answer);
    assert_int_equal(answer.status, 200);
    assert_true(answer.complete);
    assert_non_null(strstr(answer.head.data, "content-type: text/event-stream"));
    return simserve_events(&answer.body);
}

static const char *refusal(void **state, const char *path, const char *body, int status)
{
    static char message[512];
    json_auto_t *answer = ask(state, path, body, status);
    const json_t *error = json_object_get(answer, "error");

    assert_int_equal(json_get_integer(error, "code", 0), status);
    text_copy(message, sizeof message, json_get_text(error, "message", ""));
    return message;
}

static const json_t *choice_of(const json_t *event)
{
    return json_array_get(json_object_get(event, "choices"), 0);
}

static const char *content_of(const json_t *event)
{
    return json_get_text(json_object_get(choice_of(event), "delta"), "content", "(none)");
}

static void answers_health_and_version(void **state)
{
    json_auto_t *version = simserve_json(*state, "GET", "/version", "", 200);
    ANSWER_AUTO health = { 0 };
    ANSWER_AUTO ping = { 0 };

    assert_string_equal(json_get_text(version, "version", ""), "0.26.0");
    simserve_call(*state, "GET", "/health", "", "", &health);
    simserve_call(*state, "GET", "/ping", "", "", &ping);
    assert_int_equal(health.status, 200);
    assert_int_equal(ping.status, 200);
}

static void lists_its_model_with_the_context_length(void **state)
{
    json_auto_t *body = ask(state, "/v1/models", NULL, 200);
    const json_t *model = json_array_get(json_object_get(body, "data"), 0);

    assert_string_equal(json_get_text(model, "id", ""), "simserve/toy");
    assert_int_equal(json_get_integer(model, "max_model_len", 0), 4096);
}

static void requires_the_key_only_under_v1(void **state)
{
    ANSWER_AUTO without = { 0 };
    ANSWER_AUTO wrong = { 0 };

    simserve_call(*state, "GET", "/v1/models", "", "", &without);
    simserve_call(*state, "GET", "/v1/models", "Authorization: Bearer open\r\n", "", &wrong);
    assert_int_equal(without.status, 401);
    assert_int_equal(wrong.status, 401);
    assert_string_equal(wrong.body.data, "{\"error\":\"Unauthorized\"}");
    json_decref(simserve_json(*state, "GET", "/version", "", 200));
}

static void distinguishes_404_from_405(void **state)
{
    json_decref(simserve_json(*state, "GET", "/nothing", "", 404));
    json_decref(simserve_json(*state, "GET", "/tokenize", "", 405));
}

static void counts_a_long_word_as_one_token_per_8_bytes(void **state)
{
    json_auto_t *body = ask(state, "/tokenize", "{\"prompt\":\" a  12345678 123456789\\n\"}", 200);

    assert_int_equal(json_get_integer(body, "count", 0), 4);
    assert_int_equal(json_array_size(json_object_get(body, "tokens")), 4);
    assert_int_equal(json_get_integer(body, "max_model_len", 0), 4096);
}

static void adds_the_chat_template_to_messages(void **state)
{
    json_auto_t *body =
        ask(state, "/tokenize",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"one two\"},"
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"three\"}]}]}",
            200);

    assert_int_equal(json_get_integer(body, "count", 0), 13);
}

static char *tokens_of(void **state, const char *body)
{
    json_auto_t *answer = ask(state, "/tokenize", body, 200);

    return json_write(json_object_get(answer, "tokens"));
}

static void converts_canonical_ids_to_words_and_back(void **state)
{
    json_auto_t *text = ask(state, "/detokenize", "{\"tokens\":[0,131071,16]}", 200);
    FREE_AUTO char *ids = tokens_of(state, "{\"prompt\":\"w00000 w1ffff w00010\"}");

    assert_string_equal(json_get_text(text, "prompt", ""), "w00000 w1ffff w00010");
    assert_string_equal(ids, "[0,131071,16]");
}

static void decodes_text_it_has_seen(void **state)
{
    json_auto_t *tokens = ask(state, "/tokenize", "{\"prompt\":\"grün  is the tree\"}", 200);
    json_auto_t *request = json_pack("{s:O}", "tokens", json_object_get(tokens, "tokens"));
    char *body = json_write(request);
    json_auto_t *text = ask(state, "/detokenize", body, 200);

    assert_string_equal(json_get_text(text, "prompt", ""), "grün is the tree");
    free(body);
}

static void never_splits_a_character(void **state)
{
    json_auto_t *tokens = ask(state, "/tokenize", "{\"prompt\":\"1234567ü9\"}", 200);

    assert_int_equal(json_get_integer(tokens, "count", 0), 2);
}

static void refuses_ids_outside_the_vocabulary(void **state)
{
    assert_non_null(strstr(refusal(state, "/detokenize", "{\"tokens\":[262144]}", 400),
                           "262144 is out of vocabulary"));
    refusal(state, "/detokenize", "{\"tokens\":[-1]}", 400);
    refusal(state, "/detokenize", "{\"tokens\":\"x\"}", 400);
}

static void streams_chat_as_vllm_does(void **state)
{
    json_auto_t *events =
        stream(state, "/v1/chat/completions",
               "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"max_tokens\":3,"
               "\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
    const json_t *role = json_array_get(events, 0), *finish = json_array_get(events, 4);
    const json_t *usage_event = json_array_get(events, 5);
    const json_t *usage = json_object_get(usage_event, "usage");

    /* role, 3 content chunks, finish, usage, [DONE] */
    assert_int_equal(json_array_size(events), 7);
    assert_string_equal(json_get_text(json_object_get(choice_of(role), "delta"), "role", ""),
                        "assistant");
    assert_string_equal(content_of(role), "");
    for (size_t i = 1; i <= 3; i++) {
        assert_true(strlen(content_of(json_array_get(events, i))) > 1);
        assert_true(
            json_is_null(json_object_get(choice_of(json_array_get(events, i)), "finish_reason")));
    }
    assert_string_equal(json_get_text(choice_of(finish), "finish_reason", ""), "length");
    assert_string_equal(json_get_text(role, "object", ""), "chat.completion.chunk");
    assert_int_equal(json_array_size(json_object_get(usage_event, "choices")), 0);
    assert_int_equal(json_get_integer(usage, "prompt_tokens", 0), 11);
    assert_int_equal(json_get_integer(usage, "completion_tokens", 0), 3);
    assert_int_equal(json_get_integer(usage, "total_tokens", 0), 14);
    assert_string_equal(json_string_value(json_array_get(events, 6)), "[DONE]");
}

static void accepts_token_ids_and_counts_them_exactly(void **state)
{
    json_auto_t *events = stream(state, "/v1/completions",
                                 "{\"prompt\":[5,6,7,8],\"max_tokens\":2,\"stream\":true,"
                                 "\"stream_options\":{\"include_usage\":true}}");
    const json_t *usage = json_object_get(json_array_get(events, 3), "usage");

    assert_int_equal(json_array_size(events), 5); /* 2 content chunks, finish, usage, [DONE] */
    assert_true(strlen(json_get_text(choice_of(json_array_get(events, 0)), "text", "")) > 0);
    assert_int_equal(json_get_integer(usage, "prompt_tokens", 0), 4);
}

static void reports_usage_in_every_chunk_if_requested(void **state)
{
    json_auto_t *events =
        stream(state, "/v1/completions",
               "{\"prompt\":\"a\",\"max_tokens\":3,\"stream\":true,\"stream_options\":"
               "{\"include_usage\":true,\"continuous_usage_stats\":true}}");

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(json_get_integer(json_object_get(json_array_get(events, i), "usage"),
                                          "completion_tokens", 0),
                         i + 1);
}

static void omits_usage_unless_requested(void **state)
{
    json_auto_t *events =
        stream(state, "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":2,\"stream\":true}");
    size_t i;
    json_t *event;

    json_array_foreach(events, i, event) {
        assert_null(json_object_get(event, "usage"));
    }
    assert_int_equal(i, 4);
}

static void answers_with_one_body_unless_a_stream_is_requested(void **state)
{
    json_auto_t *chat = ask(
        state, "/v1/chat/completions",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_completion_tokens\":5}", 200);
    json_auto_t *text = ask(state, "/v1/completions", "{\"prompt\":\"a\"}", 200);
    const char *content = json_get_text(json_object_get(choice_of(chat), "message"), "content", "");
    json_auto_t *request = json_pack("{s:s}", "prompt", content);
    char *body = json_write(request);
    json_auto_t *counted = ask(state, "/tokenize", body, 200);

    assert_int_equal(json_get_integer(counted, "count", 0), 5);
    assert_int_equal(json_get_integer(json_object_get(chat, "usage"), "completion_tokens", 0), 5);
    assert_int_equal(json_get_integer(json_object_get(text, "usage"), "completion_tokens", 0), 16);
    free(body);
}

static void ends_at_natural_tokens_or_min_tokens_unless_eos_is_ignored(void **state)
{
    json_auto_t *natural =
        ask(state, "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":200}", 200);
    json_auto_t *least = ask(state, "/v1/completions",
                             "{\"prompt\":\"a\",\"max_tokens\":200,\"min_tokens\":150}", 200);
    json_auto_t *ignored = ask(state, "/v1/completions",
                               "{\"prompt\":\"a\",\"max_tokens\":200,\"ignore_eos\":true}", 200);

    assert_int_equal(json_get_integer(json_object_get(natural, "usage"), "completion_tokens", 0),
                     128);
    assert_string_equal(json_get_text(choice_of(natural), "finish_reason", ""), "stop");
    assert_int_equal(json_get_integer(json_object_get(least, "usage"), "completion_tokens", 0),
                     150);
    assert_int_equal(json_get_integer(json_object_get(ignored, "usage"), "completion_tokens", 0),
                     200);
    assert_string_equal(json_get_text(choice_of(ignored), "finish_reason", ""), "length");
}

static void writes_words_outside_ascii_if_configured(void **state)
{
    static const char path[] = "/sim/config";
    json_auto_t *text = NULL, *counted = NULL, *request = NULL;
    FREE_AUTO char *body = NULL;

    json_decref(simserve_json(*state, "POST", path, "{\"unicode_output\":true}", 200));
    text = ask(state, "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":30}", 200);
    json_decref(simserve_json(*state, "POST", path, "{\"unicode_output\":false}", 200));
    request = json_pack("{s:s}", "prompt", json_get_text(choice_of(text), "text", ""));
    body = json_write(request);
    counted = ask(state, "/tokenize", body, 200);
    assert_non_null(strstr(body, "naïve"));
    assert_int_equal(json_get_integer(counted, "count", 0), 30);
}

static void refuses_wrong_and_unsupported_requests(void **state)
{
    static const char path[] = "/v1/completions";

    assert_string_equal(refusal(state, path, "{\"prompt\":\"a b\",\"max_tokens\":4095}", 400),
                        "This model's maximum context length is 4096 tokens. However, you "
                        "requested 4097 tokens (2 in the prompt, 4095 in the completion). Please "
                        "reduce the length of the prompt or completion.");
    assert_string_equal(refusal(state, path, "{\"model\":\"gpt\",\"prompt\":\"a\"}", 404),
                        "The model `gpt` does not exist.");
    refusal(state, path, "{\"prompt\":", 400);
    refusal(state, path, "[]", 400);
    refusal(state, path, "{}", 400);
    refusal(state, path, "{\"prompt\":[]}", 400);
    refusal(state, path, "{\"prompt\":\"\"}", 400);
    refusal(state, path, "{\"prompt\":\"a\",\"max_tokens\":0}", 400);
    refusal(state, path, "{\"prompt\":\"a\",\"n\":2}", 400);
    refusal(state, path, "{\"prompt\":\"a\",\"stream_options\":{\"include_usage\":true}}", 400);
    refusal(state, "/v1/chat/completions", "{\"messages\":[]}", 400);
    refusal(state, "/v1/chat/completions", "{\"messages\":[{\"content\":\"a\"}]}", 400);
}

static void keeps_the_clients_request_id(void **state)
{
    ANSWER_AUTO answer = { 0 };
    json_auto_t *truth = NULL;

    simserve_call(*state, "POST", "/v1/completions", KEY "X-Request-Id: cell-3.7\r\n",
                  "{\"prompt\":\"a\",\"max_tokens\":1}", &answer);
    truth = simserve_truth(*state, "cell-3.7");
    assert_non_null(strstr(answer.body.data, "\"id\":\"cmpl-cell-3.7\""));
    assert_int_equal(json_get_integer(truth, "output_tokens", 0), 1);
}

static void reads_a_request_byte_by_byte(void **state)
{
    static const char request[] = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    ANSWER_AUTO answer = { 0 };
    int fd = simserve_connect(*state);

    for (size_t i = 0; i < sizeof request - 1; i++)
        simserve_write(fd, request + i, 1);
    simserve_receive(fd, &answer);
    assert_int_equal(answer.status, 200);
    close(fd);
}

static void reads_a_chunked_body_with_a_trailer_and_continues_after_it(void **state)
{
    static const char request[] = "POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "a\r\n{\"prompt\":\r\n6;x=y\r\n\"a b\"}\r\n0\r\nSum: 1\r\n\r\n";
    ANSWER_AUTO first = { 0 };
    ANSWER_AUTO second = { 0 };
    int fd = simserve_connect(*state);

    for (size_t i = 0; i < sizeof request - 1; i++)
        simserve_write(fd, request + i, 1);
    simserve_receive(fd, &first);
    assert_non_null(strstr(first.body.data, "\"count\":2"));
    simserve_send(fd, "GET", "/version", "", "");
    simserve_receive(fd, &second);
    assert_non_null(strstr(second.body.data, "0.26.0"));
    close(fd);
}

static void sends_100_continue_if_expected(void **state)
{
    static const char head[] =
        "POST /tokenize HTTP/1.1\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n";
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    char got[sizeof interim] = { 0 };
    ANSWER_AUTO answer = { 0 };
    int fd = simserve_connect(*state);

    simserve_write(fd, head, sizeof head - 1);
    assert_int_equal(recv(fd, got, sizeof interim - 1, MSG_WAITALL), sizeof interim - 1);
    assert_string_equal(got, interim);
    simserve_write(fd, "{\"prompt\":\"a\"}", 14);
    simserve_receive(fd, &answer);
    assert_int_equal(answer.status, 200);
    close(fd);
}

static void refuses_what_is_not_http_or_is_too_large(void **state)
{
    ANSWER_AUTO nonsense = { 0 };
    ANSWER_AUTO large = { 0 };
    int fd = simserve_connect(*state);

    simserve_write(fd, "ceci n'est pas\r\n\r\n", 18);
    simserve_receive(fd, &nonsense);
    close(fd);
    fd = simserve_connect(*state);
    simserve_write(fd, "POST /tokenize HTTP/1.1\r\nContent-Length: 8388609\r\n\r\n", 52);
    simserve_receive(fd, &large);
    close(fd);
    assert_int_equal(nonsense.status, 400);
    assert_int_equal(large.status, 413);
}

static void accepts_a_body_of_almost_eight_mebibytes(void **state)
{
    TEXT_AUTO body = { 0 };
    json_auto_t *answer = NULL;
    size_t words = 0;

    text_add(&body, "{\"prompt\":\"");
    for (; body.length < (8 << 20) - 64; words++)
        text_add(&body, "abcdefghijklmno ");
    text_add(&body, "\"}");
    answer = ask(state, "/tokenize", body.data, 200);
    assert_int_equal(json_get_integer(answer, "count", 0), 2 * words);
}

static size_t occurrences(const struct text *text, const char *part)
{
    size_t count = 0;

    for (const char *at = text_string(text); (at = strstr(at, part)); at++)
        count++;
    return count;
}

static void answers_pipelined_streams_one_after_the_other(void **state)
{
    static const char body[] = "{\"prompt\":\"a\",\"max_tokens\":3,\"stream\":true}";
    TEXT_AUTO both = { 0 };
    TEXT_AUTO raw = { 0 };
    struct answer reading = { 0 };
    int fd = simserve_connect(*state);

    for (int i = 0; i < 2; i++)
        text_addf(&both, "POST /v1/completions HTTP/1.1\r\n" KEY "Content-Length: %zu\r\n\r\n%s",
                  strlen(body), body);
    simserve_write(fd, both.data, both.length);
    while (occurrences(&raw, "[DONE]") < 2) {
        assert_true(simserve_read(fd, &raw, &reading));
        assert_true(occurrences(&raw, "HTTP/1.1 200") <= occurrences(&raw, "[DONE]") + 1);
    }
    close(fd);
}

static void refuses_wrong_flags_with_an_error_message(void **state)
{
    static const struct {
        const char *flags, *words;
    } cases[] = {
        { "--nothing", "unknown argument \"--nothing\"" },
        { "stray", "unknown argument \"stray\"" },
        { "--model", "--model needs a value" },
        { "--jitter 2", "\"jitter\" must be from 0 to 1, not 2" },
        { "--seed x", "\"seed\" must be a number, not \"x\"" },
        { "--blast maybe", "\"blast\" must be true or false" },
        { "--fault gremlins", "no fault named \"gremlins\"" },
        { "--fault internal/0", "name=probability (0 to 1) or name/period" },
        { "--listen 127.0.0.1", "must be an IPv4 address and a port" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[512], line[512] = { 0 };
        FILE *out;

        snprintf(command, sizeof command, "%s %s 2>&1", SIMSERVE, cases[i].flags);
        out = popen(command, "r");
        assert_non_null(fgets(line, sizeof line, out));
        assert_int_equal(WEXITSTATUS(pclose(out)), 1);
        if (strstr(line, cases[i].words) == NULL)
            fail_msg("%s: got %s, expected \"%s\"", cases[i].flags, line, cases[i].words);
    }
}

static void changes_all_settings_or_none(void **state)
{
    static const char path[] = "/sim/config";
    json_auto_t *changed =
        simserve_json(*state, "POST", path, "{\"jitter\":0.25,\"tokens_per_s\":500}", 200);
    json_auto_t *refused =
        simserve_json(*state, "POST", path, "{\"jitter\":0,\"step_ms\":-1}", 400);
    json_auto_t *now = simserve_json(*state, "GET", path, "", 200);

    json_decref(simserve_json(*state, "POST", path, "{\"listen\":\"x:1\"}", 400));
    json_decref(simserve_json(*state, "POST", path, "{\"nothing\":1}", 400));
    json_decref(simserve_json(*state, "POST", path, "{\"faults\":{\"nothing\":{}}}", 400));
    json_decref(simserve_json(*state, "POST", path, "{\"seed\":1.5}", 400));
    assert_true(json_get_number(changed, "step_ms", 0) == 2);
    assert_non_null(json_object_get(refused, "error"));
    assert_true(json_get_number(now, "jitter", 0) == 0.25);
    assert_null(json_object_get(now, "api_key"));
    json_decref(simserve_json(*state, "POST", path, "{\"jitter\":0,\"step_ms\":1}", 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_health_and_version),
        cmocka_unit_test(lists_its_model_with_the_context_length),
        cmocka_unit_test(requires_the_key_only_under_v1),
        cmocka_unit_test(distinguishes_404_from_405),
        cmocka_unit_test(counts_a_long_word_as_one_token_per_8_bytes),
        cmocka_unit_test(adds_the_chat_template_to_messages),
        cmocka_unit_test(converts_canonical_ids_to_words_and_back),
        cmocka_unit_test(decodes_text_it_has_seen),
        cmocka_unit_test(never_splits_a_character),
        cmocka_unit_test(refuses_ids_outside_the_vocabulary),
        cmocka_unit_test(streams_chat_as_vllm_does),
        cmocka_unit_test(accepts_token_ids_and_counts_them_exactly),
        cmocka_unit_test(reports_usage_in_every_chunk_if_requested),
        cmocka_unit_test(omits_usage_unless_requested),
        cmocka_unit_test(answers_with_one_body_unless_a_stream_is_requested),
        cmocka_unit_test(ends_at_natural_tokens_or_min_tokens_unless_eos_is_ignored),
        cmocka_unit_test(writes_words_outside_ascii_if_configured),
        cmocka_unit_test(refuses_wrong_and_unsupported_requests),
        cmocka_unit_test(keeps_the_clients_request_id),
        cmocka_unit_test(reads_a_request_byte_by_byte),
        cmocka_unit_test(reads_a_chunked_body_with_a_trailer_and_continues_after_it),
        cmocka_unit_test(sends_100_continue_if_expected),
        cmocka_unit_test(refuses_what_is_not_http_or_is_too_large),
        cmocka_unit_test(accepts_a_body_of_almost_eight_mebibytes),
        cmocka_unit_test(answers_pipelined_streams_one_after_the_other),
        cmocka_unit_test(refuses_wrong_flags_with_an_error_message),
        cmocka_unit_test(changes_all_settings_or_none),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
