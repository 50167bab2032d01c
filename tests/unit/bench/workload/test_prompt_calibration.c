/* SPDX-License-Identifier: Apache-2.0 */
/* How prompts are made for simserve, and for servers that count tokens in a different way. */
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
    must_not_learn(server.port, BENCH_COMPLETIONS, "is not a readable stream of events");
    simserve_stop(&server);
}

static void a_missing_key_is_reported(void **state)
{
    struct simserve server = simserve_start((const char *[]){ "--api-key", "right", NULL });

    (void)state;
    must_not_learn(server.port, BENCH_COMPLETIONS, "auth");
    simserve_stop(&server);
}

/* ---- A server whose tokens are words --------------------------------------------------------- */

/* A server that counts a word of more than one_token_letters letters as two tokens, and any other
 * word as one. */
struct word_server {
    int listener, port;
    pthread_t thread;
    size_t one_token_letters;
    const char *refused; /* requests that contain this are refused; NULL: none */
    int refusal;         /* the status of a refusal; 0: 400 */
    const char *type;    /* the content type of streams; NULL: text/event-stream */
    bool reports_prompt_tokens, streams_usage;
    int requests;
};

static int64_t count_text(const struct word_server *server, const char *text)
{
    int64_t tokens = 3; /* for the template */

    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        tokens += length > server->one_token_letters ? 2 : length > 0;
        text += length + (text[length] == ' ');
    }
    return tokens;
}

static const char *prompt_of(const json_t *request)
{
    const json_t *message = json_array_get(json_object_get(request, "messages"), 0);

    return json_get_text(request, "prompt", json_get_text(message, "content", NULL));
}

static void answer(const struct word_server *server, int connection, const char *body)
{
    json_auto_t *request = json_loads(body, 0, NULL);
    const char *prompt = prompt_of(request);
    bool stream = json_get_boolean(request, "stream", false);
    struct canned_answer canned = { .status = 200 };
    char text[1024];

    if (prompt == NULL || (server->refused != NULL && strstr(body, server->refused) != NULL)) {
        canned.status = server->refusal != 0 ? server->refusal : 400;
        canned.body = "{\"error\":{\"message\":\"no such field\"}}";
    } else if (stream) {
        canned.type = server->type != NULL ? server->type : "text/event-stream";
        snprintf(text, sizeof text, "data: {\"choices\":[{\"text\":\"x\"}]}\n\n%sdata: [DONE]\n\n",
                 server->streams_usage
                     ? "data: {\"choices\":[],\"usage\":{\"completion_tokens\":1}}\n\n"
                     : "");
        canned.body = text;
    } else if (server->reports_prompt_tokens) {
        snprintf(text, sizeof text, "{\"usage\":{\"prompt_tokens\":%ld}}",
                 count_text(server, prompt));
        canned.body = text;
    } else {
        canned.body = "{\"choices\":[]}";
    }
    canned_answer_with(connection, &canned);
}

static void *serve(void *context)
{
    static char request[CANNED_REQUEST_SIZE];
    struct word_server *server = context;
    int connection;

    while ((connection = accept(server->listener, NULL, NULL)) >= 0) {
        const char *body = canned_read(connection, request);

        server->requests++;
        if (body != NULL && strstr(request, "/completions ") != NULL)
            answer(server, connection, body);
        else
            canned_answer_with(connection, NULL);
        shutdown(connection, SHUT_WR);
        close(connection);
    }
    return NULL;
}

static void server_start(struct word_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;

    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server->listener, 16), 0);
    getsockname(server->listener, (struct sockaddr *)&address, &length);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void server_stop(struct word_server *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listener);
}

static void words_of_several_tokens_are_skipped(void **state)
{
    struct word_server server = { .one_token_letters = 6,
                                  .reports_prompt_tokens = true,
                                  .streams_usage = true };
    struct workload workload;

    (void)state;
    server_start(&server);
    learn(server.port, BENCH_COMPLETIONS, &workload);
    server_stop(&server);
    assert_int_equal(workload.form, PROMPT_WORDS);
    assert_string_equal(workload.source, "words of one token");
    assert_true(workload.tokens_per_piece == 1);
    assert_int_equal(workload.overhead_tokens, 4);
    assert_true(workload.piece_count >= 32);
    for (size_t i = 0; i < workload.piece_count; i++)
        assert_true(strlen(workload.pieces[i]) <= 6);
    assert_true(server.requests < 60);
}

static void letters_are_used_if_every_word_is_several_tokens(void **state)
{
    struct word_server server = { .one_token_letters = 1,
                                  .reports_prompt_tokens = true,
                                  .streams_usage = true };
    struct workload workload;

    (void)state;
    server_start(&server);
    learn(server.port, BENCH_CHAT, &workload);
    server_stop(&server);
    assert_string_equal(workload.source, "letters of one token");
    assert_true(workload.tokens_per_piece == 1);
    assert_int_equal(workload.overhead_tokens, 4);
}

static void the_average_is_used_if_no_word_or_letter_is_one_token(void **state)
{
    struct word_server server = { .one_token_letters = 0,
                                  .reports_prompt_tokens = true,
                                  .streams_usage = true };
    struct workload workload;

    (void)state;
    server_start(&server);
    learn(server.port, BENCH_CHAT, &workload);
    server_stop(&server);
    assert_string_equal(workload.source, "words by average");
    assert_true(workload.tokens_per_piece == 2);
    assert_int_equal(workload.overhead_tokens, 5);
}

static void fields_that_the_server_refuses_are_omitted_or_replaced(void **state)
{
    struct word_server server = { .one_token_letters = 20,
                                  .reports_prompt_tokens = true,
                                  .streams_usage = true,
                                  .refused = "min_tokens" };
    struct workload workload;

    (void)state;
    server_start(&server);
    learn(server.port, BENCH_COMPLETIONS, &workload);
    assert_int_equal(workload.fields, FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS);
    server.refused = "\"max_tokens\"";
    learn(server.port, BENCH_CHAT, &workload);
    assert_true(workload.fields & FIELD_MAX_COMPLETION_TOKENS);
    assert_false(workload.fields & FIELD_MAX_TOKENS);
    server.refusal = 500; /* some servers refuse with this status */
    server.refused = "ignore_eos";
    learn(server.port, BENCH_COMPLETIONS, &workload);
    assert_int_equal(workload.fields, FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_MIN_TOKENS);
    server.refused = "model"; /* every request contains it */
    must_not_learn(server.port, BENCH_CHAT, "no such field");
    server_stop(&server);
}

static void a_stream_with_a_wrong_content_type_is_recognized(void **state)
{
    struct word_server server = { .one_token_letters = 20,
                                  .reports_prompt_tokens = true,
                                  .streams_usage = true,
                                  .type = "text/plain" };
    struct workload workload;

    (void)state;
    server_start(&server);
    learn(server.port, BENCH_CHAT, &workload);
    server_stop(&server);
    assert_true(workload.reports_usage);
}

/* Usage is requested even if an idle server sends one token per chunk, because under load a chunk
 * may have several tokens. */
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

static void a_server_that_does_not_report_tokens_is_recognized(void **state)
{
    struct word_server server = { .one_token_letters = 20 };
    struct workload workload;

    (void)state;
    server_start(&server);
    learn(server.port, BENCH_COMPLETIONS, &workload);
    server_stop(&server);
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
        cmocka_unit_test(a_missing_key_is_reported),
        cmocka_unit_test(words_of_several_tokens_are_skipped),
        cmocka_unit_test(letters_are_used_if_every_word_is_several_tokens),
        cmocka_unit_test(the_average_is_used_if_no_word_or_letter_is_one_token),
        cmocka_unit_test(fields_that_the_server_refuses_are_omitted_or_replaced),
        cmocka_unit_test(a_stream_with_a_wrong_content_type_is_recognized),
        cmocka_unit_test(usage_in_every_chunk_is_requested_if_the_server_supports_it),
        cmocka_unit_test(a_server_that_does_not_report_tokens_is_recognized),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
