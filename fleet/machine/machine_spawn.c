/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/json/json.h"

/* From this process, a watchdog inherits two pipes and standard error, but no other descriptors. */
static CHECKED bool set_up(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes,
                           int input, int output)
{
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    return posix_spawn_file_actions_adddup2(files, input, STDIN_FILENO) == 0
           && posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO) == 0
           && posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1) == 0
           && posix_spawnattr_setsigdefault(attributes, &all) == 0
           && posix_spawnattr_setsigmask(attributes, &none) == 0
           && posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
                                                       | POSIX_SPAWN_SETSID)
                  == 0;
}

static CHECKED bool spawn(const char *program, const char *folder, int input, int output,
                          pid_t *child, struct error *error)
{
    const char *const arguments[] = { "opsbrain", "watchdog", folder, NULL };
    const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int problem = ENOMEM; /* the only reason for which set_up can fail */

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    if (set_up(&files, &attributes, input, output))
        problem =
            posix_spawn(child, program, &files, &attributes, (char *const *)(uintptr_t)arguments,
                        (char *const *)(uintptr_t)environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return problem == 0
           || error_set(error, ERROR_INTERNAL, "no watchdog can be started: %s", strerror(problem));
}

static void write_all(int file, const char *bytes)
{
    size_t length = strlen(bytes);

    while (length > 0) {
        ssize_t written = write(file, bytes, length);

        if (written < 0 && errno != EINTR)
            return; /* read_answer then reports a failure */
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

/* Reads the watchdog's answer: "ok", or the kind and the message of an error. */
static CHECKED bool read_answer(int file, struct error *error)
{
    char line[512];
    size_t length = 0;
    ssize_t got;
    char *sentence;

    while ((got = read(file, line + length, sizeof line - 1 - length)) > 0
           || (got < 0 && errno == EINTR))
        length += got > 0 ? (size_t)got : 0;
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "ok") == 0)
        return true;
    sentence = strchr(line, ' ');
    if (sentence == NULL)
        return error_set(error, ERROR_INTERNAL, "the watchdog ended without an answer");
    *sentence++ = '\0';
    return error_set(error, error_kind_find(line), "%s", sentence);
}

static CHECKED bool talk(const char *program, const char *folder, const char *bytes,
                         const int input[2], const int output[2], struct error *error)
{
    pid_t child;

    if (!spawn(program, folder, input[0], output[1], &child, error)) {
        close(input[1]);
        close(output[1]);
        return false;
    }
    close(output[1]);
    write_all(input[1], bytes);
    close(input[1]);
    waitpid(child, NULL, 0); /* the child exits at once; its own child, the watchdog, answers */
    return read_answer(output[0], error);
}

bool machine_spawn(const char *program, const char *folder, const json_t *record, bool is_new,
                   struct error *error)
{
    json_auto_t *value = json_pack("{s:b, s:O}", "is_new", is_new, "record", record);
    FREE_AUTO char *bytes = json_write(value);
    int input[2], output[2];
    bool done;

    if (pipe2(input, O_CLOEXEC) != 0)
        return error_set(error, ERROR_INTERNAL, "no pipe can be made: %s", strerror(errno));
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(input[0]);
        close(input[1]);
        return error_set(error, ERROR_INTERNAL, "no pipe can be made: %s", strerror(errno));
    }
    done = talk(program, folder, bytes, input, output, error);
    close(input[0]);
    close(output[0]);
    return done;
}
