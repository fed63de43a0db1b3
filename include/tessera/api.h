/** The library's version, and the mark of its public functions. */
#ifndef TESSERA_API_H
#define TESSERA_API_H

#ifdef __cplusplus
extern "C" {
#endif

/** Version of these headers.  The API of a minor version stays as it is: 0.2.x is one, 0.3 another.
 */
#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 2
#define TSR_VERSION_PATCH 0

/** Marks what the library exports; everything else in it is hidden. */
#if defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#else
#define TSR_API
#endif

/** Version of the library that runs, "MAJOR.MINOR.PATCH".  Static. */
TSR_API const char *tsr_version(void);

#ifdef __cplusplus
}
#endif
#endif
