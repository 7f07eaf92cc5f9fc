// The buckets of the decision histograms.
#pragma once

#include "base/histogram.h"

namespace weir::observe {

// The time of one decision, in nanoseconds: from 100 ns to 100 ms.
inline constexpr base::Scale<19> duration_scale{
    9,
    {100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000,
     5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000}};

// The share of a limit that remains after a decision, in millionths.
inline constexpr base::Scale<8> headroom_scale{6, {0, 10'000, 50'000, 100'000, 250'000, 500'000, 750'000, 1'000'000}};

// The number of queries that were evaluated together.
inline constexpr base::Scale<11> batch_scale{0, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}};

using DurationHistogram = base::Histogram<duration_scale>;
using HeadroomHistogram = base::Histogram<headroom_scale>;
using BatchHistogram = base::Histogram<batch_scale>;

}  // namespace weir::observe
