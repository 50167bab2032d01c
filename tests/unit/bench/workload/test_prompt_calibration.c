/* SPDX-License-Identifier: Apache-2.0 */
/* How prompts are made for simserve, and for servers that count tokens in other ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "tests/simserve/harness/process.h"
#include "tests/unit/support/canned_server.h"
#include "tests/unit/support/prompt_learning.h"

static void completions_are_made_of_token_ids(void **state)
{
    struct simserve server = simserve_start(NULL);
    struct workload workload;

    (void)state;
    learn(server.port, BENCH_COMPLETIONS, &workload);
    assert_int_equal(workload.form, PROMPT_IDS);
    assert_int_equal(workload.overhead_tokens, 0);
    assert_true(workload.tokens_per_piece == 1);
    assert_true(workload.reports_usage);
    assert_true(workload.piece_count >= 256);
    assert_true(workload.fields & FIELD_IGNORE_EOS);
    simserve_stop(&server);
}

static void chat_prompts_are_made_of_words_after_the_template(void **state)
{
    struct simserve server =
        simserve_start((const char *[]){ "--chat-template-tokens", "23", NULL });
    struct workload workload;

    (void)state;
    learn(server.port, BENCH_CHAT, &workload);
    assert_int_equal(workload.form, PROMPT_WORDS);
    assert_int_equal(workload.overhead_tokens, 24); /* including the first word */
    assert_true(workload.tokens_per_piece == 1);
    simserve_stop(&server);
}

static void a_context_shorter_than_the_word_list_is_enough(void **state)
{
    struct simserve server = simserve_start((const char *[]){ "--max-model-len", "120", NULL });
    struct workload workload;

    (void)state;
    learn(server.port, BENCH_CHAT, &workload);
    assert_string_equal(workload.source, "words of one token");
    assert_int_equal(workload.piece_count, 96);
    assert_int_equal(workload.overhead_tokens, 11);
    simserve_stop(&server);
}

static void says_that_a_server_does_not_stream(void **state)
{
    struct simserve server = simserve_start((const char *[]){ "--fault", "not_sse=1", NULL });

    (void)state;
    must_not_learn(server.port, BENCH_COMPLETIONS, "does not stream");
    simserve_stop(&server);
}

static void repeats_the_servers_message(void **state)
{
    struct simserve server = simserve_start((const char *[]){ "--api-key", "right", NULL });

    (void)state;
    must_not_learn(server.port, BENCH_COMPLETIONS, "auth");
    simserve_stop(&server);
}

/* ---- A server of our own --------------------------------------------------------------------- */

/* A server whose tokens are words; words longer than `long_from` letters are two tokens. */
struct counter {
    int listener, port;
    pthread_t thread;
    size_t long_from;
    const char *refused; /* requests that contain this are refused; NULL: none */
    int refusal;         /* the status of a refusal; 0: 400 */
    const char *type;    /* the content type of streams; NULL: text/event-stream */
    bool counts, streams_usage;
    int requests;
};

static int64_t count_text(const struct counter *counter, const char *text)
{
    int64_t tokens = 3; /* tokens of the template */

    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        tokens += length > counter->long_from ? 2 : length > 0;
        text += length + (text[length] == ' ');
    }
    return tokens;
}

static const char *prompt_of(const json_t *request)
{
    const json_t *message = json_array_get(json_object_get(request, "messages"), 0);

    return json_get_text(request, "prompt", json_get_text(message, "content", NULL));
}

static void answer(const struct counter *counter, int connection, const char *body)
{
    json_auto_t *request = json_loads(body, 0, NULL);
    const char *prompt = prompt_of(request);
    bool stream = json_get_boolean(request, "stream", false);
    struct canned_answer canned = { .status = 200 };
    char text[1024];

    if (prompt == NULL || (counter->refused != NULL && strstr(body, counter->refused) != NULL)) {
        canned.status = counter->refusal != 0 ? counter->refusal : 400;
        canned.body = "{\"error\":{\"message\":\"no such field\"}}";
    } else if (stream) {
        canned.type = counter->type != NULL ? counter->type : "text/event-stream";
        snprintf(text, sizeof text, "data: {\"choices\":[{\"text\":\"x\"}]}\n\n%sdata: [DONE]\n\n",
                 counter->streams_usage
                     ? "data: {\"choices\":[],\"usage\":{\"completion_tokens\":1}}\n\n"
                     : "");
        canned.body = text;
    } else if (counter->counts) {
        snprintf(text, sizeof text, "{\"usage\":{\"prompt_tokens\":%ld}}",
                 count_text(counter, prompt));
        canned.body = text;
    } else {
        canned.body = "{\"choices\":[]}";
    }
    canned_answer_with(connection, &canned);
}

static void *count(void *context)
{
    static char request[CANNED_BODY];
    struct counter *counter = context;
    int connection;

    while ((connection = accept(counter->listener, NULL, NULL)) >= 0) {
        const char *body = canned_read(connection, request);

        counter->requests++;
        if (body != NULL && strstr(request, "/completions ") != NULL)
            answer(counter, connection, body);
        else
            canned_answer_with(connection, NULL);
        shutdown(connection, SHUT_WR);
        close(connection);
    }
    return NULL;
}

static void counter_start(struct counter *counter)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;

    counter->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(counter->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(counter->listener, 16), 0);
    getsockname(counter->listener, (struct sockaddr *)&address, &length);
    counter->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&counter->thread, NULL, count, counter), 0);
}

static void counter_stop(struct counter *counter)
{
    shutdown(counter->listener, SHUT_RDWR);
    pthread_join(counter->thread, NULL);
    close(counter->listener);
}

static void words_of_several_tokens_are_skipped(void **state)
{
    struct counter counter = { .long_from = 6, .counts = true, .streams_usage = true };
    struct workload workload;

    (void)state;
    counter_start(&counter);
    learn(counter.port, BENCH_COMPLETIONS, &workload);
    counter_stop(&counter);
    assert_int_equal(workload.form, PROMPT_WORDS);
    assert_string_equal(workload.source, "words of one token");
    assert_true(workload.tokens_per_piece == 1);
    assert_int_equal(workload.overhead_tokens, 4);
    assert_true(workload.piece_count >= 32);
    for (size_t i = 0; i < workload.piece_count; i++)
        assert_true(strlen(workload.pieces[i]) <= 6);
    assert_true(counter.requests < 60);
}

static void single_letters_are_exact_if_words_are_split(void **state)
{
    struct counter counter = { .long_from = 1, .counts = true, .streams_usage = true };
    struct workload workload;

    (void)state;
    counter_start(&counter);
    learn(counter.port, BENCH_CHAT, &workload);
    counter_stop(&counter);
    assert_string_equal(workload.source, "letters of one token");
    assert_true(workload.tokens_per_piece == 1);
    assert_int_equal(workload.overhead_tokens, 4);
}

static void the_average_counts_if_no_word_is_one_token(void **state)
{
    struct counter counter = { .long_from = 0, .counts = true, .streams_usage = true };
    struct workload workload;

    (void)state;
    counter_start(&counter);
    learn(counter.port, BENCH_CHAT, &workload);
    counter_stop(&counter);
    assert_string_equal(workload.source, "words by average");
    assert_true(workload.tokens_per_piece == 2);
    assert_int_equal(workload.overhead_tokens, 5);
}

static void fields_that_the_server_refuses_are_omitted(void **state)
{
    struct counter counter = {
        .long_from = 20, .counts = true, .streams_usage = true, .refused = "min_tokens"
    };
    struct workload workload;

    (void)state;
    counter_start(&counter);
    learn(counter.port, BENCH_COMPLETIONS, &workload);
    assert_int_equal(workload.fields, FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS);
    counter.refused = "\"max_tokens\"";
    learn(counter.port, BENCH_CHAT, &workload);
    assert_true(workload.fields & FIELD_MAX_COMPLETION_TOKENS);
    assert_false(workload.fields & FIELD_MAX_TOKENS);
    counter.refusal = 500; /* some simple servers do so */
    counter.refused = "ignore_eos";
    learn(counter.port, BENCH_COMPLETIONS, &workload);
    assert_int_equal(workload.fields, FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_MIN_TOKENS);
    counter.refused = "model"; /* every request contains it */
    must_not_learn(counter.port, BENCH_CHAT, "no such field");
    counter_stop(&counter);
}

static void a_stream_is_recognized_whatever_its_content_type(void **state)
{
    struct counter counter = {
        .long_from = 20, .counts = true, .streams_usage = true, .type = "text/plain"
    };
    struct workload workload;

    (void)state;
    counter_start(&counter);
    learn(counter.port, BENCH_CHAT, &workload);
    counter_stop(&counter);
    assert_true(workload.reports_usage);
}

/* Whether chunks have one token or several on an idle server does not matter: under load this may
 * differ. */
static void usage_in_every_chunk_is_requested_if_the_server_supports_it(void **state)
{
    static const char *const several[] = { "--tokens-per-chunk", "3", NULL };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct simserve server = simserve_start(i == 0 ? NULL : several);
        struct workload workload;

        learn(server.port, BENCH_CHAT, &workload);
        assert_true(workload.fields & FIELD_CHUNK_USAGE);
        simserve_stop(&server);
    }
}

static void a_server_that_does_not_count_is_recognized(void **state)
{
    struct counter counter = { .long_from = 20 };
    struct workload workload;

    (void)state;
    counter_start(&counter);
    learn(counter.port, BENCH_COMPLETIONS, &workload);
    counter_stop(&counter);
    assert_string_equal(workload.source, "words, tokens not reported");
    assert_false(workload.reports_usage);
    assert_true(workload.tokens_per_piece == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completions_are_made_of_token_ids),
        cmocka_unit_test(chat_prompts_are_made_of_words_after_the_template),
        cmocka_unit_test(a_context_shorter_than_the_word_list_is_enough),
        cmocka_unit_test(says_that_a_server_does_not_stream),
        cmocka_unit_test(repeats_the_servers_message),
        cmocka_unit_test(words_of_several_tokens_are_skipped),
        cmocka_unit_test(single_letters_are_exact_if_words_are_split),
        cmocka_unit_test(the_average_counts_if_no_word_is_one_token),
        cmocka_unit_test(fields_that_the_server_refuses_are_omitted),
        cmocka_unit_test(a_stream_is_recognized_whatever_its_content_type),
        cmocka_unit_test(usage_in_every_chunk_is_requested_if_the_server_supports_it),
        cmocka_unit_test(a_server_that_does_not_count_is_recognized),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
