/* SPDX-License-Identifier: Apache-2.0 */
#include "base/llm/completion_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/text.h"
#include "base/llm/completion_scan.h"
#include "tests/unit/support/stream_events.h"

/* Asserts that the bytes yield the events, whatever the size of the pieces in which the bytes
 * arrive. */
static void expect(const char *bytes, const char *events)
{
    for (size_t piece = 1; piece <= strlen(bytes); piece++) {
        TEXT_AUTO out = { 0 };

        read_in_pieces(bytes, strlen(bytes), piece, true, &out);
        assert_string_equal(text_string(&out), events);
    }
}

static void role_only_and_empty_chunks_are_not_output(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n", "\n");
    expect("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n", "\n");
    expect("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", "finish=stop \n");
    expect("data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n",
           "finish=length \n");
}

static void reads_content_from_both_apis(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":null}]}\n\n",
           "content [ a]\n");
    expect("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"}}]}\n\n",
           "content [b]\n");
    expect("data: { \"choices\" : [ { \"delta\" : { \"content\" : \"\\u00e9\\n\" } } ] }\n\n",
           "content [\xc3\xa9\n]\n");
}

static void reads_reasoning_tool_arguments_and_refusals(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"delta\":{\"reasoning\":\"x\"}}]}\n\n", "reasoning <x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"x\",\"content\":null}}]}\n\n",
           "reasoning <x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\"}}"
           "]}}]}\n\n",
           "call \n");
    expect("data: {\"choices\":[{\"delta\":{\"function_call\":{\"arguments\":\"{\"}}}]}\n\n",
           "call \n");
    expect("data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\n", "content [no]\n");
    expect("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"f\","
           "\"arguments\":\"\"}}]}}]}\n\n",
           "\n");
    expect("data: {\"choices\":[{\"delta\":{\"reasoning\":\"x\",\"content\":\"y\"}}]}\n\n",
           "content reasoning [y]<x>\n");
}

static void reads_content_that_is_a_list_of_parts(void **state)
{
    (void)state;
    expect(
        "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"b\"}]}}]}\n\n",
        "content [b]\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":"
           "[{\"type\":\"text\",\"text\":\"x\"}]}]}}]}\n\n",
           "reasoning <x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"reasoning\",\"summary\":"
           "[{\"text\":\"x\"}]},{\"type\":\"text\",\"text\":\"b\"}]}}]}\n\n",
           "content reasoning [b]<x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[]}}]}\n\n", "\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[1,{\"text\":\"\"}]}}]}\n\n", "\n");
}

static void an_empty_finish_reason_counts_as_none(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"\"}]}\n\n",
           "content [b]\n");
    expect("data: {\"choices\":[{\"text\":\"b\",\"finish_reason\" : \"\" }]}\n\n", "content [b]\n");
}

static void reads_usage_wherever_known_servers_put_it(void **state)
{
    (void)state;
    expect("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,"
           "\"prompt_tokens_details\":{\"cached_tokens\":2}}}\n\n",
           "usage=7,3,2 \n");
    expect("data: {\"choices\":[{\"text\":\"a\"}],\"usage\":{\"prompt_tokens\":7,"
           "\"completion_tokens\":1}}\n\n",
           "content usage=7,1,-1 [a]\n");
    expect("data: {\"choices\":[{\"text\":\"a\"}],\"usage\":null}\n\n", "content [a]\n");
    expect(
        "data: {\"choices\":[],\"timings\":{\"prompt_n\":5,\"cache_n\":2,\"predicted_n\":9}}\n\n",
        "usage=7,9,2 \n");
    expect("data: {\"usage\":{\"prompt_tokens\":7,\"prompt_tokens_details\":null}}\n\n",
           "usage=7,-1,-1 \n");
    expect("data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":null}}\n\n",
           "usage=7,-1,-1 \n");
    expect("data: {\"usage\":null,\"x_groq\":{\"usage\":{\"completion_tokens\":4}}}\n\n",
           "usage=-1,4,-1 \n");
    expect("data: {\"x_groq\":{\"id\":\"r\"},\"choices\":[{\"text\":\"a\"}]}\n\n", "content [a]\n");
    expect("data: {\"choices\":[{\"text\":\"\",\"usage\":{\"completion_tokens\":4}}]}\n\n",
           "usage=-1,4,-1 \n");
}

static void counts_reasoning_tokens_separately(void **state)
{
    (void)state;
    expect("data: {\"usage\":{\"completion_tokens\":9,\"completion_tokens_details\":"
           "{\"reasoning_tokens\":5}}}\n\n",
           "usage=-1,9,-1 thought=5 \n");
    expect("data: {\"usage\":{\"completion_tokens\":9,\"reasoning_tokens\":4}}\n\n",
           "usage=-1,9,-1 thought=4 \n");
    expect("data: {\"usage\":{\"reasoning_tokens\":4,\"completion_tokens_details\":"
           "{\"reasoning_tokens\":5}}}\n\n",
           "usage=-1,-1,-1 thought=5 \n");
    expect("data: {\"usage\":{\"completion_tokens_details\":{\"reasoning_tokens\":5},"
           "\"reasoning_tokens\":4}}\n\n",
           "usage=-1,-1,-1 thought=5 \n");
}

static void counts_listed_token_ids(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"text\":\"ab\",\"token_ids\":[5,6,7]}]}\n\n",
           "content ids=3 [ab]\n");
    expect("data: {\"choices\":[{\"text\":\"ab\",\"token_ids\":null}]}\n\n", "content [ab]\n");
}

static void reports_errors_inside_the_stream(void **state)
{
    (void)state;
    expect("data: {\"error\":{\"message\":\"out of blocks\",\"code\":500}}\n\n",
           "error [out of blocks]\n");
    expect("data: {\"error\":\"plain\"}\n\n", "error [plain]\n");
    expect("data: {\"object\":\"error\",\"message\":\"older\",\"code\":400}\n\n",
           "error [older]\n");
    expect("event: error\ndata: {\"message\":\"named\"}\n\n", "error [named]\n");
    expect("event: error\ndata: not json\n\n", "error [not json]\n");
    expect("error: {\"message\":\"llama\",\"code\":500}\n\n", "error [llama]\n");
    expect("data: {\"error\":{\"code\":1}}\n\n", "error [{\"code\":1}]\n");
    expect("data: {\"error\":null,\"choices\":[{\"text\":\"a\"}]}\n\n", "content [a]\n");
    expect("event: error\ndata: {\"message\":\"a\"}\n\ndata: {\"choices\":[{\"text\":\"b\"}]}\n\n",
           "error [a]\ncontent [b]\n");
}

static void recognizes_done_with_and_without_spaces(void **state)
{
    (void)state;
    expect("data: [DONE]\n\n", "done \n");
    expect("data:[DONE]\n\n", "done \n");
    expect("data:   [DONE]  \r\n\r\n", "done \n");
    expect("data: [DONE]", "done \n"); /* the connection was closed before the line ended */
}

static void ignores_a_byte_order_mark_and_lines_without_data(void **state)
{
    (void)state;
    expect(": ping\n\n: ping\r\n\r\nid: 7\nretry: 10\nevent: message\nx\n"
           "data: {\"choices\":[{\"text\":\"a\"}]}\n\n",
           "content [a]\n");
    expect("\xef\xbb\xbf"
           "data: [DONE]\n\n",
           "done \n");
    expect("data:\n\ndata: \n\n", "");
}

static void reads_crlf_and_fields_without_a_space(void **state)
{
    (void)state;
    expect("data:{\"choices\":[{\"text\":\"a\"}]}\r\n\r\ndata:[DONE]\r\n\r\n",
           "content [a]\ndone \n");
}

static void recognizes_a_stream_by_its_beginning(void **state)
{
    static const char *const streams[] = { "data: {}",
                                           "d",
                                           ": ping",
                                           "event: message",
                                           "id: 1",
                                           "\n:",
                                           "\xef\xbb\xbf"
                                           "data:" };
    static const char *const others[] = { "", "{\"data\":1}", "<html>", "date", "\n", "internal" };

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        assert_true(completion_stream_begins(streams[i], strlen(streams[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(completion_stream_begins(others[i], strlen(others[i])));
}

static void joins_the_data_lines_of_an_event(void **state)
{
    (void)state;
    expect("data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n",
           "content [a]\ndone \n");
}

static void ignores_member_names_within_strings_and_at_other_levels(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"text\":\"\\\"usage\\\":{\\\"prompt_tokens\\\":1}\"}]}\n\n",
           "content [\"usage\":{\"prompt_tokens\":1}]\n");
    expect("data: {\"choices\":[{\"text\":\"{\\\"error\\\":\"}],\"x\":{\"error\":{}}}\n\n",
           "content [{\"error\":]\n");
    expect("data: {\"id\":\"\\\",\\\"choices\\\":[\",\"choices\":[{\"delta\":{\"role\":\"a\"},"
           "\"logprobs\":{\"content\":\"no\"}}]}\n\n",
           "\n");
    expect("data: {\"content\":\"no\",\"delta\":{\"content\":\"no\"},\"choices\":[]}\n\n", "\n");
}

static void accepts_any_character_that_a_model_could_write(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"text\":\"a\xff\"}]}\n\n", "content [a\xef\xbf\xbd]\n");
    expect("data: {\"choices\":[{\"text\":\"\\ud83d\\ude00\"}]}\n\n",
           "content [\xf0\x9f\x98\x80]\n");

    TEXT_AUTO out = { 0 };
    const char nul[] = "data: {\"choices\":[{\"text\":\"\\u0000\"}]}\n\n";
    read_in_pieces(nul, sizeof nul - 1, 7, false, &out);
    assert_string_equal(text_string(&out), "content \n");
}

static void breaks_on_data_that_is_not_json(void **state)
{
    (void)state;
    expect("data: {\"choices\":[\n\ndata: [DONE]\n\n", "broken\n");
    expect("data: hello\n\n", "broken\n");
    expect("data: {\"choices\":[{\"text\":\"a\"}]} x\n\n", "broken\n");
}

static void assert_breaks_beyond(bool want_text, size_t limit_bytes)
{
    struct completion_stream *stream = completion_stream_create(want_text);
    char bytes[4096];
    TEXT_AUTO out = { 0 };
    bool good = true;
    size_t fed = 0;

    memset(bytes, 'x', sizeof bytes);
    for (; good && fed < 2 << 20; fed += sizeof bytes)
        good = completion_stream_feed(stream, bytes, sizeof bytes, write_event, &out);
    assert_false(good);
    assert_true(fed > limit_bytes && fed <= limit_bytes + 2 * sizeof bytes);
    completion_stream_reset(stream);
    assert_true(completion_stream_feed(stream, "data: [DONE]\n", 13, write_event, &out));
    assert_string_equal(text_string(&out), "done \n");
    completion_stream_destroy(stream);
}

static void breaks_on_a_line_longer_than_the_limit(void **state)
{
    (void)state;
    assert_breaks_beyond(true, 1 << 20);
    assert_breaks_beyond(false, 1 << 16);
}

static void breaks_on_an_event_with_too_many_data_lines(void **state)
{
    struct completion_stream *stream = completion_stream_create(false);
    TEXT_AUTO out = { 0 };
    bool good = true;

    (void)state;
    for (int i = 0; good && i < 3 << 20; i++)
        good = completion_stream_feed(stream, "data: {\n", 8, write_event, &out);
    assert_false(good);
    completion_stream_destroy(stream);
}

static void reads_chunks_from_known_servers_on_the_fast_path(void **state)
{
    static const char *const chunks[] = {
        "{\"id\":\"cmpl-9\",\"object\":\"text_completion\",\"created\":1790000000,\"model\":\"m\","
        "\"choices\":[{\"index\":0,\"text\":\" a\",\"logprobs\":null,\"finish_reason\":null,"
        "\"stop_reason\":null,\"prompt_token_ids\":null,\"token_ids\":null}],\"usage\":null}",
        "{\"id\":\"chatcmpl-9\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,"
        "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\n\"},"
        "\"logprobs\":null,\"finish_reason\":null,\"token_ids\":null}]}",
        "{\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"\xc3\xa9\"}}],"
        "\"created\":1790000000,\"id\":\"chatcmpl-x\",\"model\":\"m\",\"system_fingerprint\":"
        "\"b4000-1\",\"object\":\"chat.completion.chunk\"}",
        "{\"id\":\"cmpl-9\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":"
        "\"a\","
        "\"token_ids\":[11,12]}],\"usage\":{\"prompt_tokens\":64,\"total_tokens\":70,"
        "\"completion_tokens\":6,\"prompt_tokens_details\":null}}",
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":64,"
        "\"completion_tokens\":6,\"prompt_tokens_details\":{\"cached_tokens\":0},"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}",
        "{\"id\":\"cmpl-9\", \"object\": \"text_completion\", \"created\": 1790000000, "
        "\"choices\": "
        "[{\"text\": \"\\u4e16\", \"index\": 0, \"logprobs\": null, \"finish_reason\": null}]}",
    };
    struct completion_event event;

    (void)state;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        assert_true(completion_scan(chunks[i], strlen(chunks[i]), false, &event));
        assert_true(event.has_content);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(role_only_and_empty_chunks_are_not_output),
        cmocka_unit_test(reads_content_from_both_apis),
        cmocka_unit_test(reads_reasoning_tool_arguments_and_refusals),
        cmocka_unit_test(reads_content_that_is_a_list_of_parts),
        cmocka_unit_test(an_empty_finish_reason_counts_as_none),
        cmocka_unit_test(reads_usage_wherever_known_servers_put_it),
        cmocka_unit_test(counts_reasoning_tokens_separately),
        cmocka_unit_test(counts_listed_token_ids),
        cmocka_unit_test(reports_errors_inside_the_stream),
        cmocka_unit_test(recognizes_done_with_and_without_spaces),
        cmocka_unit_test(ignores_a_byte_order_mark_and_lines_without_data),
        cmocka_unit_test(reads_crlf_and_fields_without_a_space),
        cmocka_unit_test(recognizes_a_stream_by_its_beginning),
        cmocka_unit_test(joins_the_data_lines_of_an_event),
        cmocka_unit_test(ignores_member_names_within_strings_and_at_other_levels),
        cmocka_unit_test(accepts_any_character_that_a_model_could_write),
        cmocka_unit_test(breaks_on_data_that_is_not_json),
        cmocka_unit_test(breaks_on_a_line_longer_than_the_limit),
        cmocka_unit_test(breaks_on_an_event_with_too_many_data_lines),
        cmocka_unit_test(reads_chunks_from_known_servers_on_the_fast_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
