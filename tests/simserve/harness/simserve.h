/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: calls a simserve process over plain sockets. The running cmocka test fails if a
 * request cannot be sent or no answer comes in time. */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/core/text.h"
#include "base/json/json.h"
#include "tests/simserve/harness/process.h"

#define SIMSERVE_DEADLINE_S 20

static inline int simserve_connect(const struct simserve *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)server->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval timeout = { .tv_sec = SIMSERVE_DEADLINE_S };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static inline void simserve_write(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

        assert_true(sent > 0);
        bytes += sent;
        length -= (size_t)sent;
    }
}

/* Sends one request. `headers`: further header lines ("Name: value\r\n" each) or "". */
static inline void simserve_send(int fd, const char *method, const char *path, const char *headers,
                                 const char *body)
{
    TEXT_AUTO request = { 0 };

    text_addf(&request, "%s %s HTTP/1.1\r\nHost: sim\r\n%sContent-Length: %zu\r\n\r\n%s", method,
              path, headers, strlen(body), body);
    simserve_write(fd, request.data, request.length);
}

/* An answer, read up to its end as HTTP defines it, or until the connection ended. */
struct answer {
    int status;       /* 0 if the connection ended before the end of the head */
    bool complete;    /* the body was received to its end, not cut off by a closed connection */
    bool reset;       /* the connection was reset */
    struct text head; /* up to and including the empty line */
    struct text body; /* without chunk framing */
    int reads;        /* calls of recv() that returned bytes */
    int64_t first_byte_ns; /* when recv() first returned, even without bytes */
    int64_t end_ns;        /* when recv() last returned */
};

#define ANSWER_AUTO __attribute__((cleanup(answer_finish))) struct answer

static inline void answer_finish(struct answer *answer)
{
    text_finish(&answer->head);
    text_finish(&answer->body);
}

static inline int64_t simserve_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Reads once and appends the bytes to `raw`. Returns false if the connection has ended. */
static inline bool simserve_read(int fd, struct text *raw, struct answer *answer)
{
    char bytes[16384];
    ssize_t length = recv(fd, bytes, sizeof bytes, 0);

    if (answer->first_byte_ns == 0)
        answer->first_byte_ns = simserve_now_ns();
    answer->end_ns = simserve_now_ns();
    if (length < 0) {
        assert_int_equal(errno, ECONNRESET); /* anything else, such as a timeout, fails the test */
        answer->reset = true;
    }
    if (length <= 0)
        return false;
    answer->reads++;
    text_add_bytes(raw, bytes, (size_t)length);
    return true;
}

/* Appends the complete chunks at *position to `body`, and moves *position past them. Returns true
 * after the last chunk of the answer. */
static inline bool simserve_unchunk(struct text *raw, size_t *position, struct text *body)
{
    for (;;) {
        const char *line = raw->data + *position;
        const char *end = memmem(line, raw->length - *position, "\r\n", 2);
        size_t size;

        if (end == NULL)
            return false;
        size = strtoul(line, NULL, 16);
        if ((size_t)(end + 2 - raw->data) + size + 2 > raw->length)
            return false;
        text_add_bytes(body, end + 2, size);
        *position = (size_t)(end + 2 - raw->data) + size + 2;
        if (size == 0)
            return true;
    }
}

/* Reads one answer. The server must not send more than that: the test fails if bytes after the
 * end of a chunked answer were read. */
static inline void simserve_receive(int fd, struct answer *out)
{
    TEXT_AUTO raw = { 0 };
    const char *blank = NULL, *declared;
    size_t position;

    *out = (struct answer){ 0 };
    while (blank == NULL) {
        if (!simserve_read(fd, &raw, out))
            return;
        blank = memmem(raw.data, raw.length, "\r\n\r\n", 4);
    }
    position = (size_t)(blank + 4 - raw.data);
    text_add_bytes(&out->head, raw.data, position);
    assert_int_equal(sscanf(out->head.data, "HTTP/1.1 %d", &out->status), 1);
    declared = strstr(out->head.data, "content-length: ");
    if (declared) {
        size_t length = strtoul(declared + strlen("content-length: "), NULL, 10);

        while (raw.length < position + length && simserve_read(fd, &raw, out))
            ;
        text_add_bytes(&out->body, raw.data + position, raw.length - position);
        out->complete = out->body.length == length;
        return;
    }
    while (!(out->complete = simserve_unchunk(&raw, &position, &out->body)))
        if (!simserve_read(fd, &raw, out))
            return;
    assert_int_equal(position, raw.length);
}

/* Sends one request on a new connection, and reads the answer. */
static inline void simserve_call(const struct simserve *server, const char *method,
                                 const char *path, const char *headers, const char *body,
                                 struct answer *out)
{
    int fd = simserve_connect(server);

    simserve_send(fd, method, path, headers, body);
    simserve_receive(fd, out);
    close(fd);
}

/* Sends one request, and returns its JSON answer, which the caller releases. The answer must have
 * the status `status`. */
static inline json_t *simserve_json(const struct simserve *server, const char *method,
                                    const char *path, const char *body, int status)
{
    ANSWER_AUTO answer = { 0 };
    struct error error;
    json_t *out = NULL;

    simserve_call(server, method, path, "", body, &answer);
    assert_int_equal(answer.status, status);
    if (!json_parse(text_string(&answer.body), answer.body.length, &out, &error))
        fail_msg("%s %s: %s", method, path, error.message);
    return out;
}

/* Parses the data of all events into a list, which the caller releases; [DONE] becomes a string. */
static inline json_t *simserve_events(const struct text *body)
{
    json_t *events = json_array();
    const char *line = text_string(body);
    struct error error;

    for (size_t length; *line; line += length + (line[length] == '\n')) {
        const char *data = line + strlen("data:");
        size_t rest;
        json_t *event;

        length = strcspn(line, "\n");
        if (strncmp(line, "data:", strlen("data:")) != 0)
            continue;
        data += *data == ' ';
        rest = (size_t)(line + length - data);
        rest -= rest > 0 && data[rest - 1] == '\r';
        if (rest == strlen("[DONE]") && memcmp(data, "[DONE]", rest) == 0)
            event = json_string("[DONE]");
        else
            assert_true(json_parse(data, rest, &event, &error));
        json_array_append_new(events, event);
    }
    return events;
}

/* Waits until a request with this id has ended, and returns the newest record with the id, which
 * the caller releases. */
static inline json_t *simserve_truth(const struct simserve *server, const char *request_id)
{
    int64_t deadline = simserve_now_ns() + SIMSERVE_DEADLINE_S * INT64_C(1000000000);
    json_t *found = NULL;

    while (found == NULL && simserve_now_ns() < deadline) {
        ANSWER_AUTO answer = { 0 };
        struct error error;
        char *rest = NULL;

        simserve_call(server, "GET", "/sim/truth", "", "", &answer);
        if (answer.body.length == 0)
            continue;
        for (char *line = strtok_r(answer.body.data, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest)) {
            json_auto_t *record = NULL;

            assert_true(json_parse(line, strlen(line), &record, &error));
            if (strcmp(json_get_text(record, "request_id", ""), request_id) != 0)
                continue;
            json_decref(found);
            found = json_incref(record);
        }
    }
    assert_non_null(found);
    return found;
}

/* Returns the value of one sample in /metrics, or -1 if it is missing. `sample`: its name and
 * labels, exactly as in /metrics. */
static inline double simserve_metric(const struct simserve *server, const char *sample)
{
    ANSWER_AUTO answer = { 0 };
    const char *line;

    simserve_call(server, "GET", "/metrics", "", "", &answer);
    line = answer.body.data;
    while (line && strncmp(line, sample, strlen(sample)) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line ? strtod(line + strlen(sample), NULL) : -1;
}

/* Waits until the sample has the value. */
static inline void simserve_wait_metric(const struct simserve *server, const char *sample,
                                        double value)
{
    int64_t deadline = simserve_now_ns() + SIMSERVE_DEADLINE_S * INT64_C(1000000000);

    while (simserve_metric(server, sample) != value)
        assert_true(simserve_now_ns() < deadline);
}
