/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/hidden_line.h"

#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include "client/terminal/interrupt.h"

#define CTRL_C 3
#define CTRL_D 4
#define BACKSPACE 8
#define DELETE 127

/* Switches off ECHO and ECHONL, to hide what is typed; ISIG, because Ctrl-Z would leave the
 * terminal without echo; and ICANON, so that handle_key gets every key. */
static bool hide(struct termios *before)
{
    struct termios hidden;

    if (tcgetattr(STDIN_FILENO, before) != 0)
        return false;
    hidden = *before;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ISIG | ICANON);
    return tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
}

/* Handles a key. False: the line has ended, because of this key or because the limit is reached. */
static bool handle_key(struct text *out, char c, bool *cancelled)
{
    *cancelled = c == CTRL_C;
    if (*cancelled || c == CTRL_D || c == '\n' || c == '\r')
        return false;
    if ((c == DELETE || c == BACKSPACE) && out->length > 0)
        out->data[--out->length] = '\0';
    else if (c != DELETE && c != BACKSPACE)
        text_add_char(out, c);
    return out->length < HIDDEN_LINE_LIMIT;
}

static bool read_line(struct interrupt *interrupt, struct text *out)
{
    bool cancelled = false;
    char c;

    text_reserve(out, HIDDEN_LINE_LIMIT + 1); /* a buffer that grows would leave a copy behind */
    while (interrupt_until_input(interrupt, STDIN_FILENO) && read(STDIN_FILENO, &c, 1) == 1
           && handle_key(out, c, &cancelled))
        continue;
    return !cancelled && !interrupt->arrived;
}

static void trim(struct text *text)
{
    size_t begin = strspn(text_string(text), " \t");

    while (text->length > begin && strchr(" \t", text->data[text->length - 1]) != NULL)
        text->length--;
    if (text->data == NULL)
        return;
    memmove(text->data, text->data + begin, text->length - begin);
    text->length -= begin;
    text->data[text->length] = '\0';
}

bool hidden_line_read(const char *prompt, struct text *out, struct error *error)
{
    struct interrupt interrupt;
    struct termios before;
    bool is_terminal, done;

    /* a signal ends the input, not the process: the terminal must be restored */
    interrupt_begin(&interrupt);
    is_terminal = isatty(STDIN_FILENO) == 1 && hide(&before);
    if (is_terminal)
        fputs(prompt, stderr); /* what is typed from now on is neither shown nor lost */
    done = read_line(&interrupt, out);
    if (is_terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fputc('\n', stderr);
    }
    interrupt_end(&interrupt);
    trim(out);
    return done || error_set(error, ERROR_CANCELLED, "interrupted: nothing was stored");
}
