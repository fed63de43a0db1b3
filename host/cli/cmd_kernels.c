#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/bench_problem.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "cli/kernel_choice.h"
#include "cli/messages.h"
#include "cli/operands.h"
#include "cli/terminal.h"
#include "cli/tuning_list.h"
#include "core/dispatch.h"
#include "core/registry.h"
#include "core/tuning_file.h"
#include "session/program.h"
#include "session/source.h"

/** What is listed, and on what it is judged. */
typedef struct listing {
    const options *o;
    const operation *op;    /* NULL: every operation */
    problem *problem;       /* by which variants are judged, of each operation; malloced */
    const variant *variant; /* NULL: every variant */
    params params;          /* of the one variant */
    choice choice;          /* empty where there is no OpenCL device */
    tsr_session *session;   /* NULL then */
} listing;

/* The options that describe one operation's problem need that operation; every one has a type. */
static tsr_status check_problem_options(const listing *l, tsr_error *err)
{
    const char *name = l->o->given[OPTION_SIZE] ? option_name(OPTION_SIZE)
                       : l->o->settings.count   ? l->o->settings.list[0].option
                                                : NULL;

    if (name && !l->op)
        return tsr_fail(err, TSR_ENAME, 0,
                        "--%s describes one operation's problem: 'tessera kernels OP --%s'", name,
                        name);
    if (l->o->size_count > 1)
        return tsr_fail(err, TSR_ENAME, 0,
                        "--size is given %zu times, and variants are judged by one problem",
                        l->o->size_count);
    return TSR_OK;
}

/* Without an operation all are listed that take the type. */
static bool takes_type(const listing *l, const operation *op)
{
    return !l->o->given[OPTION_TYPE] || op->types & 1u << l->o->type;
}

static bool is_listed(const listing *l, const operation *op)
{
    return l->op ? op == l->op : takes_type(l, op);
}

/* What is left out for its type. */
static void print_without_type(const listing *l)
{
    const operation *op;
    text names = {0};

    for (size_t i = 0; !l->op && (op = operation_at(i)); i++)
        if (!takes_type(l, op))
            text_format(&names, "%s%s", names.length ? ", " : "", op->name);
    if (names.length) {
        puts("");
        print_line(0, "Operations without %s: %s.", tsr_type_name(l->o->type), text_get(&names));
    }
    text_free(&names);
}

static tsr_status read_problems(listing *l, tsr_error *err)
{
    const operation *op;
    tsr_status st = check_problem_options(l, err);

    for (size_t i = 0; !st && (op = operation_at(i)); i++) {
        /* The problem that the options describe, of a typical size where they do not say. */
        if (is_listed(l, op))
            st = bench_problem(op, l->o->size_count ? l->o->size[0] : op->command->sizes.kernels,
                               l->o, &l->problem[i], err);
    }
    return st;
}

/* The problem of the one operation that is named. */
static const problem *only_problem(const listing *l)
{
    size_t i = 0;

    while (l->problem[i].op != l->op)
        i++;
    return &l->problem[i];
}

static tsr_status check_names(listing *l, tsr_error *err)
{
    const options *o = l->o;
    tsr_status st = TSR_OK;

    if (o->operand_count > 0)
        st = operation_asked(o, o->operand[0], NULL, &l->op, err);
    if (!st)
        st = kernel_choice(l->op, o->operand_count > 1 ? o->operand[1] : NULL, o, &l->variant,
                           &l->params, err);
    st = st ? st : read_problems(l, err);
    if (st)
        return st;
    if (!l->variant && (o->given[OPTION_SOURCE] || o->given[OPTION_PTX]))
        return tsr_fail(err, TSR_ENAME, 0, "%s needs an operation and a variant",
                        o->given[OPTION_SOURCE] ? "--source" : "--ptx");
    if (o->given[OPTION_SOURCE] + o->given[OPTION_PTX] + o->given[OPTION_JSON] > 1)
        return tsr_fail(err, TSR_ENAME, 0, "--source, --ptx and --json exclude each other");
    return TSR_OK;
}

/* A session on the device asked for.  Where none was asked for and there is none, the listing does
 * without. */
static tsr_status open_session(listing *l, tsr_error *err)
{
    tsr_status st = choice_find_one(l->o, &l->choice, err);

    if (st == TSR_ENODEVICE && !choice_wanted(l->o))
        return TSR_OK;
    return st ? st : choice_open(l->choice.device[0], l->o, &l->session, err);
}

static void print_tunable(const tunable *t)
{
    const char *comma = "";
    text values = {0};

    for (size_t i = 0; i < tunable_values(t); i++) {
        text_format(&values, "%s%u", comma, (unsigned)t->values[i]);
        comma = ", ";
    }
    if (t->any)
        text_append(&values, ", ...");
    print_line(6, "%s = %s (default %u): %s", t->name, text_get(&values), (unsigned)t->normal,
               t->meaning);
    text_free(&values);
}

static json_t *tunables_json(const variant *v)
{
    json_t *list = json_array();

    for (size_t i = 0; i < v->tunable_count; i++) {
        const tunable *t = &v->tunables[i];
        json_t *values = json_array();

        for (size_t k = 0; k < tunable_values(t); k++)
            json_array_append_new(values, json_count(t->values[k]));
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:b, s:o, s:o, s:s}", "name", t->name, "values", values,
                            "any", t->any, "default", json_count(t->normal), "small",
                            json_count(t->small ? t->small : t->normal), "meaning", t->meaning));
    }
    return list;
}

/* The element types that problems of an operation have, in the order in which verify meets them. */
static json_t *types_json(const operation *op)
{
    bool seen[TSR_TYPE_COUNT] = {false};
    json_t *list = json_array();
    problem p;

    for (size_t i = 0; op->sweep(i, false, &p); i++) {
        operand o[OPERANDS_MAX];

        op->operands(&p, o);
        if (!seen[o[0].type])
            json_array_append_new(list, json_text(tsr_type_name(o[0].type)));
        seen[o[0].type] = true;
    }
    return list;
}

static json_t *variant_json(const listing *l, const variant *v, const char *why)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:o}", "name", v->name, "idea", v->idea, "runs_on",
                               v->source        ? "device"
                               : v->serves_cpus ? "host and CPUs"
                                                : "host",
                               "tunables", tunables_json(v));

    if (v->source)
        json_object_set_new(object, "file", json_text(v->source));
    if (v->slow_unless_optimized)
        json_object_set_new(object, "slow_unless_optimized", json_true());
    if (v->program_a_shape)
        json_object_set_new(object, "program_a_shape", json_true());
    if (l->session) {
        json_object_set_new(object, "suited", json_boolean(!why));
        if (why)
            json_object_set_new(object, "unsupported", json_text(why));
    }
    return object;
}

/* `first`: it is what the problem gets where no kernel is named. */
static void print_variant(const variant *v, const char *why, bool first)
{
    print_line(2, "%s: %s", v->name, v->idea);
    if (first)
        print_line(6, "chosen by default");
    if (why)
        print_line(6, "unsupported: %s", why);
    for (size_t i = 0; i < v->tunable_count; i++)
        print_tunable(&v->tunables[i]);
}

/* What a call gets that names no kernel; NULL where nothing runs, or no device is there to ask. */
static const variant *default_variant(listing *l, const problem *p)
{
    selection sel;

    if (!l->session || dispatch_select(l->session, p, NULL, IN_ARRAYS, &sel, NULL))
        return NULL;
    return sel.variant;
}

/* The variants of the other side, which a listing for people leaves out, in one line. */
static void print_elsewhere(const listing *l, size_t count)
{
    if (!count)
        return;
    if (tsr_device_is_host(l->choice.device[0]))
        printf("  %zu OpenCL kernel%s run%s on other devices\n", count, count == 1 ? "" : "s",
               count == 1 ? "s" : "");
    else
        printf("  %zu variant%s in C run%s on the device 'host'\n", count, count == 1 ? "" : "s",
               count == 1 ? "s" : "");
}

/* The names of an operation's variants that run here, and of those that do not; of those, `kernels
 * OP` says why.  What a call gets that names none stands first. */
static void print_short(const listing *l, const problem *p, const variant *first)
{
    const operation *op = p->op;
    const size_t width = terminal_width(STDOUT_FILENO);
    text names[2] = {{0}, {0}}, line = {0};

    for (size_t i = 0; i < op->variant_count; i++) {
        const variant *v = op->variants[i];
        const params chosen = params_default(v);
        text reason = {0};
        bool refused;

        if (l->session && !variant_is_for(v, session_facts(l->session)))
            continue;
        refused = l->session && dispatch_unsupported(l->session, p, v, &chosen, IN_ARRAYS, &reason);
        text_format(&names[refused], "%s%s", names[refused].length ? ", " : "", v->name);
        text_free(&reason);
    }
    if (first)
        printf("  runs by default: %s\n", first->name);
    for (int refused = 0; refused < 2; refused++) {
        if (!names[refused].length)
            continue;
        text_clear(&line);
        text_append(&line, refused      ? "  unsupported: "
                           : l->session ? "  supported: "
                                        : "  variants: ");
        text_wrap(&line, text_get(&names[refused]), line.length, 6, width);
        puts(text_get(&line));
    }
    text_free(&names[0]);
    text_free(&names[1]);
    text_free(&line);
}

/* List one operation's variants: print them, or append them to `list` where that is not NULL. */
static void list_operation(listing *l, const problem *p, json_t *list)
{
    const operation *op = p->op;
    json_t *variants = list ? json_array() : NULL;
    const variant *first = list ? NULL : default_variant(l, p);
    size_t elsewhere = 0;
    const size_t width = terminal_width(STDOUT_FILENO);
    text described = {0}, about = {0};

    op->describe(p, &described);
    if (!list) {
        text_format(&about, "%s: ", op->name);
        text_wrap(&about, op->idea, about.length, 2, width);
        if (op->words) {
            text_append(&about, "\n  ");
            text_wrap(&about, op->words, 2, 2, width);
        }
        puts(text_get(&about));
        if (l->session)
            print_line(2, "judged by %s on %s", text_get(&described),
                       tsr_device_name(l->choice.device[0]));
        if (!l->variant)
            print_short(l, p, l->op ? NULL : first);
        if (l->session && !l->variant && l->op)
            tuning_list_print(l->session, p);
        text_free(&about);
        if (!l->op) {
            text_free(&described);
            return;
        }
        puts("");
    }
    for (size_t i = 0; i < op->variant_count; i++) {
        const variant *v = op->variants[i];
        const char *why = NULL;
        text reason = {0};
        params chosen = l->variant ? l->params : params_default(v);

        if (l->variant && v != l->variant)
            continue;
        if (!list && !l->variant && l->session && !variant_is_for(v, session_facts(l->session))) {
            elsewhere++;
            continue;
        }
        if (l->session)
            why = dispatch_unsupported(l->session, p, v, &chosen, IN_ARRAYS, &reason);
        if (list)
            json_array_append_new(variants, variant_json(l, v, why));
        else
            print_variant(v, why, v == first);
        text_free(&reason);
    }
    print_elsewhere(l, elsewhere);
    if (list) {
        json_t *object = json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o}", "op", op->name, "idea",
                                   op->idea, "words", op->words, "types", types_json(op), "problem",
                                   json_text(text_get(&described)), "variants", variants);

        if (l->session)
            json_object_set_new(object, "tuning", tuning_list_json(l->session, p));
        json_array_append_new(list, object);
    }
    text_free(&described);
}

static int list_all(listing *l)
{
    json_t *list = l->o->given[OPTION_JSON] ? json_array() : NULL;
    const operation *op;
    size_t listed = 0;
    text folder = {0};
    json_t *document;

    for (size_t i = 0; (op = operation_at(i)); i++) {
        if (!is_listed(l, op))
            continue;
        if (listed++ && !list)
            fputs("\n", stdout);
        list_operation(l, &l->problem[i], list);
    }
    if (!list)
        print_without_type(l);
    if (!list && !l->op) {
        puts("");
        print_line(0,
                   "'tessera kernels OP' says what each variant does, and why one is unsupported.");
    }
    if (!list)
        return EXIT_DONE;
    tuning_folder(&folder);
    document = json_pack("{s:s, s:o, s:o, s:o}", "schema", "tessera-kernels-1", "device",
                         l->session ? device_identity(l->choice.device[0]) : json_null(),
                         "tuning_folder", json_text(text_get(&folder)), "operations", list);
    text_free(&folder);
    return json_print(document);
}

/* The folder that kernels are read from, as a session would; NULL for the embedded ones. */
static const char *kernel_folder(const listing *l)
{
    const char *wanted = l->o->value[OPTION_KERNEL_DIR];

    if (l->session)
        return text_get(&l->session->kernel_dir);
    return wanted ? wanted : getenv("TESSERA_KERNEL_DIR");
}

/* The text as it is built, below the options that it is built with. */
static tsr_status print_source(listing *l, tsr_error *err)
{
    text source = {0}, flags = {0}, reason = {0};
    const char *why;
    tsr_status st;

    if (!l->variant->source)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0,
                        "%s/%s runs on the host: it is C, in %s of Tessera's sources", l->op->name,
                        l->variant->name, l->op->command->host_source(l->variant));
    st = source_read(kernel_folder(l), l->variant->source, &source, err);
    if (!st && l->session && !tsr_device_is_host(l->choice.device[0])) {
        const selection sel = {.variant = l->variant, .params = l->params};
        kept_call *c;

        /* First, as it probes the features that options depend on. */
        why = dispatch_unsupported(l->session, only_problem(l), l->variant, &l->params, IN_BUFFERS,
                                   &reason);
        if (why) {
            printf("/* unsupported here: %s */\n", why);
        } else {
            st = dispatch_call_of(l->session, only_problem(l), &sel, IN_BUFFERS, &c, err);
            if (st)
                goto cleanup;
            plan_options(l->variant, session_facts(l->session), &c->plan, &flags);
            printf("/* options: %s */\n",
                   *text_get(&flags) ? text_get(&flags) + strspn(text_get(&flags), " ") : "none");
        }
    } else if (!st) {
        printf("/* options: they depend on the OpenCL device, and none is chosen */\n");
    }
    if (!st)
        fputs(text_get(&source), stdout);

cleanup:
    text_free(&source);
    text_free(&flags);
    text_free(&reason);
    return st;
}

static tsr_status print_ptx(listing *l, tsr_error *err)
{
    const problem *p = only_problem(l);
    selection sel = {.variant = l->variant, .params = l->params};
    text reason = {0};
    unsigned char *ptx = NULL;
    kept_call *c;
    const char *why;
    size_t size;
    tsr_status st = TSR_OK;

    if (!l->session)
        return tsr_fail(err, TSR_ENODEVICE, 0, "--ptx needs an NVIDIA device");
    if (!session_facts(l->session)->nvidia)
        return tsr_fail(err, TSR_EUNSUPPORTED, 0, "--ptx: %s is no NVIDIA device",
                        tsr_device_name(l->choice.device[0]));
    why = dispatch_unsupported(l->session, p, l->variant, &sel.params, IN_BUFFERS, &reason);
    if (why)
        st = tsr_fail(err, TSR_EUNSUPPORTED, 0, "%s/%s is unsupported on %s: %s", l->op->name,
                      l->variant->name, tsr_device_name(l->choice.device[0]), why);
    st = st ? st : dispatch_call_of(l->session, p, &sel, IN_BUFFERS, &c, err);
    st = st ? st : dispatch_build(l->session, c, NULL, err);
    st = st ? st : program_binary(c->program, &ptx, &size, err);
    if (!st)
        fputs((const char *)ptx, stdout);
    free(ptx);
    text_free(&reason);
    return st;
}

int cmd_kernels(const options *o)
{
    listing l = {.o = o, .problem = calloc(operation_count, sizeof *l.problem)};
    tsr_error err = {0};
    tsr_status st;
    int status = EXIT_DONE;

    if (!l.problem)
        return out_of_memory();
    st = check_names(&l, &err);

    st = st ? st : open_session(&l, &err);
    if (!st && o->given[OPTION_SOURCE])
        st = print_source(&l, &err);
    else if (!st && o->given[OPTION_PTX])
        st = print_ptx(&l, &err);
    else if (!st)
        status = list_all(&l);
    if (st)
        status = print_error(o->command, &err, l.session);
    tsr_session_close(l.session);
    choice_close(&l.choice);
    free(l.problem);
    return status;
}
