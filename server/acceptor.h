/* Takes the connections of one HTTP thread from its listening socket, within the caps on all of
 * them and on each address. Where a cap or the limit of descriptors is reached, new ones wait in
 * the kernel until others close. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct http_loop;

struct acceptor {
    int fd;              /* listens; -1 once closed */
    bool ready;          /* something waits on it */
    int64_t resume_ns;   /* when to try again, monotonic; 0: not paused */
    int64_t told_ns;     /* the last log line */
    const char *address; /* of the connection that is being opened; NULL: not counted */
};

/* Watches the socket with the loop's epoll; false with errno. */
bool acceptor_watch(struct http_loop *loop);
void acceptor_close(struct http_loop *loop);
/* Each turn: takes what waits. */
void acceptor_run(struct http_loop *loop);
/* Each turn: goes on after a pause. */
void acceptor_resume(struct http_loop *loop, int64_t now_ns);
/* A connection closed: a pause may end. */
void acceptor_hurry(struct http_loop *loop);
/* As addresses are counted: who has a whole network of IPv6, as anyone has, is one. */
void acceptor_write_address(const struct sockaddr *address, char out[INET6_ADDRSTRLEN]);
