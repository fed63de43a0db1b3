"""Bugs in grayscale's C code and in that of pictures, which tests find: scripts/mutants.py plants them."""

FILES = "cli/test_grayscale_command"

MUTANTS = {
    "grayscale-last-block":
        ("host/ops/grayscale/grayscale.c", "size_min(BLOCK, grayscale_pixels(p) - at)", 0, "BLOCK", "device/grayscale/host"),
    "grayscale-rounded-down":
        ("host/ops/grayscale/grayscale_simd_loops.c", " + 32768", 0, "",
         "unit/test_grayscale_plan"),
    "image-16-bits":
        ("host/file/image.c", "image.format & PNG_FORMAT_FLAG_LINEAR", 0, "false", FILES),
    "image-cut-short":
        ("host/file/image.c", "got < array_count(&a)", 0, "false", FILES),
    "image-too-long":
        ("host/file/image.c", "if (!st && got)", 0, "if (false)", FILES),
    "image-largest-value":
        ("host/file/image.c", "most != 255", 0, "false", FILES),
    "grayscale-halves-of-green":
        ("host/ops/grayscale/grayscale_simd_loops.c", "weights[1] - weights[1] / 2", 0,
         "weights[1] / 2", "unit/test_grayscale_plan"),
}
