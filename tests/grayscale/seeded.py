"""Bugs of grayscale's kernels that tests find: tests/device/seeded_bugs.py seeds them."""

# name: (variant, file, text, which occurrence of it, replacement, settings)
BUGS = {
    # Right results, and more accesses than the plans state.
    "traffic-grayscale-naive-twice":
        ("naive", "grayscale/grayscale_naive.cl", "pixel[2])", 0, "max(pixel[2], pixel[2]))", []),
    "sweep-grayscale-offset":
        ("naive", "grayscale/grayscale_naive.cl", "call.to + i", 0, "i", []),
    "sweep-grayscale-row-length":
        ("naive", "grayscale/grayscale_naive.cl", "y * call.width + x", 0, "y * call.height + x", []),
    "sweep-grayscale-rounding":
        ("packed", "grayscale/grayscale.clh", " + 32768u", 0, "", []),
    "sweep-grayscale-rest":
        ("packed", "grayscale/grayscale_packed.cl", "p < 4 && first + p < n", 0,
         "p < 4 && first + p + 1 < n", []),
    "sweep-grayscale-vectors-rest":
        ("vectors", "grayscale/grayscale_vectors.cl", "p < PIXELS && first + p < n", 0,
         "p < PIXELS && first + p + 1 < n", []),
    "sweep-grayscale-vectors-word":
        ("vectors", "grayscale/grayscale_vectors.cl", "words[4 * v + 3] = four.w", 0,
         "words[4 * v + 3] = four.z", []),
    "sweep-grayscale-image-channel":
        ("image2d", "grayscale/grayscale_image.cl", "(int2)(2, 0)", 0, "(int2)(1, 0)", []),
    "sweep-grayscale-channel":
        ("packed", "grayscale/grayscale_packed.cl", "BYTE_OF(words, p * CHANNELS + 2)", 0,
         "BYTE_OF(words, p * CHANNELS + 1)", []),
}
