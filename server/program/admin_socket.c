/* SPDX-License-Identifier: Apache-2.0 */
/* The two ends of <data>/admin.sock. A connection has one request and one reply, each one line of
 * JSON. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "base/json/json.h"
#include "server/access/authority.h"
#include "server/program/admin.h"

#define LINE_LIMIT ((size_t)1 << 20) /* the maximum length of a request or reply, in bytes */
/* How many seconds each end waits for the other to send or receive. A client waits "patience_s"
 * seconds for the reply instead if its request has that member. */
#define TALK_S 5

struct admin {
    const struct access *access;
    struct authority *authority;
    const char *address;
    int folder_fd, listen_fd, stop_fd;
    pthread_t thread;
    bool started;
};

/* A socket's path can have at most 107 bytes, but the folder's path can be longer, so the socket is
 * addressed through /proc. */
static CHECKED bool open_socket(const char *folder, int *folder_fd, int *socket_fd,
                                struct sockaddr_un *address, struct error *error)
{
    static const struct timeval patience = { .tv_sec = TALK_S };

    *folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*folder_fd < 0)
        return error_set(error, ERROR_INVALID, "cannot open the data folder %.200s: %s", folder,
                         strerror(errno));
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/admin.sock",
             *folder_fd);
    *socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*socket_fd < 0) {
        close(*folder_fd);
        return error_set(error, ERROR_INTERNAL, "cannot create a socket: %s", strerror(errno));
    }
    setsockopt(*socket_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(*socket_fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return true;
}

static bool send_line(int fd, const json_t *value)
{
    FREE_AUTO char *json = json_write(value);
    size_t length = strlen(json);

    json[length] = '\n'; /* replaces the NUL */
    for (size_t sent = 0; sent <= length;) {
        ssize_t part = send(fd, json + sent, length + 1 - sent, MSG_NOSIGNAL);

        if (part <= 0)
            return false;
        sent += (size_t)part;
    }
    return true;
}

static CHECKED bool receive_line(int fd, json_t **out, struct error *error)
{
    TEXT_AUTO line = { 0 };
    char buffer[4096];

    while (line.length < LINE_LIMIT) {
        ssize_t part = recv(fd, buffer, sizeof buffer, 0);

        if (part <= 0)
            return error_set(error, ERROR_TIMEOUT,
                             "admin.sock: the other end sent no complete line");
        text_add_bytes(&line, buffer, (size_t)part);
        if (buffer[part - 1] == '\n')
            return json_parse(text_string(&line), line.length, out, error);
    }
    return error_set(error, ERROR_INVALID, "admin.sock: the line is longer than 1 MiB");
}

/* ---- The server's end ---- */

static json_t *answer(struct admin *admin, const json_t *request)
{
    struct error error, problem;
    json_t *reply;

    if (!admin_execute(admin->access, request, &reply, &error))
        reply = json_pack("{s:s}", "error", error.message);
    if (!authority_refresh(admin->authority, &problem))
        log_error("the keys may have changed, but cannot be read: %s", problem.message);
    return reply;
}

/* Adds to the request the user who runs the client, as the kernel reports it. */
static void name_client(int fd, json_t *request)
{
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t length = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        log_warning("admin.sock: the client's user is unknown: %s", strerror(errno));
    admin_set_client(request, (long)peer.uid);
}

static void serve_one(struct admin *admin, int fd)
{
    static const struct timeval patience = { .tv_sec = TALK_S };
    json_auto_t *request = NULL;
    json_auto_t *reply = NULL;
    struct error error;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (!receive_line(fd, &request, &error)) {
        log_warning("%s", error.message);
        return;
    }
    name_client(fd, request);
    json_object_set_new(request, "address", json_string(admin->address));
    reply = answer(admin, request);
    if (!send_line(fd, reply))
        log_warning("admin.sock: the reply could not be sent");
}

static void *run_thread(void *context)
{
    struct admin *admin = context;
    struct pollfd fds[] = { { .fd = admin->listen_fd, .events = POLLIN },
                            { .fd = admin->stop_fd, .events = POLLIN } };

    while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
        int fd;

        if (fds[1].revents != 0)
            break;
        fd = accept(admin->listen_fd, NULL, NULL);
        if (fd < 0)
            continue;
        serve_one(admin, fd);
        close(fd);
    }
    return NULL;
}

/* This process has locked the folder, so an existing socket was left by a dead process. */
static CHECKED bool start_listening(struct admin *admin, const char *folder, struct error *error)
{
    struct sockaddr_un address;
    mode_t before;
    bool bound;

    if (!open_socket(folder, &admin->folder_fd, &admin->listen_fd, &address, error))
        return false;
    unlinkat(admin->folder_fd, "admin.sock", 0);
    before = umask(0177);
    bound = bind(admin->listen_fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(before);
    if (!bound || listen(admin->listen_fd, 16) != 0)
        return error_set(error, ERROR_INTERNAL, "cannot listen on %.200s/admin.sock: %s", folder,
                         strerror(errno));
    return true;
}

bool admin_create(const char *folder, const struct access *access, struct authority *authority,
                  const char *address, struct admin **out, struct error *error)
{
    struct admin *admin = memory_zeroed(1, sizeof *admin);

    admin->access = access;
    admin->authority = authority;
    admin->address = address;
    admin->folder_fd = admin->listen_fd = -1;
    admin->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (!start_listening(admin, folder, error)
        || !thread_start("admin", run_thread, admin, &admin->thread, error)) {
        admin_destroy(admin);
        return false;
    }
    admin->started = true;
    *out = admin;
    return true;
}

void admin_destroy(struct admin *admin)
{
    if (admin == NULL)
        return;
    if (admin->started && eventfd_write(admin->stop_fd, 1) == 0)
        pthread_join(admin->thread, NULL);
    if (admin->listen_fd >= 0) {
        unlinkat(admin->folder_fd, "admin.sock", 0);
        close(admin->listen_fd);
        close(admin->folder_fd);
    }
    close(admin->stop_fd);
    free(admin);
}

/* ---- The client's end ---- */

static CHECKED bool talk(int fd, const json_t *request, json_t **reply, struct error *error)
{
    json_t *answer;
    const char *problem;

    if (!send_line(fd, request))
        return error_set(error, ERROR_INTERNAL, "cannot send the request through admin.sock: %s",
                         strerror(errno));
    if (!receive_line(fd, &answer, error))
        return false;
    problem = json_get_text(answer, "error", NULL);
    if (problem != NULL) {
        error_set(error, ERROR_INVALID, "%s", problem);
        json_decref(answer);
        return false;
    }
    *reply = answer;
    return true;
}

bool admin_ask(const char *folder, const json_t *request, bool *running, json_t **reply,
               struct error *error)
{
    struct timeval patience = { 0 };
    struct sockaddr_un address;
    int folder_fd, fd;
    bool done;

    *running = false;
    if (access(folder, F_OK) != 0)
        return true;
    if (!open_socket(folder, &folder_fd, &fd, &address, error))
        return false;
    patience.tv_sec = json_get_integer(request, "patience_s", TALK_S);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    *running = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    done = !*running || talk(fd, request, reply, error);
    close(fd);
    close(folder_fd);
    return done;
}
