/* SPDX-License-Identifier: Apache-2.0 */
/* Runs nghttpx, a reverse proxy for TLS and HTTP/2, in front of a server on loopback, with a new
 * self-signed certificate. Skips the test if nghttpx is not installed or openssl cannot make the
 * certificate. */
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROXY_BINARY "/usr/sbin/nghttpx"
#define PROXY_TRIES 20

struct proxy {
    pid_t pid;
    int port;
    char folder[64], key[96], certificate[96];
};

/* Returns a free port below the range that the system uses for outgoing connections. */
static inline int proxy_free_port(void)
{
    for (int i = 0;; i++) {
        int port = 20000 + (int)(((unsigned)getpid() * 31U + (unsigned)rand()) % 12000U);
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_port = htons((uint16_t)port),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool is_free = bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0;

        close(descriptor);
        if (is_free)
            return port;
        assert_true(i < 1000);
    }
}

static inline bool proxy_answers(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answers = connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;

    close(descriptor);
    return answers;
}

static inline void proxy_make_certificate(struct proxy *proxy)
{
    char command[512];

    snprintf(proxy->folder, sizeof proxy->folder, "/tmp/opsbrain-proxy-XXXXXX");
    assert_non_null(mkdtemp(proxy->folder));
    snprintf(proxy->key, sizeof proxy->key, "%s/key.pem", proxy->folder);
    snprintf(proxy->certificate, sizeof proxy->certificate, "%s/certificate.pem", proxy->folder);
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout %s -out %s "
             "2>/dev/null",
             proxy->key, proxy->certificate);
    if (system(command) != 0) { // NOLINT(cert-env33-c): a fixed command in a test
        print_message("skipped: openssl is not installed or cannot make a certificate\n");
        skip();
    }
}

static inline pid_t proxy_spawn(const struct proxy *proxy, int backend_port)
{
    char frontend[64], backend[64];
    pid_t pid;

    snprintf(frontend, sizeof frontend, "--frontend=127.0.0.1,%d", proxy->port);
    snprintf(backend, sizeof backend, "--backend=127.0.0.1,%d", backend_port);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execl(PROXY_BINARY, PROXY_BINARY, "--conf=/dev/null", "--workers=1", "--no-ocsp",
              "--single-process", "--errorlog-file=/dev/null", frontend, backend, proxy->key,
              proxy->certificate, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Waits until the proxy accepts connections. Returns false if the proxy exits instead, for example
 * because another process has taken the port in the meantime. */
static inline bool proxy_becomes_ready(struct proxy *proxy)
{
    const struct timespec pause = { .tv_nsec = 10000000 };

    for (int i = 0; i < 2000; i++) {
        if (waitpid(proxy->pid, NULL, WNOHANG) == proxy->pid)
            return false;
        if (proxy_answers(proxy->port))
            return true;
        nanosleep(&pause, NULL);
    }
    fail_msg("nghttpx did not listen within 20 s");
    return false;
}

static inline struct proxy proxy_start(int backend_port)
{
    struct proxy proxy = { 0 };

    if (access(PROXY_BINARY, X_OK) != 0) {
        print_message("skipped: nghttpx (Debian package nghttp2-proxy) is not installed\n");
        skip();
    }
    proxy_make_certificate(&proxy);
    for (int i = 0; i < PROXY_TRIES; i++) {
        proxy.port = proxy_free_port();
        proxy.pid = proxy_spawn(&proxy, backend_port);
        if (proxy_becomes_ready(&proxy))
            return proxy;
    }
    fail_msg("nghttpx exited at once on each of %d ports", PROXY_TRIES);
    return proxy;
}

static inline void proxy_stop(struct proxy *proxy)
{
    kill(proxy->pid, SIGKILL);
    waitpid(proxy->pid, NULL, 0);
    unlink(proxy->key);
    unlink(proxy->certificate);
    rmdir(proxy->folder);
}
