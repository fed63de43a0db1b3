#include "cli/terminal.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/standard_error.h"

enum { WIDTH_MIN = 40 };

size_t terminal_columns(int fd)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    size_t width = WIDTH_USUAL;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns && atoi(columns) > 0)
        width = (size_t)atoi(columns);
    return width;
}

size_t terminal_width(int fd)
{
    const size_t columns = terminal_columns(fd);

    return columns < WIDTH_MIN ? WIDTH_MIN : columns;
}

size_t text_width(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static void new_line(text *out, size_t indent)
{
    text_format(out, "\n%*s", (int)indent, "");
}

void text_wrap(text *out, const char *s, size_t at, size_t indent, size_t width)
{
    size_t blanks = 0;

    while (*s) {
        const size_t length = strcspn(s, " \n");
        char word[512];

        if (length == 0) {
            blanks = *s == ' ' ? blanks + 1 : 0;
            if (*s++ == '\n') {
                new_line(out, indent);
                at = indent;
            }
            continue;
        }
        snprintf(word, sizeof word, "%.*s", (int)length, s);
        if (blanks && at > indent && at + blanks + text_width(word) > width) {
            new_line(out, indent);
            at = indent;
        } else {
            text_format(out, "%*s", (int)blanks, "");
            at += blanks;
        }
        text_append_bytes(out, s, length);
        at += text_width(word);
        blanks = 0;
        s += length;
    }
}

void print_line(size_t indent, const char *format, ...)
{
    const bool read = isatty(STDOUT_FILENO) || getenv("COLUMNS");
    text line = {0}, out = {0};
    va_list args;

    va_start(args, format);
    text_vformat(&line, format, args);
    va_end(args);
    text_format(&out, "%*s", (int)indent, "");
    text_wrap(&out, text_get(&line), indent, indent + 4,
              read ? terminal_width(STDOUT_FILENO) : SIZE_MAX);
    puts(text_get(&out));
    text_free(&line);
    text_free(&out);
}

void print_paragraph(const char *head, const char *s)
{
    text page = {0};

    text_format(&page, "  %s", head);
    text_wrap(&page, s, 2 + text_width(head), 2, terminal_width(STDOUT_FILENO));
    puts(text_get(&page));
    text_free(&page);
}

void text_append_cut(text *out, const char *s, size_t columns)
{
    size_t length = 0;

    for (size_t n = 0; s[length]; length++) {
        n += ((unsigned char)s[length] & 0xC0) != 0x80;
        if (n > columns)
            break;
    }
    text_append_bytes(out, s, length);
}

static const char empty_line[] = "\r\033[K";

static volatile sig_atomic_t progress_shown;

void progress_show(const char *line)
{
    text plain = {0};

    text_append(&plain, empty_line);
    /* The last column stays free: some terminals begin a new line there. */
    text_append_cut(&plain, line, terminal_columns(standard_error_fd()) - 1);
    if (!plain.failed) {
        text_make_plain(plain.data + strlen(empty_line), "");
        /* A line more or less: nothing is lost where it cannot be written. */
        progress_shown = write(standard_error_fd(), plain.data, strlen(plain.data)) > 0;
    }
    text_free(&plain);
}

void progress_clear(void)
{
    progress_shown = write(standard_error_fd(), empty_line, strlen(empty_line)) < 0;
}

void progress_abandon(void)
{
    if (progress_shown && write(standard_error_fd(), empty_line, strlen(empty_line)) > 0)
        progress_shown = 0;
}
