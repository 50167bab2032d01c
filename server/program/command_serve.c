/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain serve: serves until SIGTERM or SIGINT arrives. */

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/core/log.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"
#include "server/program/process.h"
#include "server/program/serving.h"

/* Ignores SIGPIPE, and blocks the signals that the main thread waits for. Call it before any thread
 * is created, so that all threads inherit the blocked signals. */
static void claim_signals(sigset_t *ending)
{
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(ending);
    sigaddset(ending, SIGTERM);
    sigaddset(ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, ending, NULL);
}

/* Waits for a signal, and returns its description, such as "Terminated". */
static const char *wait_for_signal(const sigset_t *ending)
{
    int number = 0;

    while (sigwait(ending, &number) != 0)
        continue;
    log_info("stopping: %s", strsignal(number));
    return strsignal(number);
}

static int show_help(void)
{
    TEXT_AUTO text = { 0 };

    text_add(&text, "  opsbrain serve [--SETTING VALUE]...\n"
                    "      Serves MCP, and pages for people, over HTTP; SIGTERM stops it "
                    "gracefully.\n\n"
                    "Settings, as flags or in the environment (OPSBRAIN_LISTEN for --listen):\n\n");
    config_help(settings_table, settings_count, &text);
    command_output_text(text_string(&text));
    return 0;
}

int command_serve(int argc, char *const *argv)
{
    struct serving *serving;
    struct settings settings;
    struct error error;
    sigset_t ending;

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return show_help();
    if (!settings_read(argc, argv, &settings, &error))
        return command_fail(error.message);
    if (settings.hardened)
        process_harden();
    process_limit_memory();
    claim_signals(&ending);
    if (!serving_start(&settings, &serving, &error))
        return command_fail(error.message);
    log_info("opsbrain " OPSBRAIN_VERSION " listens on %s, MCP at /mcp", serving_address(serving));
    serving_stop(serving, wait_for_signal(&ending));
    log_info("stopped");
    return 0;
}
