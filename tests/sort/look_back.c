/* Looking back over the states that tiles publish (cl/common/look_back.clh), over each distance:
 * on a CPU few tiles are at work at a time, and one before knows where its keys end nearly always.
 *
 *     look_back DEVICE FOLDER     the kernels' folder
 *
 * 77 where the device has no way to publish to other work-groups.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/last_group.h"
#include "session/source.h"
#include "session/state.h"
#include "tessera/tessera.h"

enum { TILES = 100, DIGITS = 16, STATES = TILES * DIGITS, SKIPPED = 77 };

#define ENDS 0x80000000u /* STATE_PREFIX */

/* A work-item for each digit of each tile but the first. */
static const char looks[] = "\n__kernel void look(__global state *states, __global uint *found)\n"
                            "{\n"
                            "    const uint i = get_global_id(0), digits = 16;\n"
                            "    found[i] = look_back(states, i / digits + 1, digits, i % "
                            "digits);\n"
                            "}\n";

/* Tiles of which digit d's knows its end are 2 d + 1 apart: the way back is up to 2 d more. */
static void make(uint32_t states[STATES], uint32_t ends[STATES])
{
    for (uint32_t i = 0; i < STATES; i++) {
        const uint32_t tile = i / DIGITS, digit = i % DIGITS, keys = (7 * tile + digit) % 5;

        ends[i] = (tile ? ends[i - DIGITS] : 100 * digit) + keys;
        states[i] = tile % (2 * digit + 1) ? 1 + keys : ENDS + ends[i];
    }
}

/* The kernel, with its program, which goes with it; NULL where it is not built. */
static cl_kernel build(tsr_session *session, const char *folder, last_group way)
{
    text source = {0}, options = {0};
    const char *given;
    cl_program built;
    cl_kernel kernel = NULL;

    if (source_read(folder, "common/look_back.clh", &source, NULL)) {
        text_free(&source);
        return NULL;
    }
    text_append(&source, looks);
    given = text_get(&source);
    text_format(&options, "-DSTATES=STATES_%s -cl-std=", way == LAST_GROUP_PTX ? "PTX" : "ATOMICS");
    variant_standard(session_facts(session), &options);
    built = clCreateProgramWithSource(tsr_session_context(session), 1, &given, NULL, NULL);
    if (built && clBuildProgram(built, 0, NULL, text_get(&options), NULL, NULL) == CL_SUCCESS)
        kernel = clCreateKernel(built, "look", NULL);
    if (built)
        clReleaseProgram(built);
    text_free(&options);
    text_free(&source);
    return kernel;
}

/* What each tile but the first finds; false where the device fails. */
static bool look(tsr_session *session, cl_kernel kernel, uint32_t *states, uint32_t *found)
{
    const cl_context context = tsr_session_context(session);
    const cl_command_queue queue = tsr_session_queue(session);
    const size_t items = STATES - DIGITS, bytes = items * sizeof(*found);
    cl_mem seen = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 STATES * sizeof(*states), states, NULL);
    cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, NULL);
    const bool done =
        seen && out && clSetKernelArg(kernel, 0, sizeof(seen), &seen) == CL_SUCCESS &&
        clSetKernelArg(kernel, 1, sizeof(out), &out) == CL_SUCCESS &&
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL) == CL_SUCCESS &&
        clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes, found, 0, NULL, NULL) == CL_SUCCESS;

    if (seen)
        clReleaseMemObject(seen);
    if (out)
        clReleaseMemObject(out);
    return done;
}

/* 0 where every tile finds the end of the one before; what went wrong is said. */
static int check(tsr_session *session, const char *folder)
{
    static uint32_t states[STATES], ends[STATES], found[STATES];
    const unsigned uses = LAST_GROUP_USES;
    const last_group way = session_probe(session, uses, NULL) == TSR_OK
                               ? last_group_of(session_facts(session))
                               : LAST_GROUP_NONE;
    cl_kernel kernel;
    bool done;

    if (way == LAST_GROUP_NONE)
        return SKIPPED;
    make(states, ends);
    kernel = build(session, folder, way);
    done = kernel && look(session, kernel, states, found);
    if (kernel)
        clReleaseKernel(kernel);
    if (!done)
        fputs("look_back: the kernel was not built or did not run\n", stderr);
    for (uint32_t i = 0; done && i < STATES - DIGITS; i++) {
        if (found[i] != ends[i]) {
            printf("FAIL tile %u looks back at digit %u and finds %u, not %u\n", i / DIGITS + 1,
                   i % DIGITS, found[i], ends[i]);
            return 3;
        }
    }
    return done ? 0 : 1;
}

int main(int argc, char **argv)
{
    tsr_devices *list = NULL;
    const tsr_device *device = NULL;
    tsr_session *session = NULL;
    tsr_error err = {0};
    size_t count;
    int status = 1;

    if (argc != 3) {
        fputs("Usage: look_back DEVICE FOLDER\n", stderr);
        return 2;
    }
    if (tsr_devices_find(&list, &err) ||
        tsr_devices_select(list, argv[1], &device, 1, &count, &err) ||
        tsr_session_open(device, NULL, &session, &err))
        fprintf(stderr, "look_back: %s\n", err.message);
    else
        status = check(session, argv[2]);
    tsr_session_close(session);
    tsr_devices_close(list);
    return status;
}
