/* SPDX-License-Identifier: Apache-2.0 */
/* bench_ceiling PORT BODY_BYTES: a server that is as fast as any server based on libmicrohttpd can
 * be. It reads requests as opsbrain does, in a loop like opsbrain's, and answers each with the same
 * BODY_BYTES bytes. */

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/core/memory.h"

#define CONNECTIONS 4096U
#define CONNECTION_MEMORY (10 * 1024UL) /* as in opsbrain */

/* libmicrohttpd prescribes the parameters. NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result serve(void *response, struct MHD_Connection *mhd, const char *path,
                             const char *verb, const char *version, const char *upload,
                             size_t *upload_size, void **slot)
{
    static int begun;

    (void)path, (void)verb, (void)version, (void)upload;
    if (*slot == NULL) {
        *slot = &begun;
        return MHD_YES;
    }
    if (*upload_size == 0)
        return MHD_queue_response(mhd, 200, response);
    *upload_size = 0;
    return MHD_YES;
}

static struct MHD_Response *constant(size_t length)
{
    char *body = memory_zeroed(length, 1);
    struct MHD_Response *response;

    memset(body, 'x', length);
    response = MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(response, "Content-Type", "application/json");
    return response;
}

static void run(struct MHD_Daemon *daemon)
{
    int fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    struct epoll_event event = { .events = EPOLLIN };
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
    for (;;) {
        MHD_UNSIGNED_LONG_LONG asked_ms;
        bool at_once = MHD_get_timeout(daemon, &asked_ms) == MHD_YES && asked_ms == 0;

        epoll_wait(epoll_fd, &event, 1, at_once ? 0 : -1);
        MHD_run(daemon);
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    struct MHD_Daemon *daemon;

    if (argc != 3) {
        fprintf(stderr, "usage: bench_ceiling PORT BODY_BYTES\n");
        return 2;
    }
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
                         serve, constant(strtoul(argv[2], NULL, 10)), MHD_OPTION_SOCK_ADDR,
                         &address, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_END);
    if (daemon == NULL) {
        perror("bench_ceiling");
        return 1;
    }
    run(daemon);
}
