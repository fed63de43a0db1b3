/**
 * OpenCV's cvtColor, on its own threads.  Of bytes its weights are in 32768ths, as those of
 * TSR_LUMA_OPENCV; of floats they are those of BT.601, in the same order.
 */
#include <cstdio>
#include <exception>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <tessera/grayscale.h>

#include "peer_common.h"

namespace
{

enum { COLOUR, GREY };

const tsr_grayscale_problem *of(const peer_problem *p)
{
    return static_cast<const tsr_grayscale_problem *>(p->problem);
}

const char *unsupported(const peer_problem *p)
{
    const tsr_grayscale_problem *q = of(p);

    if (q->height == 0 || q->width == 0)
        return "no pixels: nothing to time";
    if (q->height > INT32_MAX || q->width > INT32_MAX)
        return "it counts rows and columns in 32 bits";
    if (q->luma == TSR_LUMA_BT709)
        return "it has the weights of BT.601";
    if (q->type == TSR_U8 && q->luma != TSR_LUMA_OPENCV)
        return "it rounds the weights of bytes to 32768ths: --weights opencv";
    return nullptr;
}

/* No exception crosses the C interface. */
int call(void *state, size_t set)
{
    const peer_host_sets *sets = &static_cast<const peer_host *>(state)->sets;
    const tsr_grayscale_problem *p = of(&sets->problem);
    const int depth = p->type == TSR_U8 ? CV_8U : CV_32F;
    const int rows = static_cast<int>(p->height), columns = static_cast<int>(p->width);

    try {
        const cv::Mat colour(rows, columns, CV_MAKETYPE(depth, static_cast<int>(p->channels)),
                             peer_host_set(sets, set, COLOUR));
        cv::Mat grey(rows, columns, CV_MAKETYPE(depth, 1), peer_host_set(sets, set, GREY));

        cv::cvtColor(colour, grey, p->channels == 3 ? cv::COLOR_RGB2GRAY : cv::COLOR_RGBA2GRAY);
        return grey.data == peer_host_set(sets, set, GREY) ? 0 : -1;
    } catch (const std::exception &) {
        return -1;
    }
}

void *open(const peer_problem *p, char *why, size_t why_size)
{
    return peer_host_open(p, call, GREY, why, why_size);
}

} // namespace

extern "C" PEER_EXPORT const peer_list *peer_module(void)
{
    static char version[64];
    static const peer the_peer = {
        "OpenCV",      version, PEER_CPU, nullptr,          unsupported,    open,
        peer_host_run, nullptr, nullptr,  peer_host_result, peer_host_close};
    static const peer_list list = {
        PEER_ABI, "grayscale", sizeof(tsr_grayscale_problem), &the_peer, 1, nullptr, nullptr};

    std::snprintf(version, sizeof(version), "%s, %d threads", CV_VERSION, cv::getNumThreads());
    return &list;
}
