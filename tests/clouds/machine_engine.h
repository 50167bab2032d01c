/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a test program also act as two other programs. Called with the arguments "engine PORT HOW",
 * it is the engine of a server that a test starts, and listens on PORT of the loopback address.
 * HOW changes this if it is "broken" (the engine exits at once), "parent" (it also starts a child
 * process) or "exposed" (it listens on all addresses). Called with "watchdog FOLDER", the program
 * is the watchdog of the server whose record is in FOLDER. */
#pragma once

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "fleet/machine/machine_process.h"
#include "tests/clouds/machine_world.h"

extern char **environ;

/* ---- The engine ---- */

static inline void report_environment(FILE *out)
{
    for (char **variable = environ; *variable != NULL; variable++)
        fprintf(out, "env %s\n", *variable);
}

static inline void report_descriptors(FILE *out)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder)
            && atoi(entry->d_name) != fileno(out))
            fprintf(out, "fd %s\n", entry->d_name);
    closedir(folder);
}

static inline void report_status(FILE *out)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];

    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "NoNewPrivs", 10) == 0 || strncmp(line, "CapEff", 6) == 0
            || strncmp(line, "Groups", 6) == 0)
            fprintf(out, "status %s", line);
    fclose(status);
}

/* Writes to the file "report" in the working folder what this process was given: its arguments,
 * working folder, account, environment, open descriptors and rights, and whether it leads a
 * session. */
static inline void report(int argc, char **argv)
{
    FILE *out = fopen("report.new", "w");
    char folder[PATH_MAX];

    for (int i = 0; i < argc; i++)
        fprintf(out, "argument %s\n", argv[i]);
    fprintf(out, "folder %s\nuid %d\ngid %d\nleads %d\n", getcwd(folder, sizeof folder),
            (int)getuid(), (int)getgid(), getsid(0) == getpid() && getpgrp() == getpid());
    report_environment(out);
    report_descriptors(out);
    report_status(out);
    fclose(out);
    rename("report.new", "report");
}

/* Starts a child that moves to a session of its own, as daemons do. */
static inline void leave_child(void)
{
    FILE *out;

    if (fork() != 0)
        return;
    setsid();
    out = fopen("child", "w");
    fprintf(out, "%d\n", (int)getpid());
    fclose(out);
    for (;;)
        pause();
}

static inline int serve(int port, uint32_t address)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                 "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
    const struct sockaddr_in at = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr = { htonl(address) } };
    int on = 1, listening = socket(AF_INET, SOCK_STREAM, 0);
    char request[2048];

    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listening, (const struct sockaddr *)&at, sizeof at) != 0 || listen(listening, 8) != 0)
        return 1;
    for (;;) {
        int client = accept(listening, NULL, NULL);

        if (read(client, request, sizeof request) > 0
            && write(client, answer, sizeof answer - 1) < 0)
            return 1;
        close(client);
    }
}

static inline int be_engine(int argc, char **argv)
{
    const char *how = argv[3];

    report(argc, argv);
    printf("the engine is %s\n", how);
    fflush(stdout);
    if (strcmp(how, "broken") == 0)
        return 3;
    if (strcmp(how, "parent") == 0)
        leave_child();
    return serve(atoi(argv[2]), strcmp(how, "exposed") == 0 ? INADDR_ANY : INADDR_LOOPBACK);
}

/* ---- The world ---- */

static inline int free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof address;
    int probe = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(probe, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(probe, (struct sockaddr *)&address, &length), 0);
    close(probe);
    return ntohs(address.sin_port);
}

/* Returns the body of a request to start a server whose engine is this program. `how` is HOW above.
 * New reference. */
static inline json_t *server_body(const struct machine_world *world, const char *how)
{
    int port = free_port();
    char text[16];

    snprintf(text, sizeof text, "%d", port);
    return json_pack("{s:s, s:{s:s, s:s}, s:s, s:[s, s, s], s:{s:s}, s:i, s:s, s:{s:s, s:i}, s:I, "
                     "s:b}",
                     "id", "pln_1", "labels", "opsbrain/instance", "inst-1", "opsbrain/deployment",
                     "gemma", "program", world->program, "arguments", "engine", text, how,
                     "environment", "MODEL_MODE", "tiny", "port", port, "key_variable",
                     "ENGINE_API_KEY", "probe", "path", "/health", "patience_s", 20, "ends_ms",
                     (json_int_t)(clock_utc_ms() + 600000), "end_destroys", 1);
}

static inline void must_start(struct machine_world *world, const char *how)
{
    json_auto_t *body = server_body(world, how);

    if (machine_world_call(world, "PUT", "/servers/gemma", body, NULL) != 201)
        fail_msg("%s", world->error.message);
}

static inline void start_ready(struct machine_world *world, const char *how)
{
    must_start(world, how);
    machine_world_expect(world, "gemma", "ready");
}

static inline void destroy(struct machine_world *world)
{
    assert_int_equal(machine_world_call(world, "DELETE", "/servers/gemma", NULL, NULL), 200);
    machine_world_expect(world, "gemma", "absent");
}

/* Returns the server's process, as recorded in its status.json. */
static inline struct machine_process process_of(const struct machine_world *world)
{
    struct machine_process process;
    json_auto_t *status = NULL;
    struct error error;
    char folder[PATH_MAX];

    machine_record_path(world->records, "gemma", folder);
    assert_true(machine_record_read(folder, MACHINE_STATUS, &status, &error));
    assert_true(machine_process_read(json_object_get(status, "process"), &process));
    return process;
}

static inline void wait_dead(const struct machine_process *process)
{
    for (int i = 0; i < 500 && machine_process_lives(process); i++)
        usleep(20000);
    assert_false(machine_process_lives(process));
}

static inline int set_up(void **state)
{
    struct machine_world *world = calloc(1, sizeof *world);

    machine_world_make(world);
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct machine_world *world = *state;

    machine_world_call(world, "DELETE", "/servers/gemma", NULL, NULL);
    machine_world_remove(world);
    free(world);
    return 0;
}

static inline pid_t watchdog_of(const struct machine_world *world)
{
    struct machine_process process = process_of(world);
    char path[64], line[512];
    FILE *stat;
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)process.pid);
    stat = fopen(path, "r");
    assert_non_null(stat);
    assert_non_null(fgets(line, sizeof line, stat));
    fclose(stat);
    assert_int_equal(sscanf(strrchr(line, ')') + 1, " %*c %d", &parent), 1);
    return parent;
}

static inline char *read_report(const struct machine_world *world)
{
    static char bytes[65536];
    char path[PATH_MAX], folder[PATH_MAX];
    json_auto_t *record = NULL;
    struct error error;
    FILE *file;
    size_t length;

    machine_record_path(world->records, "gemma", folder);
    assert_true(machine_record_read(folder, MACHINE_RECORD, &record, &error));
    snprintf(path, sizeof path, "%s/report",
             json_get_text(json_object_get(record, "host"), "work", ""));
    file = fopen(path, "r");
    assert_non_null(file);
    length = fread(bytes, 1, sizeof bytes - 1, file);
    bytes[length] = '\0';
    fclose(file);
    return bytes;
}

static inline size_t count_lines(const char *text, const char *start)
{
    size_t count = 0;

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, start, strlen(start)) == 0;
    }
    return count;
}

static inline void assert_line(const char *text, const char *line)
{
    char full[512];

    snprintf(full, sizeof full, "%s\n", line);
    if (strstr(text, full) == NULL)
        fail_msg("no line \"%s\" in:\n%s", line, text);
}

/* Returns false if the program was called as the test itself. Otherwise acts as the engine or the
 * watchdog, sets *status to the exit status, and returns true. */
static inline bool machine_engine_main(int argc, char **argv, int *status)
{
    if (argc == 3 && strcmp(argv[1], "watchdog") == 0)
        *status = machine_watch(argc - 1, argv + 1);
    else if (argc == 4 && strcmp(argv[1], "engine") == 0)
        *status = be_engine(argc, argv);
    else
        return false;
    return true;
}
