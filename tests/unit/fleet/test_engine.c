/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/engine.h"
#include "tests/simserve/harness/simserve.h"
#include "tests/unit/support/canned_server.h"

struct fixture {
    struct canned_server server;
    struct endpoint endpoint;
    struct engine_report report;
    struct error error;
};

static bool probe(struct fixture *f, const struct canned_answer *answers, const char *model)
{
    bool ok;

    memset(f, 0, sizeof *f);
    canned_start(&f->server, answers);
    snprintf(f->endpoint.url, sizeof f->endpoint.url, "http://127.0.0.1:%d", f->server.port);
    snprintf(f->endpoint.model, sizeof f->endpoint.model, "%s", model);
    ok = engine_probe(&f->endpoint, 0, &f->report, &f->error);
    canned_stop(&f->server);
    return ok;
}

static int64_t detail(const struct fixture *f, const char *name)
{
    struct error error;
    json_auto_t *details = NULL;

    assert_true(json_parse(f->report.details, strlen(f->report.details), &details, &error));
    return json_get_integer(details, name, -1);
}

static const char VLLM_METRICS[] =
    "# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig\n"
    "# TYPE vllm:cache_config_info gauge\n"
    "vllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",cpu_offload_gb=\"0\","
    "enable_prefix_caching=\"True\",engine=\"0\",gpu_memory_utilization=\"0.9\","
    "num_gpu_blocks=\"27000\"} 1.0\n"
    "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 0.0\n";

static void recognizes_vllm_and_reports_its_context_and_cache(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models",
          .body = "{\"object\":\"list\",\"data\":[{\"id\":\"gemma\",\"owned_by\":\"vllm\","
                  "\"root\":\"google/gemma-3-4b-it\",\"max_model_len\":8192},"
                  "{\"id\":\"gemma-sql\",\"owned_by\":\"vllm\",\"root\":\"/lora\","
                  "\"parent\":\"gemma\",\"max_model_len\":null}]}" },
        { "/version", .body = "{\"version\":\"0.11.2\"}" },
        { "/metrics", .type = "text/plain; version=0.0.4", .body = VLLM_METRICS },
        { "/tokenize", .when = "\"prompt\"", .body = "{\"count\":1,\"tokens\":[7]}" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, ""));
    assert_string_equal(f.report.engine, "vllm");
    assert_string_equal(f.report.version, "0.11.2");
    assert_int_equal(f.report.model_count, 2);
    assert_string_equal(f.report.models[0].id, "gemma");
    assert_int_equal(f.report.models[0].context_tokens, 8192);
    assert_int_equal(f.report.models[1].context_tokens, 0);
    assert_true(f.report.has_metrics);
    assert_true(f.report.has_tokenize);
    assert_int_equal(f.report.failure, FAILURE_NONE);
    assert_int_equal(detail(&f, "kv_cache_tokens"), 16 * 27000);
    assert_non_null(strstr(f.report.details, "google/gemma-3-4b-it"));
    assert_non_null(strstr(f.report.details, "\"enable_prefix_caching\":\"True\""));
}

static void recognizes_simserve_as_vllm(void **state)
{
    struct simserve server =
        simserve_start((const char *[]){ "--max-model-len", "4096", "--api-key", "k", NULL });
    struct fixture f = { 0 };

    (void)state;
    snprintf(f.endpoint.url, sizeof f.endpoint.url, "http://127.0.0.1:%d", server.port);
    assert_false(engine_probe(&f.endpoint, 0, &f.report, &f.error));
    assert_int_equal(f.report.failure, FAILURE_AUTH);
    strcpy(f.endpoint.bearer, "k");
    assert_true(engine_probe(&f.endpoint, 0, &f.report, &f.error));
    simserve_stop(&server);
    assert_string_equal(f.report.engine, "vllm");
    assert_true(f.report.version[0] != '\0');
    assert_string_equal(f.report.models[0].id, "simserve/toy");
    assert_int_equal(f.report.models[0].context_tokens, 4096);
    assert_true(f.report.has_metrics);
    assert_true(f.report.has_tokenize);
    assert_true(detail(&f, "kv_cache_tokens") > 0);
}

static void recognizes_vllm_behind_a_gateway_by_its_metrics(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models", .body = "{\"data\":[{\"id\":\"gemma\",\"owned_by\":\"openai\"}]}" },
        { "/metrics", .type = "text/plain", .body = VLLM_METRICS },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, ""));
    assert_string_equal(f.report.engine, "vllm");
    assert_string_equal(f.report.version, "");
    assert_false(f.report.has_tokenize);
}

static void without_a_models_list_the_model_is_the_one_that_was_registered(void **state)
{
    static const struct canned_answer answers[] = { { NULL } };
    static const struct canned_answer only_posts[] = { { "/v1/models", .status = 405 }, { NULL } };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, only_posts, "mine/own"));
    assert_true(probe(&f, answers, "mine/own"));
    assert_string_equal(f.report.engine, "openai-compatible");
    assert_int_equal(f.report.model_count, 1);
    assert_string_equal(f.report.models[0].id, "mine/own");
    assert_int_equal(f.report.failure, FAILURE_NONE);
    assert_false(probe(&f, answers, ""));
    assert_int_equal(f.report.failure, FAILURE_NOT_FOUND);
    assert_non_null(strstr(f.error.message, "register the deployment with its \"model\""));
}

/* Some servers, for example `transformers serve`, load a model only when a request names it. */
static void if_the_models_list_is_unusable_a_named_model_that_answers_is_accepted(void **state)
{
#define COMPLETION "{\"choices\":[{\"text\":\"a\"}]}"
    static const struct canned_answer empty[] = { { "/v1/models", .body = "{\"data\":[]}" },
                                                  { "/v1/chat/completions", .when = "mine/own",
                                                    .body = COMPLETION },
                                                  { NULL } };
    static const struct canned_answer broken[] = {
        { "/v1/models", .status = 500, .body = "Internal Server Error" },
        { "/v1/completions", .when = "mine/own", .body = COMPLETION },
        { NULL }
    };
    static const struct canned_answer page[] = {
        { "/v1/models", .type = "text/html", .body = "<html>welcome</html>" },
        { "/v1/chat/completions", .when = "mine/own", .body = COMPLETION },
        { NULL }
    };
    static const struct canned_answer *const lists[] = { empty, broken, page };
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(probe(&f, lists[i], "mine/own"));
        assert_int_equal(f.report.model_count, 1);
        assert_string_equal(f.report.models[0].id, "mine/own");
        assert_int_equal(f.report.failure, FAILURE_NONE);
        assert_false(probe(&f, lists[i], "other"));
        assert_false(probe(&f, lists[i], ""));
    }
    assert_false(probe(&f, broken, "other"));
    assert_int_equal(f.report.failure, FAILURE_SERVER_ERROR);
    assert_non_null(strstr(f.error.message, "register the deployment with its \"model\""));
}

static void a_models_list_can_be_a_bare_array(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models", .body = "[{\"id\":\"a/b\",\"context_length\":4096}]" }, { NULL }
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, ""));
    assert_string_equal(f.report.models[0].id, "a/b");
    assert_int_equal(f.report.models[0].context_tokens, 4096);
}

static void recognizes_sglang_and_omits_its_api_key(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models", .body = "{\"data\":[{\"id\":\"qwen\",\"owned_by\":\"sglang\"}]}" },
        { "/get_model_info", .body = "{\"model_path\":\"Qwen/Qwen3-8B\",\"is_generation\":true}" },
        { "/server_info",
          .body = "{\"version\":\"0.5.6\",\"api_key\":\"hush-hush\",\"context_length\":40960,"
                  "\"tp_size\":2,\"max_total_num_tokens\":512000}" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, "qwen"));
    assert_string_equal(f.report.engine, "sglang");
    assert_string_equal(f.report.version, "0.5.6");
    assert_int_equal(f.report.models[0].context_tokens, 40960);
    assert_int_equal(detail(&f, "tp_size"), 2);
    assert_int_equal(detail(&f, "kv_cache_tokens"), 512000);
    assert_null(strstr(f.report.details, "hush"));
}

static void reports_the_context_of_one_slot_for_llama_cpp(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models",
          .body = "{\"object\":\"list\",\"data\":[{\"id\":\"/m/tiny.gguf\",\"object\":\"model\","
                  "\"owned_by\":\"llamacpp\",\"meta\":{\"vocab_type\":1,\"n_vocab\":32000,"
                  "\"n_ctx_train\":131072,\"n_params\":1100048384}}]}" },
        { "/props",
          .body = "{\"default_generation_settings\":{\"id\":0,\"n_ctx\":2048},\"total_slots\":4,"
                  "\"model_path\":\"/m/tiny.gguf\",\"build_info\":\"b6840-1a2b3c4\"}" },
        { "/tokenize", .when = "\"content\"", .body = "{\"tokens\":[1,2]}" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, ""));
    assert_string_equal(f.report.engine, "llama.cpp");
    assert_string_equal(f.report.version, "b6840-1a2b3c4");
    assert_int_equal(f.report.models[0].context_tokens, 2048);
    assert_int_equal(detail(&f, "n_ctx_train"), 131072);
    assert_int_equal(detail(&f, "n_vocab"), 32000);
    assert_int_equal(detail(&f, "total_slots"), 4);
    assert_false(f.report.has_metrics);
    assert_true(f.report.has_tokenize);
}

#define OLLAMA_MODELS "{\"data\":[{\"id\":\"llama3.2:latest\",\"owned_by\":\"library\"}]}"
#define OLLAMA_TAGS "{\"models\":[{\"name\":\"llama3.2:latest\",\"model\":\"llama3.2:latest\"}]}"
#define OLLAMA_SHOW                                                                                \
    "{\"details\":{\"family\":\"llama\",\"quantization_level\":\"Q4_K_M\"},"                       \
    "\"model_info\":{\"general.architecture\":\"llama\",\"llama.context_length\":131072}"

static void recognizes_ollama_and_says_that_its_context_is_only_the_maximum(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models", .body = OLLAMA_MODELS },
        { "/api/version", .body = "{\"version\":\"0.9.0\"}" },
        { "/api/tags", .body = OLLAMA_TAGS },
        { "/api/show", .when = "llama3.2:latest", .body = OLLAMA_SHOW "}" },
        { "/api/ps", .body = "{\"models\":[]}" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, "llama3.2"));
    assert_string_equal(f.report.engine, "ollama");
    assert_string_equal(f.report.version, "0.9.0");
    assert_int_equal(f.report.model_count, 1);
    assert_int_equal(f.report.models[0].context_tokens, 131072);
    assert_non_null(strstr(f.report.details, "may truncate earlier"));
    assert_non_null(strstr(f.report.details, "Q4_K_M"));
}

static void prefers_the_context_that_ollama_runs_the_model_with(void **state)
{
    static const struct canned_answer configured[] = {
        { "/v1/models", .body = OLLAMA_MODELS },
        { "/api/version", .body = "{\"version\":\"0.9.0\"}" },
        { "/api/tags", .body = OLLAMA_TAGS },
        { "/api/show",
          .body = OLLAMA_SHOW ",\"parameters\":\"stop   \\\"x\\\"\\nnum_ctx      16384\"}" },
        { NULL },
    };
    static const struct canned_answer loaded[] = {
        { "/v1/models", .body = OLLAMA_MODELS },
        { "/api/version", .body = "{\"version\":\"0.12.0\"}" },
        { "/api/tags", .body = OLLAMA_TAGS },
        { "/api/show", .body = OLLAMA_SHOW ",\"parameters\":\"num_ctx 16384\"}" },
        { "/api/ps",
          .body = "{\"models\":[{\"model\":\"llama3.2:latest\",\"context_length\":4096}]}" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, configured, ""));
    assert_int_equal(f.report.models[0].context_tokens, 16384);
    assert_true(probe(&f, loaded, ""));
    assert_int_equal(f.report.models[0].context_tokens, 4096);
}

static void recognizes_tgi_without_a_models_list(void **state)
{
    static const struct canned_answer answers[] = {
        { "/info",
          .body = "{\"model_id\":\"meta-llama/Llama-3\",\"model_dtype\":\"torch.float16\","
                  "\"max_input_tokens\":4095,\"max_total_tokens\":4096,\"version\":\"1.4.0\"}" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, ""));
    assert_string_equal(f.report.engine, "tgi");
    assert_string_equal(f.report.version, "1.4.0");
    assert_string_equal(f.report.models[0].id, "meta-llama/Llama-3");
    assert_int_equal(f.report.models[0].context_tokens, 4096);
    assert_int_equal(f.report.failure, FAILURE_NONE);
}

static void recognizes_llama_cpp_python_without_a_context(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models", .body =
                            "{\"object\":\"list\",\"data\":[{\"id\":\"tiny\",\"object\":\"model\","
                            "\"owned_by\":\"me\",\"permissions\":[]}]}" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, ""));
    assert_string_equal(f.report.engine, "llama-cpp-python");
    assert_int_equal(f.report.models[0].context_tokens, 0);
}

static void any_other_server_is_reported_as_openai_compatible(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/models",
          .body = "{\"data\":[{\"id\":\"gpt\",\"owned_by\":\"acme\",\"context_length\":32768}]}" },
        { "/metrics", .type = "text/html", .body = "<html>\n<b>hello</b>\nvisits 12\n</html>\n" },
        { NULL },
    };
    struct fixture f;

    (void)state;
    assert_true(probe(&f, answers, ""));
    assert_string_equal(f.report.engine, "openai-compatible");
    assert_int_equal(f.report.models[0].context_tokens, 32768);
    assert_false(f.report.has_metrics);
}

static void reports_the_class_of_failure_if_the_models_list_is_unusable(void **state)
{
    static const struct canned_answer unauthorized[] = {
        { "/v1/models", .status = 401, .body = "{\"error\":\"Unauthorized\"}" }, { NULL }
    };
    static const struct canned_answer page[] = {
        { "/v1/models", .type = "text/html", .body = "<html>welcome</html>" }, { NULL }
    };
    static const struct canned_answer object[] = { { "/v1/models", .body = "{\"data\":3}" },
                                                   { NULL } };
    static const struct canned_answer empty[] = { { "/v1/models", .body = "{\"data\":[]}" },
                                                  { NULL } };
    static const struct canned_answer nothing[] = { { NULL } };
    struct fixture f;

    (void)state;
    assert_false(probe(&f, unauthorized, ""));
    assert_int_equal(f.error.kind, ERROR_UPSTREAM);
    assert_int_equal(f.report.failure, FAILURE_AUTH);
    assert_non_null(strstr(f.error.message, "(auth)"));
    assert_false(probe(&f, page, ""));
    assert_int_equal(f.report.failure, FAILURE_PROTOCOL);
    assert_false(probe(&f, object, ""));
    assert_int_equal(f.report.failure, FAILURE_PROTOCOL);
    assert_false(probe(&f, empty, ""));
    assert_non_null(strstr(f.error.message, "no model"));
    assert_false(probe(&f, nothing, ""));
    assert_int_equal(f.report.failure, FAILURE_NOT_FOUND);
    assert_int_equal(f.error.kind, ERROR_UPSTREAM);
}

static void a_full_report_includes_the_endpoints_model_and_omits_invalid_ids(void **state)
{
    struct canned_answer answers[] = { { "/v1/models" }, { NULL } };
    TEXT_AUTO body = { 0 };
    struct fixture f;

    (void)state;
    text_add(&body, "{\"data\":[{\"id\":\"a\\u001b[31mb\"},{\"id\":7},{\"id\":\"\"}");
    text_addf(&body, ",{\"id\":\"%0300d\"},{\"id\":\"good\",\"max_model_len\":-5}", 7);
    for (int i = 0; i < 200; i++)
        text_addf(&body, ",{\"id\":\"m%d\",\"max_model_len\":77}", i);
    text_add(&body, "]}");
    answers[0].body = text_string(&body);
    assert_true(probe(&f, answers, "m150"));
    assert_int_equal(f.report.model_count, ENGINE_MODELS);
    assert_string_equal(f.report.models[0].id, "good");
    assert_int_equal(f.report.models[0].context_tokens, 0);
    assert_string_equal(f.report.models[ENGINE_MODELS - 1].id, "m150");
}

/* ---- Facts about a deployment ---- */

static const struct canned_answer two_models[] = {
    { "/v1/models",
      .body = "{\"data\":[{\"id\":\"small\",\"owned_by\":\"acme\",\"max_model_len\":1024},"
              "{\"id\":\"large\",\"max_model_len\":4096}]}" },
    { NULL },
};

static void finds_the_facts_about_the_deployments_model(void **state)
{
    struct deployment deployment = { .id = 3, .revision = 2, .engine = "acme-serve" };
    struct model_facts facts;
    enum failure failure;
    struct fixture f = { 0 };

    (void)state;
    canned_start(&f.server, two_models);
    snprintf(deployment.url, sizeof deployment.url, "http://127.0.0.1:%d", f.server.port);
    snprintf(f.endpoint.url, sizeof f.endpoint.url, "%s", deployment.url);
    assert_true(engine_facts(&deployment, &f.endpoint, 0, &facts, &failure, &f.error));
    assert_string_equal(f.endpoint.model, "small");
    assert_string_equal(facts.model, "small");
    assert_int_equal(facts.context_tokens, 1024);
    assert_int_equal(facts.deployment_id, 3);
    assert_int_equal(facts.revision, 2);
    assert_string_equal(facts.engine, "acme-serve");

    strcpy(f.endpoint.model, "large");
    assert_true(engine_facts(&deployment, &f.endpoint, 0, &facts, &failure, &f.error));
    assert_int_equal(facts.context_tokens, 4096);

    strcpy(f.endpoint.model, "huge");
    assert_false(engine_facts(&deployment, &f.endpoint, 0, &facts, &failure, &f.error));
    assert_int_equal(f.error.kind, ERROR_NOT_FOUND);
    assert_string_equal(f.error.message,
                        "the server is up, but has no model \"huge\" (not_found); it serves "
                        "\"small\", \"large\": choose one of these with deployment_update");
    canned_stop(&f.server);
}

static void sends_the_credential_and_does_not_show_it_in_an_error(void **state)
{
    struct fixture f = { .endpoint = { .bearer = "s3cret-value" } };

    (void)state;
    canned_start(&f.server, two_models);
    snprintf(f.endpoint.url, sizeof f.endpoint.url, "http://127.0.0.1:%d", f.server.port);
    assert_true(engine_probe(&f.endpoint, 0, &f.report, &f.error));
    assert_true(f.server.authorized);
    canned_stop(&f.server);
    assert_false(engine_probe(&f.endpoint, 0, &f.report, &f.error)); /* the server has stopped */
    assert_int_equal(f.report.failure, FAILURE_CONNECT_REFUSED);
    assert_null(strstr(f.error.message, "s3cret-value"));
}

static int start(void **state)
{
    struct error error;

    (void)state;
    return outbound_global_init(&error) ? 0 : -1;
}

static int finish(void **state)
{
    (void)state;
    outbound_global_finish();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognizes_vllm_and_reports_its_context_and_cache),
        cmocka_unit_test(recognizes_simserve_as_vllm),
        cmocka_unit_test(recognizes_vllm_behind_a_gateway_by_its_metrics),
        cmocka_unit_test(without_a_models_list_the_model_is_the_one_that_was_registered),
        cmocka_unit_test(if_the_models_list_is_unusable_a_named_model_that_answers_is_accepted),
        cmocka_unit_test(a_models_list_can_be_a_bare_array),
        cmocka_unit_test(recognizes_sglang_and_omits_its_api_key),
        cmocka_unit_test(reports_the_context_of_one_slot_for_llama_cpp),
        cmocka_unit_test(recognizes_ollama_and_says_that_its_context_is_only_the_maximum),
        cmocka_unit_test(prefers_the_context_that_ollama_runs_the_model_with),
        cmocka_unit_test(recognizes_tgi_without_a_models_list),
        cmocka_unit_test(recognizes_llama_cpp_python_without_a_context),
        cmocka_unit_test(any_other_server_is_reported_as_openai_compatible),
        cmocka_unit_test(reports_the_class_of_failure_if_the_models_list_is_unusable),
        cmocka_unit_test(a_full_report_includes_the_endpoints_model_and_omits_invalid_ids),
        cmocka_unit_test(finds_the_facts_about_the_deployments_model),
        cmocka_unit_test(sends_the_credential_and_does_not_show_it_in_an_error),
    };

    return cmocka_run_group_tests(tests, start, finish);
}
