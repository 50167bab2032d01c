/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain bench: if no server is named, uses the one that has the data folder open, or starts one
 * in this process. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json/json.h"
#include "client/command/client_bench.h"
#include "server/program/admin.h"
#include "server/program/commands.h"
#include "server/program/process.h"
#include "server/program/serving.h"

/* Writes the server's URL, with 127.0.0.1 as its host if the server listens on all addresses. */
static void write_url(const char *address, char url[LOGIN_URL_SIZE])
{
    static const char *const all[] = { "0.0.0.0:", "[::]:", "*:" };
    const char *shown = address;
    TEXT_AUTO out = { 0 };

    text_add(&out, "http://");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(address, all[i], strlen(all[i])) == 0) {
            text_add(&out, "127.0.0.1:");
            shown = address + strlen(all[i]);
        }
    text_add(&out, shown);
    text_copy(url, LOGIN_URL_SIZE, text_string(&out));
}

/* Finds the URL of the server that has the folder open; sets `url` to "" if no server has. Asks the
 * server through the folder's socket, which only the folder's owner can open. */
static CHECKED bool find(const char *folder, char url[LOGIN_URL_SIZE], struct error *error)
{
    json_auto_t *request = json_pack("{s:s}", "command", "server_address"), *reply = NULL;
    bool running;

    url[0] = '\0';
    if (!admin_ask(folder, request, &running, &reply, error))
        return false;
    if (running)
        write_url(json_get_text(reply, "address", ""), url);
    return true;
}

/* Sends the log to a file in the data folder, since the terminal shows the benchmark. */
static CHECKED bool move_log(const char *folder, struct error *error)
{
    int kept = dup(STDERR_FILENO), log;
    TEXT_AUTO path = { 0 };
    FILE *terminal;

    text_addf(&path, "%s/bench.log", folder);
    log = open(text_string(&path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    terminal = kept >= 0 ? fdopen(kept, "w") : NULL;
    if (log < 0 || terminal == NULL || dup2(log, STDERR_FILENO) < 0)
        return error_set(error, ERROR_INTERNAL, "cannot write the log to %.200s: %s",
                         text_string(&path), strerror(errno));
    setvbuf(terminal, NULL, _IONBF, 0);
    stderr = terminal;
    close(log);
    return true;
}

/* Starts a server with this data folder, on a free loopback port. Its other settings come from the
 * environment, as for `serve`. Unlike `serve`, handles no signals: the client does that while it
 * shows the progress (bench_follow.c). */
static CHECKED bool start(const char *folder, void **server, char url[LOGIN_URL_SIZE],
                          struct error *error)
{
    char name[] = "serve", *const argv[] = { name, NULL };
    struct settings settings;
    struct serving *serving;

    signal(SIGPIPE, SIG_IGN);
    process_limit_memory();
    if (!settings_read(1, argv, &settings, error))
        return false;
    text_copy(settings.listen, sizeof settings.listen, "127.0.0.1:0");
    text_copy(settings.data, sizeof settings.data, folder);
    if (!move_log(folder, error) || !serving_start(&settings, &serving, error))
        return false;
    *server = serving;
    write_url(serving_address(serving), url);
    return true;
}

static void stop(void *server)
{
    serving_stop(server, "the benchmark has ended");
}

int command_bench(int argc, char *const *argv)
{
    static const struct bench_host host = { find, start, stop };

    return client_bench(&host, argc, argv);
}
