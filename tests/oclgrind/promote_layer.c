/*
 * An OpenCL layer (cl_loader_layers) above Oclgrind: kernels run with their variables in registers.
 *
 * Oclgrind must compile without optimizations (simulator.py says why), and clang then keeps each
 * variable in memory and each function apart: half of what the simulator does is to load and store
 * them, with every check.  So once a program is built this takes its LLVM bitcode, inlines
 * functions, takes structures apart and puts variables into registers, and builds a second program
 * of that, of which the kernels are made.  Accesses of global and local memory, arrays, barriers
 * and line numbers stay as they were.
 *
 * Limits.  A variable without a value is undefined, and Oclgrind reports its use; but where only
 * some ways through a kernel set a variable, and all that do to one value, the passes take that
 * value on every way, and nothing is reported: TESSERA_LONG=1 runs sweeps as compiled.  Programs
 * are of one device and built by clBuildProgram, in one thread; second programs are kept to the end
 * of the process, and a kernel that is asked for its program names the second.
 *
 * The passes are those of the LLVM that Oclgrind itself loaded, by its C interface.  LLVM 17 and
 * later have them no more by these names: a line on standard error says so, and kernels run as
 * compiled.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

enum { PROGRAMS_MAX = 1 << 14 };

static const cl_icd_dispatch *next;
static cl_icd_dispatch layer;

/* What kernels of a program are made of. */
static struct {
    cl_program built, promoted;
} programs[PROGRAMS_MAX];
static size_t program_count;

/* LLVM's C interface, of which no header is needed here: references are pointers. */
static struct {
    void *(*LLVMContextCreate)(void);
    void (*LLVMContextDispose)(void *context);
    void *(*LLVMCreateMemoryBufferWithMemoryRangeCopy)(const char *data, size_t size,
                                                       const char *name);
    int (*LLVMParseBitcodeInContext2)(void *context, void *buffer, void **module);
    void *(*LLVMWriteBitcodeToMemoryBuffer)(void *module);
    const char *(*LLVMGetBufferStart)(void *buffer);
    size_t (*LLVMGetBufferSize)(void *buffer);
    void (*LLVMDisposeMemoryBuffer)(void *buffer);
    void (*LLVMDisposeModule)(void *module);
    void *(*LLVMGetFirstFunction)(void *module);
    void *(*LLVMGetNextFunction)(void *function);
    unsigned (*LLVMGetEnumAttributeKindForName)(const char *name, size_t length);
    void (*LLVMRemoveEnumAttributeAtIndex)(void *function, unsigned index, unsigned kind);
    unsigned (*LLVMCountParams)(void *function);
    void *(*LLVMCreatePassManager)(void);
    void (*LLVMDisposePassManager)(void *passes);
    void (*LLVMAddFunctionInliningPass)(void *passes);
    void (*LLVMAddScalarReplAggregatesPass)(void *passes);
    int (*LLVMRunPassManager)(void *passes, void *module);
} llvm;

static void fail(const char *what)
{
    fprintf(stderr, "promote layer: %s\n", what);
    abort();
}

static int open_llvm(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libLLVM"))
        return 0;
    *(void **)out = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    return 1;
}

#define LOAD(function)                                                                             \
    do {                                                                                           \
        *(void **)&llvm.function = dlsym(library, #function);                                      \
        if (!llvm.function)                                                                        \
            return #function;                                                                      \
    } while (0)

/* NULL, or what there is none of. */
static const char *load_llvm(void)
{
    void *library = NULL;

    dl_iterate_phdr(open_llvm, &library);
    if (!library)
        return "libLLVM";
    LOAD(LLVMContextCreate);
    LOAD(LLVMContextDispose);
    LOAD(LLVMCreateMemoryBufferWithMemoryRangeCopy);
    LOAD(LLVMParseBitcodeInContext2);
    LOAD(LLVMWriteBitcodeToMemoryBuffer);
    LOAD(LLVMGetBufferStart);
    LOAD(LLVMGetBufferSize);
    LOAD(LLVMDisposeMemoryBuffer);
    LOAD(LLVMDisposeModule);
    LOAD(LLVMGetFirstFunction);
    LOAD(LLVMGetNextFunction);
    LOAD(LLVMGetEnumAttributeKindForName);
    LOAD(LLVMRemoveEnumAttributeAtIndex);
    LOAD(LLVMCountParams);
    LOAD(LLVMCreatePassManager);
    LOAD(LLVMDisposePassManager);
    LOAD(LLVMAddFunctionInliningPass);
    LOAD(LLVMAddScalarReplAggregatesPass);
    LOAD(LLVMRunPassManager);
    return NULL;
}

static void remove_attribute(void *function, unsigned index, const char *name)
{
    llvm.LLVMRemoveEnumAttributeAtIndex(function, index,
                                        llvm.LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

/* What clang without optimizations puts on functions keeps passes away from them; and where a
 * parameter that is `restrict` goes, inlining leaves a call that Oclgrind does not know. */
static void let_passes_in(void *module)
{
    const unsigned function_itself = -1u;

    for (void *f = llvm.LLVMGetFirstFunction(module); f; f = llvm.LLVMGetNextFunction(f)) {
        remove_attribute(f, function_itself, "optnone");
        remove_attribute(f, function_itself, "noinline");
        for (unsigned i = 1; i <= llvm.LLVMCountParams(f); i++) /* 0 is the result */
            remove_attribute(f, i, "noalias");
    }
}

/* The bitcode, to be freed by LLVMDisposeMemoryBuffer. */
static void *promote(const unsigned char *bitcode, size_t size)
{
    void *context = llvm.LLVMContextCreate(), *module, *passes, *out;

    /* The module takes the buffer. */
    if (llvm.LLVMParseBitcodeInContext2(
            context,
            llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)bitcode, size, "program"),
            &module))
        fail("a program's binary is no bitcode");
    let_passes_in(module);
    passes = llvm.LLVMCreatePassManager();
    llvm.LLVMAddFunctionInliningPass(passes);
    llvm.LLVMAddScalarReplAggregatesPass(passes);
    llvm.LLVMRunPassManager(passes, module);
    llvm.LLVMDisposePassManager(passes);
    out = llvm.LLVMWriteBitcodeToMemoryBuffer(module);
    llvm.LLVMDisposeModule(module);
    llvm.LLVMContextDispose(context);
    return out;
}

/* A built program's bitcode, to be freed by free(). */
static unsigned char *bitcode_of(cl_program program, size_t *size)
{
    unsigned char *bitcode;

    if (next->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*size), size, NULL))
        fail("clGetProgramInfo(CL_PROGRAM_BINARY_SIZES) failed");
    bitcode = malloc(*size);
    if (!bitcode ||
        next->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bitcode), &bitcode, NULL))
        fail("clGetProgramInfo(CL_PROGRAM_BINARIES) failed");
    return bitcode;
}

static cl_program promoted(cl_program program, const char *options)
{
    size_t size;
    unsigned char *bitcode = bitcode_of(program, &size);
    void *buffer = promote(bitcode, size);
    const unsigned char *start = (const unsigned char *)llvm.LLVMGetBufferStart(buffer);
    cl_context context;
    cl_device_id device;
    cl_program made;
    cl_int rc;

    size = llvm.LLVMGetBufferSize(buffer);
    if (next->clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, NULL) ||
        next->clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(device), &device, NULL))
        fail("clGetProgramInfo failed");
    made = next->clCreateProgramWithBinary(context, 1, &device, &size, &start, NULL, &rc);
    if (rc || next->clBuildProgram(made, 1, &device, options, NULL, NULL))
        fail("Oclgrind does not take a program's bitcode");
    llvm.LLVMDisposeMemoryBuffer(buffer);
    free(bitcode);
    return made;
}

static CL_API_ENTRY cl_int CL_API_CALL at_clBuildProgram(cl_program program, cl_uint n,
                                                         const cl_device_id *devices,
                                                         const char *options,
                                                         void(CL_CALLBACK *f)(cl_program, void *),
                                                         void *user)
{
    const cl_int rc = next->clBuildProgram(program, n, devices, options, f, user);

    if (rc)
        return rc;
    if (program_count == PROGRAMS_MAX)
        fail("PROGRAMS_MAX is too small");
    programs[program_count].built = program;
    programs[program_count++].promoted = promoted(program, options);
    return CL_SUCCESS;
}

static CL_API_ENTRY cl_kernel CL_API_CALL at_clCreateKernel(cl_program program, const char *name,
                                                            cl_int *rc)
{
    /* From the last on: a handle comes again once its program is released. */
    for (size_t i = program_count; i-- > 0;)
        if (programs[i].built == program)
            return next->clCreateKernel(programs[i].promoted, name, rc);
    return next->clCreateKernel(program, name, rc);
}

CL_API_ENTRY cl_int CL_API_CALL __attribute__((visibility("default")))
clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *size_out)
{
    static const char own_name[] = "promote";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = name == CL_LAYER_API_VERSION ? (const void *)&version : own_name;
    const size_t bytes = name == CL_LAYER_API_VERSION ? sizeof(version) : sizeof(own_name);

    if ((name != CL_LAYER_API_VERSION && name != CL_LAYER_NAME) || (value && size < bytes))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (size_out)
        *size_out = bytes;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL __attribute__((visibility("default")))
clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_out,
            const cl_icd_dispatch **layer_out)
{
    const cl_uint known = sizeof(layer) / sizeof(layer.clGetPlatformIDs);
    const char *missing = load_llvm();

    if (entries < known)
        return CL_INVALID_VALUE;
    next = target;
    layer = *target;
    if (missing) {
        fprintf(stderr, "promote layer: there is no %s: kernels run as compiled\n", missing);
    } else {
        layer.clBuildProgram = at_clBuildProgram;
        layer.clCreateKernel = at_clCreateKernel;
    }
    *entries_out = known;
    *layer_out = &layer;
    return CL_SUCCESS;
}
