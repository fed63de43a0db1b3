#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/activity.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/json_print.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "device/properties.h"
#include "session/state.h"

static int label_width(void)
{
    size_t width = 0;

    for (size_t i = 0; property_at(i); i++) {
        if (strlen(property_at(i)->label) > width)
            width = strlen(property_at(i)->label);
    }
    return (int)width;
}

static void print_properties(const tsr_device *device, int width)
{
    for (size_t i = 0; property_at(i); i++) {
        property_value value = {0};

        /* The heading says these. */
        if (!strcmp(property_at(i)->key, "id") || !strcmp(property_at(i)->key, "name"))
            continue;
        if (property_read(i, device, &value))
            printf("    %-*s  %s\n", width, property_at(i)->label, text_get(&value.shown));
        text_free(&value.shown);
    }
}

static void print_features(const device_facts *facts, int width)
{
    const size_t columns = terminal_width(STDOUT_FILENO);

    for (int f = 0; f < FEATURE_COUNT; f++) {
        text value = {0}, line = {0};

        if (facts->feature[f] == FEATURE_NO)
            text_format(&value, "no: %s", facts->feature_why[f]);
        else
            text_append(&value, facts->feature[f] == FEATURE_YES ? "yes" : "unknown");
        text_format(&value, " (%s)", feature_meaning((feature)f));
        text_format(&line, "    %-*s  ", width, feature_name((feature)f));
        text_wrap(&line, text_get(&value), line.length, line.length, columns);
        puts(text_get(&line));
        text_free(&value);
        text_free(&line);
    }
}

/* facts: with the probed features, NULL where they could not be probed. */
static void print_device(const tsr_device *device, const device_facts *facts)
{
    int width = label_width();
    char id[DEVICE_ID_SIZE];

    device_id_text(device, id);
    if (tsr_device_is_host(device))
        printf("host\n    the C variants; needs no OpenCL\n");
    else
        printf("%s %s\n", id, tsr_device_name(device));
    print_properties(device, width);
    if (facts)
        print_features(facts, width);
    if (!tsr_device_is_host(device))
        fputs("\n", stdout);
}

static void add_properties(json_t *object, const tsr_device *device)
{
    for (size_t i = 0; property_at(i); i++) {
        const property *p = property_at(i);
        property_value value = {0};
        json_t *shown = NULL;

        if (property_read(i, device, &value)) {
            if (p->kind == PROPERTY_TEXT)
                shown = json_text(text_get(&value.shown));
            else if (p->kind == PROPERTY_BOOL)
                shown = json_boolean(value.number != 0);
            else
                shown = json_count(value.number);
            json_object_set_new(object, p->key, shown);
        }
        text_free(&value.shown);
    }
}

static json_t *features_json(const device_facts *facts)
{
    json_t *features = json_object();

    for (int f = 0; f < FEATURE_COUNT; f++) {
        json_t *one = json_object();

        if (facts->feature[f] == FEATURE_UNKNOWN)
            json_object_set_new(one, "available", json_null());
        else
            json_object_set_new(one, "available", json_boolean(facts->feature[f] == FEATURE_YES));
        if (facts->feature[f] == FEATURE_NO)
            json_object_set_new(one, "reason", json_text(facts->feature_why[f]));
        json_object_set_new(features, feature_name((feature)f), one);
    }
    return features;
}

static json_t *device_json(const tsr_device *device, const device_facts *facts)
{
    json_t *object = json_object();

    add_properties(object, device);
    if (facts)
        json_object_set_new(object, "features", features_json(facts));
    return object;
}

/* Show one device: print it, or append it to `list` where that is not NULL.  A device on which no
 * session opens is shown by its properties alone. */
static void show_device(const tsr_device *device, const options *o, json_t *list)
{
    tsr_session *session = NULL;
    tsr_error err = {0};
    const device_facts *facts = NULL;
    tsr_status st = TSR_OK;

    if (!tsr_device_is_host(device)) {
        st = choice_open(device, o, &session, &err);
        activity_begin("probing %s", tsr_device_name(device));
        if (!st)
            st = session_probe(session, (1u << FEATURE_COUNT) - 1, &err);
        activity_end();
        if (session)
            facts = session_facts(session);
    }
    if (st)
        warn("%s: %s", tsr_device_name(device), err.message);
    if (list)
        json_array_append_new(list, device_json(device, facts));
    else
        print_device(device, facts);
    tsr_session_close(session);
}

static int print_json(const tsr_devices *list, json_t *devices)
{
    json_t *failures = json_array();
    const char *line;

    for (size_t i = 0; (line = tsr_devices_failure(list, i)); i++)
        json_array_append_new(failures, json_text(line));
    return json_print(json_pack("{s:s, s:o, s:o}", "schema", "tessera-devices-1", "devices",
                                devices, "failures", failures));
}

int cmd_devices(const options *o)
{
    bool picked = o->value[OPTION_DEVICE] != NULL;
    tsr_error err = {0};
    choice found;
    tsr_status st = picked ? choice_find(o, &found, &err) : choice_all(&found, &err);
    json_t *devices = o->given[OPTION_JSON] ? json_array() : NULL;
    int status = EXIT_DONE;

    if (found.list && !(picked && st == TSR_ENODEVICE))
        warn_failures(found.list);
    for (size_t i = 0; i < found.count; i++)
        show_device(found.device[i], o, devices);
    if (devices && found.count)
        status = print_json(found.list, devices);
    else
        json_decref(devices);
    /* Without an OpenCL device `host` has been listed all the same. */
    if (st)
        status = print_error(o->command, &err, NULL);
    choice_close(&found);
    return status;
}
