/* SPDX-License-Identifier: Apache-2.0 */
/* While all readers and the writer of the store's main database are occupied, the only HTTP thread
 * still answers requests that do not need the store. Requests that need it wait. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>

#include "handlers/resource.h"
#include "store/ledger/store.h"
#include "store/ledger/store_private.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"
#include "tests/unit/support/test_database.h"

#define READERS 4

/* One thread occupies all readers of the store's main database, and another occupies its writer. */
struct holder {
    struct database *database;
    pthread_t readers, writer;
    sem_t held, release;
};

static void *hold_readers(void *context)
{
    struct holder *holder = context;
    struct reader readers[READERS];

    for (int i = 0; i < READERS; i++)
        readers[i] = database_reader(holder->database);
    sem_post(&holder->held);
    sem_wait(&holder->release);
    for (int i = 0; i < READERS; i++)
        database_reader_return(&readers[i]);
    return NULL;
}

static bool write_held(struct sql_connection *connection, void *context, struct error *error)
{
    struct holder *holder = context;

    (void)connection;
    (void)error;
    sem_post(&holder->held);
    sem_wait(&holder->release);
    sem_post(&holder->release); /* this function might be run again */
    return true;
}

static void *hold_writer(void *context)
{
    struct holder *holder = context;
    struct error error;

    assert_true(database_write(holder->database, write_held, holder, &error));
    return NULL;
}

static void hold(struct holder *holder, struct store *store)
{
    holder->database = store->main;
    sem_init(&holder->held, 0, 0);
    sem_init(&holder->release, 0, 0);
    assert_int_equal(pthread_create(&holder->readers, NULL, hold_readers, holder), 0);
    assert_int_equal(pthread_create(&holder->writer, NULL, hold_writer, holder), 0);
    sem_wait(&holder->held);
    sem_wait(&holder->held);
}

static void release(struct holder *holder)
{
    sem_post(&holder->release);
    sem_post(&holder->release);
    pthread_join(holder->readers, NULL);
    pthread_join(holder->writer, NULL);
    sem_destroy(&holder->held);
    sem_destroy(&holder->release);
}

/* ---- The server ---- */

#define KEY "obk_held"
#define WITH_KEY "Authorization: Bearer " KEY "\r\n"

static void add_key(struct store *store)
{
    uint8_t digest[DIGEST_BYTES];
    struct api_key added;
    struct error error;

    digest_sha256(KEY, strlen(KEY), digest);
    assert_true(api_key_add(store, "alice", ROLE_ADMIN, "", digest, 0, NULL, &added, &error));
}

static int start(void **state)
{
    static struct served served;
    struct error error;

    served_create(&served);
    served.tools = tools;
    served.resources = resources;
    if (!store_open(served.folder, test_database(served.folder), READERS, &served.services.store,
                    &error))
        return -1;
    add_key(served.services.store);
    store_close(served.services.store);
    served_start(&served, "--auth=keys", NULL);
    *state = &served;
    return 0;
}

static int stop(void **state)
{
    served_destroy(*state);
    return 0;
}

static void post(struct http_client *client, unsigned port, const char *headers, const char *body)
{
    http_open(client, port);
    http_send(client, "POST", "/mcp", headers, body);
}

#define PING "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"

/* Asserts that the only HTTP thread is free: it answers requests that do not need the store. */
static void assert_answers(unsigned port)
{
    struct http_client client;
    json_t *pong;
    int status;

    http_open(&client, port);
    assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, NULL), 200);
    pong = mcp_post_on(&client, WITH_KEY MCP_HEADERS, PING, &status);
    assert_int_equal(status, 200);
    json_decref(pong);
    pong = mcp_post_on(&client, MCP_HEADERS "Authorization: Bearer obk_wrong\r\n", PING, &status);
    assert_int_equal(status, 401);
    json_decref(pong);
    http_close(&client);
}

#define CALL(name)                                                                                 \
    {                                                                                              \
        WITH_KEY MODERN_HEADERS("tools/call") "Mcp-Name: " name "\r\n",                            \
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," MODERN_PARAMS(              \
                "\"name\":\"" name "\",\"arguments\":{},") "}"                                     \
    }

/* Requests that need the store: some succeed, some are refused, and one opens a stream. */
static const struct {
    const char *headers, *body;
} requests[] = {
    CALL("deployment_list"),
    CALL("job_list"),
    CALL("lease_list"),
    CALL("sweep_plan"),
    CALL("no_such_tool"),
    { WITH_KEY MODERN_HEADERS("resources/list"),
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"," MODERN_PARAMS("") "}" },
    { WITH_KEY MODERN_HEADERS("subscriptions/listen"),
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\"," MODERN_PARAMS(
          "\"notifications\":{\"resourceSubscriptions\":[\"opsbrain://deployments/a\"]},") "}" },
    { WITH_KEY MCP_HEADERS, LEGACY_INITIALIZE },
};

#define REQUESTS (sizeof requests / sizeof *requests)

static void requests_that_wait_for_the_store_do_not_delay_others(void **state)
{
    const struct served *served = *state;
    unsigned port = server_port(served->server);
    struct http_client clients[REQUESTS];
    struct holder holder;

    assert_answers(port);
    hold(&holder, served->services.store);
    for (size_t i = 0; i < REQUESTS; i++) {
        post(&clients[i], port, requests[i].headers, requests[i].body);
        assert_answers(port);
    }
    release(&holder);
    for (size_t i = 0; i < REQUESTS; i++) {
        assert_int_not_equal(http_read_head(&clients[i]), 0);
        http_close(&clients[i]);
    }
}

/* Each request is sent alone: otherwise, it might go unanswered only because earlier requests
 * occupy the workers. */
static void requests_that_need_the_store_wait_until_it_is_free(void **state)
{
    const struct served *served = *state;
    unsigned port = server_port(served->server);

    for (size_t i = 0; i < REQUESTS; i++) {
        struct http_client client;
        struct holder holder;
        char byte;

        hold(&holder, served->services.store);
        post(&client, port, requests[i].headers, requests[i].body);
        assert_answers(port);
        assert_int_equal(recv(client.fd, &byte, 1, MSG_DONTWAIT), -1);
        release(&holder);
        assert_int_not_equal(http_read_head(&client), 0);
        http_close(&client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_that_wait_for_the_store_do_not_delay_others, start,
                                        stop),
        cmocka_unit_test_setup_teardown(requests_that_need_the_store_wait_until_it_is_free, start,
                                        stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
