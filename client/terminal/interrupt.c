/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void list_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGHUP);
}

void interrupt_begin(struct interrupt *interrupt)
{
    sigset_t signals;

    list_signals(&signals);
    *interrupt = (struct interrupt){ .descriptor = signalfd(-1, &signals, SFD_CLOEXEC) };
    if (interrupt->descriptor >= 0)
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

bool interrupt_sleep(struct interrupt *interrupt, int64_t milliseconds)
{
    struct pollfd descriptor = { .fd = interrupt->descriptor, .events = POLLIN };

    interrupt->arrived = interrupt->arrived || poll(&descriptor, 1, (int)milliseconds) > 0;
    return !interrupt->arrived;
}

bool interrupt_until_input(struct interrupt *interrupt, int descriptor)
{
    struct pollfd descriptors[] = { { .fd = interrupt->descriptor, .events = POLLIN },
                                    { .fd = descriptor, .events = POLLIN } };

    if (poll(descriptors, 2, -1) > 0 && descriptors[0].revents != 0)
        interrupt->arrived = true;
    return !interrupt->arrived;
}

bool interrupt_arrived(void *context)
{
    return !interrupt_sleep(context, 0);
}

/* After the first signal, all of them stay blocked, so that the command ends cleanly however often
 * Ctrl-C is pressed. */
void interrupt_end(struct interrupt *interrupt)
{
    sigset_t signals;

    if (interrupt->descriptor < 0)
        return;
    close(interrupt->descriptor);
    interrupt->descriptor = -1;
    list_signals(&signals);
    if (!interrupt->arrived)
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}
