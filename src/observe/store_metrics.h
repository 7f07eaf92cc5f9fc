// What Weir tells Prometheus about a store that nodes share. Callable from any thread.
#pragma once

#include <span>

#include "engine/store_paths.h"
#include "observe/metrics_page.h"
#include "store/shared/store_counts.h"

namespace weir::observe {

// `loops`: each loop has a store of its own, and all of them the same servers. At least one.
void append_store_metrics(MetricsPage& page, std::span<const store::StoreCounts* const> loops,
                          const engine::StorePathTotals& paths);

}  // namespace weir::observe
