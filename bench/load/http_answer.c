/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/http_answer.h"

#include <string.h>
#include <strings.h>

/* Numbers of this many digits fit into 64 bits. */
#define SIZE_DIGITS 15   /* hexadecimal: the size of a chunk */
#define LENGTH_DIGITS 18 /* decimal: Content-Length */

enum state {
    STATUS_LINE,
    HEADERS,
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_DATA,
    CHUNK_END,
    TRAILERS,
    BY_LENGTH,
    UNTIL_CLOSE,
    ENDED,
    STOPPED,
    WRONG,
};

/* The bytes to be read, and the listener that receives the answer. */
struct input {
    const char *at, *end;
    const struct http_answer_listener *listener;
    void *context;
};

void http_answer_begin(struct http_answer *answer)
{
    *answer = (struct http_answer){ .state = STATUS_LINE };
}

static void refuse(struct http_answer *answer, const char *why)
{
    answer->state = WRONG;
    answer->wrong = why;
}

/* ---- Lines of the head ----------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads a line such as "HTTP/1.1 200 OK"; the text after the number can be missing. */
static void read_status_line(struct http_answer *answer, const char *line, size_t length)
{
    if (length < 12 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1')
        || line[8] != ' ' || line[9] < '1' || line[9] > '9' || !is_digit(line[10])
        || !is_digit(line[11]) || (length > 12 && line[12] != ' ')) {
        refuse(answer, "the answer does not begin with an HTTP/1.0 or HTTP/1.1 status line");
        return;
    }
    answer->is_old = line[7] == '0';
    answer->status = 100 * (line[9] - '0') + 10 * (line[10] - '0') + (line[11] - '0');
    answer->state = HEADERS;
}

static bool is_word(const char *word, size_t length, const char *wanted)
{
    return strlen(wanted) == length && strncasecmp(word, wanted, length) == 0;
}

static void read_length(struct http_answer *answer, const char *value, size_t length)
{
    uint64_t number = 0;

    if (length == 0 || length > LENGTH_DIGITS) {
        refuse(answer, "Content-Length is not a number of 1 to 18 digits");
        return;
    }
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(value[i])) {
            refuse(answer, "Content-Length is not a number of 1 to 18 digits");
            return;
        }
        number = 10 * number + (uint64_t)(value[i] - '0');
    }
    if (answer->has_length && number != answer->left)
        refuse(answer, "Content-Length occurs twice, with different values");
    answer->has_length = true;
    answer->left = number;
}

/* Finds the next member of a comma-separated list; false at its end. */
static bool next_member(const char **list, size_t *left, const char **member, size_t *length)
{
    while (*left > 0 && (**list == ' ' || **list == '\t' || **list == ',')) {
        (*list)++;
        (*left)--;
    }
    *member = *list;
    *length = 0;
    while (*left > 0 && **list != ',') {
        (*list)++;
        (*left)--;
        (*length)++;
    }
    while (*length > 0 && ((*member)[*length - 1] == ' ' || (*member)[*length - 1] == '\t'))
        (*length)--;
    return *length > 0;
}

static void read_connection(struct http_answer *answer, const char *value, size_t left)
{
    const char *member;
    size_t length;

    while (next_member(&value, &left, &member, &length)) {
        answer->says_close |= is_word(member, length, "close");
        answer->says_keep |= is_word(member, length, "keep-alive");
    }
}

static void read_coding(struct http_answer *answer, const char *value, size_t length)
{
    if (!is_word(value, length, "chunked"))
        refuse(answer, "Transfer-Encoding is not 'chunked'");
    answer->is_odd |= answer->is_chunked; /* some proxies repeat this header */
    answer->is_chunked = true;
}

static void refuse_compression(struct http_answer *answer, const char *value, size_t length)
{
    if (length > 0 && !is_word(value, length, "identity"))
        refuse(answer, "the answer is compressed (Content-Encoding), although the request accepts "
                       "only 'identity'");
}

static void read_type(struct http_answer *answer, const char *value, size_t length)
{
    size_t kept = length < sizeof answer->type ? length : sizeof answer->type - 1;

    memcpy(answer->type, value, kept);
    answer->type[kept] = '\0';
}

/* Reads a header if it is one of those that matter here. `is_truncated`: the line might be longer
 * than the HTTP_ANSWER_LINE bytes that were kept. */
static void read_header(struct http_answer *answer, const char *line, size_t length,
                        bool is_truncated)
{
    static const struct {
        const char *name;
        void (*read)(struct http_answer *answer, const char *value, size_t length);
        bool must_be_complete;
    } known[] = {
        { "Content-Length", read_length, true },
        { "Transfer-Encoding", read_coding, true },
        { "Content-Encoding", refuse_compression, true },
        { "Connection", read_connection, true },
        { "Content-Type", read_type, false },
    };
    const char *colon = memchr(line, ':', length);
    const char *value, *end = line + length;
    size_t name_length;

    if (colon == NULL || colon == line || memchr(line, '\0', length) != NULL || colon[-1] == ' '
        || colon[-1] == '\t') {
        refuse(answer, "a line in the answer's head is not a valid header");
        return;
    }
    name_length = (size_t)(colon - line);
    for (value = colon + 1; value < end && (*value == ' ' || *value == '\t'); value++)
        ;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is_word(line, name_length, known[i].name))
            continue;
        if (is_truncated && known[i].must_be_complete)
            refuse(answer, "a Content-Length, Transfer-Encoding, Content-Encoding or Connection "
                           "header is too long");
        else
            known[i].read(answer, value, (size_t)(end - value));
        return;
    }
}

/* Skips an interim (1xx) answer: it has no body, and another head follows. */
static void skip_interim(struct http_answer *answer)
{
    uint32_t head_bytes = answer->head_bytes;

    if (answer->status == 101) {
        refuse(answer, "the server switched to another protocol (101)");
        return;
    }
    http_answer_begin(answer);
    answer->begun = true;
    answer->head_bytes = head_bytes;
}

static void end_head(struct http_answer *answer, const struct input *input)
{
    if (answer->status / 100 == 1) {
        skip_interim(answer);
        return;
    }
    answer->keeps_open = answer->is_old ? answer->says_keep : !answer->says_close;
    answer->keeps_open &= !(answer->is_chunked && (answer->has_length || answer->is_old));
    answer->keeps_open &= !answer->is_odd;
    if (answer->status == 204 || answer->status == 304)
        answer->state = ENDED;
    else if (answer->is_chunked)
        answer->state = CHUNK_SIZE;
    else if (answer->has_length)
        answer->state = answer->left > 0 ? BY_LENGTH : ENDED;
    else
        answer->state = UNTIL_CLOSE;
    answer->digits = 0;
    if (answer->is_chunked)
        answer->left = 0;
    input->listener->on_head(input->context, answer->status, answer->type);
}

static void interpret_line(struct http_answer *answer, const char *line, size_t length,
                           bool is_truncated, const struct input *input)
{
    if (length > 0 && !is_truncated && line[length - 1] == '\r')
        length--;
    if (answer->state == STATUS_LINE)
        read_status_line(answer, line, length);
    else if (answer->state == TRAILERS)
        answer->state = length == 0 ? ENDED : TRAILERS;
    else if (length == 0)
        end_head(answer, input);
    else
        read_header(answer, line, length, is_truncated);
}

/* Reads the current line as far as it has arrived, and interprets it once it is complete. Keeps
 * only the start of a long line. */
static void read_line(struct http_answer *answer, struct input *input)
{
    const char *newline = memchr(input->at, '\n', (size_t)(input->end - input->at));
    size_t length = (size_t)((newline != NULL ? newline : input->end) - input->at);
    size_t room = HTTP_ANSWER_LINE - answer->line_length;
    size_t kept = length < room ? length : room;
    const char *line = input->at;

    if (length + 1 > HTTP_ANSWER_HEAD - answer->head_bytes) {
        refuse(answer, "the head and trailers of the answer are longer than 64 KiB");
        return;
    }
    input->at += length + (newline != NULL);
    answer->head_bytes += (uint32_t)(length + (newline != NULL));
    if (newline == NULL || answer->line_length > 0) {
        memcpy(answer->line + answer->line_length, line, kept);
        kept = answer->line_length += (uint32_t)kept;
        line = answer->line;
    }
    if (newline == NULL)
        return;
    answer->line_length = 0;
    interpret_line(answer, line, kept, kept == HTTP_ANSWER_LINE, input);
}

/* ---- The body -------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Called at the end of the line that contains a chunk's size. */
static void begin_chunk(struct http_answer *answer)
{
    if (answer->digits == 0)
        refuse(answer, "a chunk has no size");
    else
        answer->state = answer->left > 0 ? CHUNK_DATA : TRAILERS;
    answer->digits = 0;
}

static void read_chunk_size(struct http_answer *answer, struct input *input)
{
    while (input->at < input->end) {
        int value = hex_value(*input->at);

        if (value < 0)
            break;
        if (++answer->digits > SIZE_DIGITS) {
            refuse(answer, "the size of a chunk has too many digits");
            return;
        }
        answer->left = answer->left << 4 | (uint64_t)value;
        input->at++;
    }
    if (input->at == input->end)
        return;
    answer->state = CHUNK_EXTENSION;
    answer->line_length = 0;
    if (*input->at != '\r' && *input->at != '\n' && *input->at != ';' && *input->at != ' '
        && *input->at != '\t')
        refuse(answer, "the size of a chunk is not a hexadecimal number");
}

static void read_chunk_extension(struct http_answer *answer, struct input *input)
{
    const char *newline = memchr(input->at, '\n', (size_t)(input->end - input->at));
    size_t length = (size_t)((newline != NULL ? newline : input->end) - input->at);

    if (length > HTTP_ANSWER_EXTENSION - answer->line_length) {
        refuse(answer, "the text after the size of a chunk is longer than 4 KiB");
        return;
    }
    answer->line_length += (uint32_t)length;
    input->at += length + (newline != NULL);
    if (newline == NULL)
        return;
    answer->line_length = 0;
    begin_chunk(answer);
}

/* Reads one byte of the line end (CR LF, or LF) after the data of a chunk. */
static void read_chunk_end(struct http_answer *answer, struct input *input)
{
    char c = *input->at++;

    if (c == '\n') {
        answer->state = CHUNK_SIZE;
        answer->digits = 0;
    } else if (c == '\r' && answer->digits == 0) {
        answer->digits = 1; /* CR was read: only LF can follow */
    } else {
        refuse(answer, "a chunk is longer than its stated size");
    }
}

/* Passes on as many of the `left` bytes as have arrived. After the last of them, the state becomes
 * `next`. */
static void read_counted(struct http_answer *answer, struct input *input, enum state next)
{
    size_t available = (size_t)(input->end - input->at);
    size_t length = answer->left < available ? (size_t)answer->left : available;
    const char *from = input->at;

    input->at += length;
    answer->left -= length;
    if (answer->left == 0)
        answer->state = (uint8_t)next;
    if (!input->listener->on_body(input->context, from, length))
        answer->state = STOPPED;
}

static void read_until_close(struct http_answer *answer, struct input *input)
{
    size_t length = (size_t)(input->end - input->at);
    const char *from = input->at;

    input->at = input->end;
    if (!input->listener->on_body(input->context, from, length))
        answer->state = STOPPED;
}

static void step(struct http_answer *answer, struct input *input)
{
    switch ((enum state)answer->state) {
    case STATUS_LINE:
    case HEADERS:
    case TRAILERS:
        read_line(answer, input);
        break;
    case CHUNK_SIZE:
        read_chunk_size(answer, input);
        break;
    case CHUNK_EXTENSION:
        read_chunk_extension(answer, input);
        break;
    case CHUNK_DATA:
        read_counted(answer, input, CHUNK_END);
        break;
    case CHUNK_END:
        read_chunk_end(answer, input);
        break;
    case BY_LENGTH:
        read_counted(answer, input, ENDED);
        break;
    case UNTIL_CLOSE:
        read_until_close(answer, input);
        break;
    case ENDED:
    case STOPPED:
    case WRONG:
        break;
    }
}

static enum http_answer_end end_of(const struct http_answer *answer)
{
    if (answer->state == ENDED)
        return HTTP_ANSWER_WHOLE;
    if (answer->state == STOPPED)
        return HTTP_ANSWER_STOPPED;
    return answer->state == WRONG ? HTTP_ANSWER_WRONG : HTTP_ANSWER_OPEN;
}

enum http_answer_end http_answer_feed(struct http_answer *answer, const char *bytes, size_t length,
                                      size_t *taken, const struct http_answer_listener *listener,
                                      void *context)
{
    struct input input = { bytes, bytes + length, listener, context };

    answer->begun |= length > 0;
    while (input.at < input.end && answer->state < ENDED)
        step(answer, &input);
    *taken = (size_t)(input.at - bytes);
    return end_of(answer);
}

enum http_answer_end http_answer_close(struct http_answer *answer)
{
    if (answer->state == UNTIL_CLOSE) {
        answer->keeps_open = false;
        answer->state = ENDED;
    }
    return end_of(answer);
}
