/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/screen.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

void screen_begin(struct screen *screen)
{
    struct termios raw;

    *screen = (struct screen){ 0 };
    screen->is_raw = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &screen->before) == 0;
    if (screen->is_raw) {
        raw = screen->before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    fputs("\033[?1049h\033[?25l", stdout); /* the alternate screen, no cursor */
    fflush(stdout);
}

void screen_end(struct screen *screen)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (screen->is_raw)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &screen->before);
    screen->is_raw = false;
}

/* Everything is written with one call, over the previous contents, so that nothing flickers. The
 * last line is written without its newline, which would make the terminal scroll. */
void screen_draw(const struct text *lines)
{
    TEXT_AUTO out = { 0 };
    size_t length = lines->length;

    text_add(&out, "\033[H");
    while (length > 0 && lines->data[length - 1] == '\n')
        length--;
    for (size_t i = 0; i < length; i++)
        if (lines->data[i] == '\n')
            text_add(&out, "\033[K\n");
        else
            text_add_char(&out, lines->data[i]);
    text_add(&out, "\033[K\033[J");
    fwrite(text_string(&out), 1, out.length, stdout);
    fflush(stdout);
}

char screen_key(const struct screen *screen)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    char key = '\0';

    if (!screen->is_raw || poll(&input, 1, 0) <= 0 || read(STDIN_FILENO, &key, 1) != 1)
        return '\0';
    return key;
}
