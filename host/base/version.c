#include "tessera/api.h"

#define TEXT(x)                      #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *tsr_version(void)
{
    return VERSION(TSR_VERSION_MAJOR, TSR_VERSION_MINOR, TSR_VERSION_PATCH);
}
