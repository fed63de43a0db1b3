#include "tessera/status.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "tessera/types.h"

static const struct {
    int code;
    const char *name;
} cl_codes[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-66, "CL_INVALID_COMPILER_OPTIONS"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    {-9999, "NVIDIA: illegal read or write of a kernel"},
};

const char *cl_code_name(int code)
{
    for (size_t i = 0; i < sizeof(cl_codes) / sizeof(cl_codes[0]); i++)
        if (cl_codes[i].code == code)
            return cl_codes[i].name;
    return "unknown code";
}

tsr_status tsr_fail(tsr_error *err, tsr_status status, int cl, const char *format, ...)
{
    enum { HEAD = 200 };
    char whole[3 * PATH_MAX]; /* no memory is allocated where it may have run out */
    va_list args;
    size_t length;

    if (!err)
        return status;
    err->status = status;
    err->cl = cl;
    va_start(args, format);
    vsnprintf(whole, sizeof(whole), format, args);
    va_end(args);
    length = strlen(whole);
    if (cl)
        snprintf(whole + length, sizeof(whole) - length, ": %s (%d)", cl_code_name(cl), cl);
    for (char *c = whole; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    text_make_plain(whole, "");
    /* What is long begins with a path and ends with the cause. */
    length = strlen(whole);
    if (length < sizeof(err->message))
        memcpy(err->message, whole, length + 1);
    else
        snprintf(err->message, sizeof(err->message), "%.*s...%s", HEAD, whole,
                 whole + length - (sizeof(err->message) - HEAD - sizeof("...")));
    return status;
}

const char *tsr_status_name(tsr_status status)
{
    static const char *const names[] = {
        "TSR_OK",           "TSR_EINVAL", "TSR_ENAME", "TSR_EOVERFLOW", "TSR_ENOMEM", "TSR_EFILE",
        "TSR_EUNSUPPORTED", "TSR_EBUILD", "TSR_ECL",   "TSR_ENODEVICE", "TSR_EBOUND"};

    if ((size_t)status >= sizeof(names) / sizeof(names[0]))
        return "unknown status";
    return names[status];
}

static const struct {
    const char *name;
    size_t size;
} types[TSR_TYPE_COUNT] = {[TSR_F32] = {"float32", 4},
                           [TSR_F64] = {"float64", 8},
                           [TSR_I32] = {"int32", 4},
                           [TSR_U32] = {"uint32", 4},
                           [TSR_I64] = {"int64", 8},
                           [TSR_U64] = {"uint64", 8},
                           [TSR_F16] = {"float16", 2},
                           [TSR_I8] = {"int8", 1},
                           [TSR_U8] = {"uint8", 1},
                           [TSR_I16] = {"int16", 2},
                           [TSR_U16] = {"uint16", 2},
                           [TSR_BF16] = {"bfloat16", 2},
                           [TSR_C64] = {"complex64", 8},
                           [TSR_C128] = {"complex128", 16},
                           [TSR_F8E4M3] = {"float8_e4m3fn", 1},
                           [TSR_F8E5M2] = {"float8_e5m2", 1}};

size_t tsr_type_size(tsr_type type)
{
    return (size_t)type < TSR_TYPE_COUNT ? types[type].size : 0;
}

const char *tsr_type_name(tsr_type type)
{
    return (size_t)type < TSR_TYPE_COUNT ? types[type].name : "unknown type";
}

const char *tsr_precision_name(tsr_precision precision)
{
    static const char *const names[TSR_PRECISION_COUNT] = {
        "default", "f32", "f32-strict", "tf32", "bf16", "f16", "f64", "i8", "f8"};

    return (size_t)precision < TSR_PRECISION_COUNT ? names[precision] : "unknown precision";
}
