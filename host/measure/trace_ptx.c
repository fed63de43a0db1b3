#include "measure/trace_ptx.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"

/* Where the buffer is, and the kernel that says so. */
static const char beginning[] =
    ".global .align 8 .u64 tsr_trace;\n"
    ".entry " TRACE_BEGIN "(.param .u64 .ptr .global .align 16 tsr_trace_buffer)\n"
    "{\n"
    ".reg .b64 %tsr_buffer;\n"
    "ld.param.u64 %tsr_buffer, [tsr_trace_buffer];\n"
    "st.global.u64 [tsr_trace], %tsr_buffer;\n"
    "ret;\n"
    "}\n";

/* At the start of a kernel.  The lower half of the clock takes one register until the end. */
static const char at_start[] = ".reg .b32 %tsr_start;\n"
                               "mov.u32 %tsr_start, %globaltimer_lo;\n";

/* At its end, to which each `ret` leads. */
static void append_end(text *out, unsigned kernel)
{
    text_format(out, "$tsr_end_%u:\n", kernel);
    text_append(out, "{\n"
                     ".reg .pred %skip;\n"
                     ".reg .b32 %lane, %unit, %ns, %kernel;\n"
                     ".reg .b64 %now, %took, %from, %buffer, %records, %at, %each;\n"
                     "mov.u64 %now, %globaltimer;\n"
                     "mov.u32 %lane, %laneid;\n"
                     "mov.u32 %unit, %smid;\n"
                     "setp.ne.u32 %skip, %lane, 0;\n"
                     "@%skip ret;\n");
    text_format(out, "setp.ge.u32 %%skip, %%unit, %d;\n", TRACE_UNITS);
    text_append(out, "@%skip ret;\n"
                     "cvt.u32.u64 %ns, %now;\n"
                     "sub.u32 %ns, %ns, %tsr_start;\n"
                     "cvt.u64.u32 %took, %ns;\n"
                     "sub.u64 %from, %now, %took;\n"
                     "ld.global.u64 %buffer, [tsr_trace];\n"
                     "ld.global.u64 %records, [%buffer];\n"
                     "ld.global.u64 %each, [%buffer+8];\n"
                     "cvt.u64.u32 %at, %unit;\n"
                     "mad.lo.u64 %at, %at, %each, %buffer;\n");
    text_format(out, "red.global.add.u64 [%%at+%zu], 1;\n",
                sizeof(trace_head) + offsetof(trace_unit, kernel[kernel].warps));
    text_format(out, "red.global.add.u64 [%%at+%zu], %%took;\n",
                sizeof(trace_head) + offsetof(trace_unit, kernel[kernel].ns));
    text_format(out, "atom.global.add.u64 %%each, [%%at+%zu], 1;\n",
                sizeof(trace_head) + offsetof(trace_unit, recorded));
    text_append(out, "setp.ge.u64 %skip, %each, %records;\n"
                     "@%skip ret;\n");
    text_format(out, "mad.lo.u64 %%at, %%each, %zu, %%at;\n", sizeof(trace_record));
    text_format(out, "mov.u32 %%kernel, %u;\n", kernel);
    text_format(out, "st.global.u64 [%%at+%zu], %%from;\n",
                sizeof(trace_head) + sizeof(trace_unit));
    text_format(out, "st.global.v2.u32 [%%at+%zu], {%%ns, %%kernel};\n",
                sizeof(trace_head) + sizeof(trace_unit) + offsetof(trace_record, ns));
    text_append(out, "}\nret;\n");
}

/* Braces that a line opens less those that it closes. */
static int depth_of(const char *line, size_t length)
{
    int depth = 0;

    for (size_t i = 0; i < length && !(line[i] == '/' && i + 1 < length && line[i + 1] == '/'); i++)
        depth += (line[i] == '{') - (line[i] == '}');
    return depth;
}

/* Where on a line "ret;" or "exit;" stands, with or without a predicate before it; NULL: nowhere.
 */
static const char *find_return(const char *line, size_t length, size_t *word)
{
    static const char *const words[] = {"ret;", "exit;"};
    size_t at = strspn(line, " \t");

    if (line[at] == '@') {
        at += strcspn(line + at, " \t\n");
        at += strspn(line + at, " \t");
    }
    for (size_t i = 0; i < 2; i++) {
        *word = strlen(words[i]);
        if (at + *word <= length && strncmp(line + at, words[i], *word) == 0)
            return line + at;
    }
    return NULL;
}

tsr_status trace_ptx(const char *ptx, text *out, text *kernels, tsr_error *err)
{
    static const char entry[] = ".entry ", size[] = ".address_size";
    unsigned count = 0; /* kernels so far */
    int depth = 0;      /* of braces */
    bool begun = false, in_entry = false;

    for (const char *line = ptx; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *name = strstr(line, entry), *back;
        const int before = depth;
        size_t word;

        depth += depth_of(line, length);
        if (begun && depth == 0 && before == 0 && name && name < line + length &&
            strncmp(line + strspn(line, " \t"), "//", 2) != 0) {
            name += strlen(entry);
            if (count == TRACE_KERNELS)
                return tsr_fail(err, TSR_EUNSUPPORTED, 0, "its program has more than %d kernels",
                                TRACE_KERNELS);
            text_append(kernels, " ");
            text_append_bytes(kernels, name, strcspn(name, "( \t\n"));
            in_entry = true;
        }
        if (in_entry && before == 1 && depth == 0) {
            append_end(out, count++);
            in_entry = false;
        }
        if (in_entry && before && (back = find_return(line, length, &word))) {
            text_append_bytes(out, line, (size_t)(back - line));
            text_format(out, "bra $tsr_end_%u;", count);
            text_append_bytes(out, back + word, length - (size_t)(back + word - line));
        } else
            text_append_bytes(out, line, length);
        text_append(out, "\n");
        if (in_entry && before == 0 && depth == 1)
            text_append(out, at_start);
        if (!begun && strncmp(line, size, strlen(size)) == 0) {
            text_append(out, beginning);
            begun = true;
        }
        line += length + (line[length] == '\n');
    }
    if (!count)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "the driver's binary is no PTX");
    if (out->failed || kernels->failed)
        return tsr_fail(err, TSR_ENOMEM, 0, "no memory for PTX of %zu bytes", strlen(ptx));
    return TSR_OK;
}
