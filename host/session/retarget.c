#include "session/retarget.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static const char mark[] = "//@";
static const char groups_mark[] = "//@groups ";

bool retarget_wanted(const char *source, char target[RETARGET_NAME])
{
    const char *found = strstr(source, "//@sm_");
    size_t length;

    if (!found)
        return false;
    found += strlen(mark);
    length = strcspn(found, " \t\n\\\"");
    /* No target is that long.  Cut short it is none either, and retarget_ptx says so. */
    if (length >= RETARGET_NAME)
        length = RETARGET_NAME - 1;
    memcpy(target, found, length);
    target[length] = '\0';
    return true;
}

/* The digit that the text says of work-groups on a unit. */
static char groups_wanted(const char *ptx)
{
    const char *found = strstr(ptx, groups_mark);
    const char digit = found ? found[strlen(groups_mark)] : '1';

    return digit >= '1' && digit <= '9' ? digit : '1';
}

/* A text on its way to another target. */
typedef struct retargeting {
    const char *target;
    char groups;         /* work-groups on a unit, as a digit */
    bool marked, raised; /* lines for the target were found, and its .target */
    text *out;
} retargeting;

/* Copy the start of a line as it must be for the target; returns how much of the line that was. */
static size_t change_start(retargeting *r, const char *line, size_t length)
{
    const char *target = r->target;
    const size_t blank = strspn(line, " \t");
    char wanted[RETARGET_NAME + 8], chip[RETARGET_NAME + 16];

    snprintf(wanted, sizeof(wanted), "%s%s ", mark, target);
    /* "sm_90a" is the chip of .target sm_90, with what later chips lack. */
    snprintf(chip, sizeof(chip), ".target %.*s,", (int)strlen(target) - 1, target);
    if (strncmp(line + blank, wanted, strlen(wanted)) == 0) {
        r->marked = true;
        text_append_bytes(r->out, line, blank);
        return blank + strlen(wanted);
    }
    if (strncmp(line, chip, strlen(chip)) == 0) {
        r->raised = true;
        text_format(r->out, ".target %s,", target);
        return strlen(chip);
    }
    if (strncmp(line + blank, ".reqntid", 8) == 0) {
        text_append_bytes(r->out, line, length);
        text_format(r->out, "\n.minnctapersm %c", r->groups);
        return length;
    }
    return 0;
}

tsr_status retarget_ptx(const char *ptx, const char *target, text *out, tsr_error *err)
{
    retargeting r = {.target = target, .groups = groups_wanted(ptx), .out = out};

    for (const char *line = ptx; *line;) {
        const size_t length = strcspn(line, "\n");
        const size_t done = change_start(&r, line, length);

        text_append_bytes(out, line + done, length - done);
        line += length;
        if (*line == '\n') {
            text_append(out, "\n");
            line++;
        }
    }
    if (!r.raised)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the driver's binary is no PTX that %s extends",
                        target);
    if (!r.marked)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the driver's PTX has lost the lines for %s",
                        target);
    if (out->failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for PTX of %zu bytes", strlen(ptx));
    return TSR_OK;
}
