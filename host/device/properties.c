#include "device/properties.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/isa.h"
#include "base/sizes.h"
#include "base/team.h"
#include "device/query.h"

/* How a property is read from the device and shown to people. */
typedef enum form {
    FORM_STRING,
    FORM_U32,
    FORM_U64,
    FORM_SIZE,
    FORM_BOOL,
    FORM_FACT_U64, /* taken from device_facts by the function */
    FORM_FACT_BOOL,
    FORM_VERSIONS, /* the list of OpenCL C versions */
    FORM_ID,       /* PLATFORM:DEVICE */
    FORM_PLATFORM,
    FORM_HOST /* OpenCL devices have none */
} form;

typedef struct source {
    property shown;
    form form;
    cl_device_info what;
    const char *unit; /* "bytes" is shown as KiB, MiB or GiB */
    uint64_t (*fact)(const device_facts *d);
    void (*host)(const device_facts *d, property_value *out); /* of the device `host`; NULL: it has
                                                                 none */
} source;

static void host_name(const device_facts *d, property_value *out)
{
    text_append(&out->shown, d->name);
}

static void host_driver(const device_facts *d, property_value *out)
{
    text_append(&out->shown, d->driver);
}

static void host_memory(const device_facts *d, property_value *out)
{
    out->number = d->global_memory;
}

/* The processor's name as Linux has it, else its architecture. */
static void host_processor(const device_facts *d, property_value *out)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    struct utsname u;

    (void)d;
    while (file && !out->shown.length && fgets(line, sizeof(line), file)) {
        const char *value = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && value)
            text_append_bytes(&out->shown, value + 1 + strspn(value + 1, " "),
                              strcspn(value + 1 + strspn(value + 1, " "), "\n"));
    }
    if (file)
        fclose(file);
    if (!out->shown.length && uname(&u) == 0)
        text_append(&out->shown, u.machine);
}

static void host_processors(const device_facts *d, property_value *out)
{
    out->number = d->compute_units;
}

static void host_threads(const device_facts *d, property_value *out)
{
    (void)d;
    out->number = team_threads();
}

static void host_isa(const device_facts *d, property_value *out)
{
    (void)d;
    text_append(&out->shown, isa_name(isa_best()));
}

static uint64_t fact_capability(const device_facts *d)
{
    return d->nv_capability;
}

static uint64_t fact_warp_size(const device_facts *d)
{
    return d->kind == DEVICE_CPU ? 0 : d->warp_size;
}

static uint64_t fact_fp64(const device_facts *d)
{
    return d->fp64;
}

static uint64_t fact_denormals(const device_facts *d)
{
    return d->denormals_f32;
}

static uint64_t fact_on_chip(const device_facts *d)
{
    return d->local_memory_on_chip;
}

static const source sources[] = {
    {{"id", "id", PROPERTY_TEXT}, FORM_ID, 0, "", NULL, host_name},
    {{"platform", "platform", PROPERTY_TEXT}, FORM_PLATFORM, 0, "", NULL, host_name},
    {{"name", "name", PROPERTY_TEXT}, FORM_STRING, CL_DEVICE_NAME, "", NULL, host_name},
    {{"processor", "processor", PROPERTY_TEXT}, FORM_HOST, 0, "", NULL, host_processor},
    {{"instruction_set", "instruction set", PROPERTY_TEXT}, FORM_HOST, 0, "", NULL, host_isa},
    {{"threads", "threads", PROPERTY_NUMBER}, FORM_HOST, 0, "", NULL, host_threads},
    {{"vendor", "vendor", PROPERTY_TEXT}, FORM_STRING, CL_DEVICE_VENDOR, "", NULL},
    {{"driver", "driver", PROPERTY_TEXT}, FORM_STRING, CL_DRIVER_VERSION, "", NULL, host_driver},
    {{"version", "OpenCL", PROPERTY_TEXT}, FORM_STRING, CL_DEVICE_VERSION, "", NULL},
    {{"opencl_c", "OpenCL C", PROPERTY_TEXT}, FORM_VERSIONS, 0, "", NULL},
    {{"compute_units", "compute units", PROPERTY_NUMBER},
     FORM_U32,
     CL_DEVICE_MAX_COMPUTE_UNITS,
     "",
     NULL,
     host_processors},
    {{"clock_mhz", "clock", PROPERTY_NUMBER}, FORM_U32, CL_DEVICE_MAX_CLOCK_FREQUENCY, "MHz", NULL},
    {{"global_memory_bytes", "memory", PROPERTY_NUMBER},
     FORM_U64,
     CL_DEVICE_GLOBAL_MEM_SIZE,
     "bytes",
     NULL,
     host_memory},
    {{"max_allocation_bytes", "largest allocation", PROPERTY_NUMBER},
     FORM_U64,
     CL_DEVICE_MAX_MEM_ALLOC_SIZE,
     "bytes",
     NULL},
    {{"cache_bytes", "cache", PROPERTY_NUMBER},
     FORM_U64,
     CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
     "bytes",
     NULL},
    {{"local_memory_bytes", "local memory", PROPERTY_NUMBER},
     FORM_U64,
     CL_DEVICE_LOCAL_MEM_SIZE,
     "bytes",
     NULL},
    {{"local_memory_on_chip", "local memory on chip", PROPERTY_BOOL},
     FORM_FACT_BOOL,
     0,
     "",
     fact_on_chip},
    {{"max_work_group", "work-group limit", PROPERTY_NUMBER},
     FORM_SIZE,
     CL_DEVICE_MAX_WORK_GROUP_SIZE,
     "",
     NULL},
    {{"max_sub_groups", "sub-groups a group", PROPERTY_NUMBER},
     FORM_U32,
     CL_DEVICE_MAX_NUM_SUB_GROUPS,
     "",
     NULL},
    {{"warp_size", "warp or wavefront", PROPERTY_NUMBER}, FORM_FACT_U64, 0, "", fact_warp_size},
    {{"float_vector_width", "float vector", PROPERTY_NUMBER},
     FORM_U32,
     CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT,
     "",
     NULL},
    {{"fp64", "fp64", PROPERTY_BOOL}, FORM_FACT_BOOL, 0, "", fact_fp64},
    {{"denormals", "float denormals", PROPERTY_BOOL}, FORM_FACT_BOOL, 0, "", fact_denormals},
    {{"unified_memory", "unified memory", PROPERTY_BOOL},
     FORM_BOOL,
     CL_DEVICE_HOST_UNIFIED_MEMORY,
     "",
     NULL},
    {{"nv_compute_capability", "compute capability", PROPERTY_NUMBER},
     FORM_FACT_U64,
     0,
     "",
     fact_capability},
};

const property *property_at(size_t i)
{
    return i < ARRAY_COUNT(sources) ? &sources[i].shown : NULL;
}

/* 49152 as "48 KiB": exact units first, else two digits behind the point. */
static void show_bytes(uint64_t bytes, text *out)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t u = 0;

    while (value >= 1024 && u + 1 < ARRAY_COUNT(units)) {
        value /= 1024;
        u++;
    }
    if (value == (double)(uint64_t)value)
        text_format(out, "%.0f %s", value, units[u]);
    else
        text_format(out, "%.2f %s", value, units[u]);
}

static void show_number(const source *s, property_value *out)
{
    if (strcmp(s->unit, "bytes") == 0)
        show_bytes(out->number, &out->shown);
    else
        text_format(&out->shown, "%llu%s%s", (unsigned long long)out->number, *s->unit ? " " : "",
                    s->unit);
}

static bool read_versions(const tsr_device *device, text *out)
{
    cl_name_version versions[32];
    char one[256];
    size_t bytes = 0;

    if (device->facts.cl_version >= 300 &&
        clGetDeviceInfo(device->id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0, NULL, &bytes) ==
            CL_SUCCESS &&
        bytes <= sizeof(versions) &&
        clGetDeviceInfo(device->id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, bytes, versions, NULL) ==
            CL_SUCCESS) {
        for (size_t i = 0; i < bytes / sizeof(versions[0]); i++)
            text_format(out, "%s%u.%u", i ? ", " : "", CL_VERSION_MAJOR(versions[i].version),
                        CL_VERSION_MINOR(versions[i].version));
        return bytes > 0;
    }
    query_string(device->id, CL_DEVICE_OPENCL_C_VERSION, one, sizeof(one));
    text_append(out, one);
    return one[0] != '\0';
}

static bool read_text(const source *s, const tsr_device *device, text *out)
{
    char value[512];

    if (s->form == FORM_VERSIONS)
        return read_versions(device, out);
    if (s->form == FORM_ID) {
        text_format(out, "%u:%u", device->platform_index, device->device_index);
        return true;
    }
    if (s->form == FORM_PLATFORM) {
        text_append(out, device->facts.platform);
        return true;
    }
    query_string(device->id, s->what, value, sizeof(value));
    text_append(out, value);
    return value[0] != '\0';
}

/* False where the device does not know the property. */
static bool read_number(const source *s, const tsr_device *device, uint64_t *out)
{
    cl_uint u32;
    cl_ulong u64;
    size_t size;

    switch (s->form) {
    case FORM_U32:
        if (!query(device->id, s->what, &u32, sizeof(u32)))
            return false;
        *out = u32;
        return true;
    case FORM_BOOL:
        if (!query(device->id, s->what, &u32, sizeof(u32)))
            return false;
        *out = u32 != 0;
        return true;
    case FORM_U64:
        if (!query(device->id, s->what, &u64, sizeof(u64)))
            return false;
        *out = u64;
        return true;
    case FORM_SIZE:
        if (!query(device->id, s->what, &size, sizeof(size)))
            return false;
        *out = size;
        return true;
    default:
        *out = s->fact(&device->facts);
        return s->form == FORM_FACT_BOOL || *out != 0;
    }
}

bool property_read(size_t i, const tsr_device *device, property_value *out)
{
    const source *s = &sources[i];

    *out = (property_value){0};
    if (tsr_device_is_host(device)) {
        if (!s->host)
            return false;
        s->host(&device->facts, out);
        if (s->shown.kind == PROPERTY_NUMBER)
            show_number(s, out);
        return true;
    }
    if (s->form == FORM_HOST)
        return false;
    if (s->shown.kind == PROPERTY_TEXT)
        return read_text(s, device, &out->shown);
    if (!read_number(s, device, &out->number))
        return false;
    if (s->shown.kind == PROPERTY_BOOL)
        text_append(&out->shown, out->number ? "yes" : "no");
    else
        show_number(s, out);
    return true;
}
