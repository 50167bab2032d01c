/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain watch: a model server's live figures in the terminal. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "client/command/client.h"
#include "client/command/client_commands.h"
#include "client/command/tool_flags.h"
#include "client/terminal/display_width.h"
#include "client/terminal/interrupt.h"
#include "client/terminal/line_chart.h"
#include "client/terminal/readable.h"
#include "client/terminal/screen.h"

#define SAMPLES_MAX 1024 /* enough for a chart of 500 columns */
#define PAIR_COLUMNS 60  /* a terminal at least this wide shows the charts in pairs */
#define ROWS_MAX 16      /* maximum rows of a chart, without its title */
#define RETRY_MS 1000
#define INTERVAL_DEFAULT_S "2"

static const struct series {
    const char *title;           /* shown above the chart */
    const char *name;            /* shown in a line of text */
    const char *member, *figure; /* metrics_show answers {member: {figure: value}} */
    double scale;                /* the value is multiplied by this */
} series[] = {
    { "Requests running", "running", "now", "requests_running", 1 },
    { "Requests waiting", "waiting", "now", "requests_waiting", 1 },
    { "Output tokens/s", "tokens/s", "rates", "output_tokens_per_s", 1 },
    { "TTFT, mean, ms", "ttft_ms", "rates", "mean_ttft_ms", 1 },
    { "Gap between tokens, mean, ms", "itl_ms", "rates", "mean_itl_ms", 1 },
    { "KV cache in use, %", "kv_%", "now", "kv_cache_use", 100 },
};
#define SERIES (sizeof series / sizeof *series)

struct watch {
    struct client client;
    struct interrupt interrupt;
    struct screen screen;
    struct terminal drawn;              /* the terminal when the charts were last drawn */
    double values[SERIES][SAMPLES_MAX]; /* the newest last */
    size_t count;                       /* samples and gaps in `values` */
    char deployment[64];                /* its name; "": no answer yet */
    struct error failure; /* the error of the newest call; kind NONE: that call did not fail */
    bool live;            /* true: charts on a terminal; false: lines of text */
    bool ended;    /* stopped by q, Ctrl-C or a signal, or because the output cannot be written */
    int64_t limit; /* the watch ends after this many samples and gaps */
};

/* ---- Samples ---- */

static double read_figure(const json_t *answer, const struct series *one)
{
    double value = json_get_number(json_object_get(answer, one->member), one->figure, NAN);

    return value * one->scale;
}

/* Adds the figures in `answer` as the newest sample. If `answer` is NULL, adds a gap. */
static void add_sample(struct watch *watch, const json_t *answer)
{
    if (watch->count == SAMPLES_MAX) {
        for (size_t i = 0; i < SERIES; i++)
            memmove(watch->values[i], watch->values[i] + 1, (SAMPLES_MAX - 1) * sizeof(double));
        watch->count--;
    }
    for (size_t i = 0; i < SERIES; i++)
        watch->values[i][watch->count] = read_figure(answer, &series[i]);
    watch->count++;
}

static bool has_values(const struct watch *watch, size_t which)
{
    for (size_t i = 0; i < watch->count; i++)
        if (isfinite(watch->values[which][i]))
            return true;
    return false;
}

/* ---- The view ---- */

static void add_padded(struct text *out, const struct text *cell, size_t columns)
{
    size_t length = display_width_fit(text_string(cell), cell->length, columns);
    size_t width = display_width(text_string(cell), length);

    text_add_bytes(out, text_string(cell), length);
    for (; width < columns; width++)
        text_add_char(out, ' ');
}

/* Makes one chart of rows + 1 lines, the first of which is its title. */
static void make_chart(const struct watch *watch, size_t which, size_t columns, size_t rows,
                       struct text *lines)
{
    const double *values = watch->values[which];
    char figure[LINE_CHART_FIGURE_SIZE];

    text_addf(&lines[0], "%s: %s", series[which].title,
              line_chart_figure(watch->count > 0 ? values[watch->count - 1] : NAN, figure));
    if (watch->count > 0 && !has_values(watch, which))
        text_add(&lines[1], "      no values so far");
    else
        line_chart_render(values, watch->count, columns, rows, lines + 1);
}

/* Adds the chart of series[first]. If `abreast` is 2, the next series' chart is beside it. */
static void add_abreast(const struct watch *watch, size_t first, size_t abreast, size_t rows,
                        struct text *out)
{
    size_t columns = watch->drawn.columns / abreast - (abreast > 1);
    struct text lines[2][ROWS_MAX + 1] = { 0 };

    for (size_t i = 0; i < abreast && first + i < SERIES; i++)
        make_chart(watch, first + i, columns, rows, lines[i]);
    for (size_t row = 0; row <= rows; row++) {
        text_add(out, row == 0 ? terminal_style(&watch->drawn, STYLE_BOLD) : "");
        for (size_t i = 0; i < abreast; i++) {
            add_padded(out, &lines[i][row], columns);
            text_add(out, i + 1 < abreast ? "  " : "");
        }
        text_add(out, row == 0 ? terminal_style(&watch->drawn, STYLE_PLAIN) : "");
        text_add_char(out, '\n');
    }
    for (size_t i = 0; i < 2; i++)
        for (size_t row = 0; row <= ROWS_MAX; row++)
            text_finish(&lines[i][row]);
}

static void add_head(const struct watch *watch, struct text *out)
{
    char time[CLOCK_TEXT_SIZE];
    TEXT_AUTO head = { 0 };

    text_add_printable(&head, watch->deployment, strlen(watch->deployment), 64);
    text_addf(&head, "  %.19sZ  q: quit", clock_format_utc(clock_utc_ms(), time));
    if (watch->failure.kind != ERROR_NONE) {
        text_add(&head, "  ");
        text_add_printable(&head, watch->failure.message, strlen(watch->failure.message), 300);
    }
    for (char *c = head.data; *c != '\0'; c++)
        *c = *c == '\n' ? ' ' : *c;
    add_padded(out, &head, watch->drawn.columns);
    text_add_char(out, '\n');
}

static void draw(struct watch *watch)
{
    size_t abreast, blocks, rows;
    TEXT_AUTO lines = { 0 };

    watch->drawn = terminal_of(fileno(stdout));
    abreast = watch->drawn.columns >= PAIR_COLUMNS ? 2 : 1;
    blocks = (SERIES + abreast - 1) / abreast;
    rows = watch->drawn.rows / blocks > 3 ? (watch->drawn.rows - 1) / blocks - 1 : 2;
    rows = rows > ROWS_MAX ? ROWS_MAX : rows;
    add_head(watch, &lines);
    for (size_t i = 0; i < blocks && 1 + (i + 1) * (rows + 1) <= watch->drawn.rows; i++)
        add_abreast(watch, i * abreast, abreast, rows, &lines);
    screen_draw(&lines);
}

/* ---- Lines ---- */

static bool write_line(const struct watch *watch, const json_t *answer)
{
    char time[CLOCK_TEXT_SIZE], figure[LINE_CHART_FIGURE_SIZE];
    TEXT_AUTO line = { 0 };

    if (watch->client.json)
        readable_add_json(answer, 0, &line);
    else {
        text_addf(&line, "%.19sZ", clock_format_utc(clock_utc_ms(), time));
        for (size_t i = 0; i < SERIES; i++)
            text_addf(&line, " %s %s", series[i].name,
                      line_chart_figure(read_figure(answer, &series[i]), figure));
        text_add_char(&line, '\n');
    }
    return client_write(&line);
}

/* ---- The loop ---- */

/* Whether the watch has ended. Called several times a second, during a call and before a retry;
 * therefore also handles keys, signals and a resized terminal. */
static bool is_over(void *context)
{
    struct watch *watch = context;
    char key = watch->live ? screen_key(&watch->screen) : '\0';
    struct terminal now;

    /* in raw mode Ctrl-C is a key, not a signal */
    watch->interrupt.arrived = watch->interrupt.arrived || key == '\3';
    watch->ended = watch->ended || key == 'q' || key == 'Q' || interrupt_arrived(&watch->interrupt);
    if (watch->ended || !watch->live)
        return watch->ended;
    now = terminal_of(fileno(stdout));
    if (now.columns != watch->drawn.columns || now.rows != watch->drawn.rows)
        draw(watch);
    return false;
}

/* Adds a sample, or a gap if `answer` is NULL, and shows it. */
static void show_sample(struct watch *watch, const json_t *answer)
{
    if (answer != NULL)
        text_copy(watch->deployment, sizeof watch->deployment,
                  json_get_text(answer, "deployment", ""));
    add_sample(watch, answer);
    if (watch->live)
        draw(watch);
    else if (answer != NULL)
        watch->ended = !write_line(watch, answer);
    else
        client_fail(&watch->client, &watch->failure);
}

/* Once there is a sample, a failed call only adds a gap: the server might come back. */
static CHECKED bool sample(struct watch *watch, const json_t *arguments, struct error *error)
{
    json_auto_t *answer = NULL;

    watch->failure = (struct error){ 0 };
    if (client_call_quietly(&watch->client, "metrics_show", arguments, &answer, &watch->failure)) {
        show_sample(watch, answer);
        return true;
    }
    if (watch->ended)
        return true;
    if (watch->count == 0) {
        *error = watch->failure;
        return false;
    }
    show_sample(watch, NULL);
    for (int waited = 0; waited < RETRY_MS && !is_over(watch); waited += 100)
        interrupt_sleep(&watch->interrupt, 100);
    return true;
}

static CHECKED bool run(struct watch *watch, const json_t *arguments, struct error *error)
{
    bool done = true;

    interrupt_begin(&watch->interrupt);
    watch->client.remote.cancelled = is_over;
    watch->client.remote.context = watch;
    if (watch->live) {
        screen_begin(&watch->screen);
        draw(watch);
    }
    for (int64_t i = 0; done && !watch->ended && i < watch->limit; i++)
        done = sample(watch, arguments, error);
    if (watch->live)
        screen_end(&watch->screen);
    interrupt_end(&watch->interrupt);
    return done;
}

static CHECKED bool read_words(struct watch *watch, int argc, char *const *given,
                               json_t **arguments, struct error *error)
{
    static const struct tool_word word = { "watch", "metrics_show", "[deployment]" };
    const char *seconds = INTERVAL_DEFAULT_S, *count = NULL;
    const struct own_flag own[] = { { "json", .set = &watch->client.json },
                                    { "interval", .value = &seconds },
                                    { "count", .value = &count },
                                    { 0 } };
    const struct tool_flags flags = { .word = &word, .tool = "metrics_show", .own = own };
    double interval_s;
    char *end;

    if (!tool_flags_read(&flags, argc, given, arguments, error))
        return false;
    interval_s = strtod(seconds, &end);
    if (*end != '\0' || !(interval_s >= 0.2 && interval_s <= 30))
        return error_set(error, ERROR_INVALID,
                         "--interval is \"%.40s\": it must be a number of seconds from 0.2 to 30",
                         seconds);
    watch->limit = INT64_MAX;
    if (count != NULL && !text_to_integer(count, 1, INT64_MAX, &watch->limit))
        return error_set(error, ERROR_INVALID,
                         "--count is \"%.40s\": it must be a whole number, at least 1", count);
    json_object_set_new(*arguments, "interval_s", json_real(interval_s));
    return true;
}

bool client_watch_help(struct text *out, struct error *error)
{
    (void)error;
    text_add(out,
             "  opsbrain watch [DEPLOYMENT] [--interval " INTERVAL_DEFAULT_S
             "] [--count N] [--json]\n"
             "      Shows the current load, tokens/s, TTFT, gaps between tokens and KV cache use, "
             "read from the model server itself: as charts on a terminal (q or Ctrl-C to quit), "
             "as lines of text in a pipe.\n\n"
             "  --interval S\n"
             "      the seconds over which each sample's rates are computed, from 0.2 to 30\n"
             "  --count N\n"
             "      ends the watch after N samples\n\n");
    text_add(out, client_statuses);
    return true;
}

static int carry_out(struct watch *watch, int argc, char *const *given)
{
    json_auto_t *arguments = NULL;
    struct error error;

    if (!client_open(&watch->client, &error))
        return client_fail(&watch->client, &error);
    if (!read_words(watch, argc, given, &arguments, &error)) {
        client_fail(&watch->client, &error);
        return STATUS_USAGE;
    }
    watch->live = watch->client.out.is_drawable && !watch->client.json;
    if (!run(watch, arguments, &error))
        return client_fail(&watch->client, &error);
    return watch->interrupt.arrived ? STATUS_INTERRUPTED : STATUS_DONE;
}

int client_watch(int argc, char *const *argv)
{
    struct watch *watch;
    int status;

    if (client_asks_for_help(argc, argv))
        return client_help_show("watch");
    display_width_begin();
    watch = memory_zeroed(1, sizeof *watch);
    status = carry_out(watch, argc - 1, argv + 1);
    client_finish(&watch->client);
    free(watch);
    return status;
}
