#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/counter.h"
#include "base/histogram.h"
#include "observe/metrics.h"
#include "policy/consistency.h"
#include "store/leased/slice_table.h"

namespace weir::observe {
namespace {

using store::StoreCounts;
using Loops = std::span<const StoreCounts* const>;
using enum MetricsPage::Type;

std::uint64_t sum(Loops loops, base::Counter StoreCounts::* count) noexcept {
  std::uint64_t all = 0;
  for (const StoreCounts* loop : loops) all += (loop->*count).value();
  return all;
}

std::uint64_t max_of(Loops loops, base::Gauge StoreCounts::* gauge) noexcept {
  std::int64_t found = 0;
  for (const StoreCounts* loop : loops) found = std::max(found, (loop->*gauge).value());
  return static_cast<std::uint64_t>(found);
}

std::uint64_t min_of(Loops loops, base::Gauge StoreCounts::* gauge) noexcept {
  std::int64_t found = (loops.front()->*gauge).value();
  for (const StoreCounts* loop : loops) found = std::min(found, (loop->*gauge).value());
  return static_cast<std::uint64_t>(std::max(found, std::int64_t{0}));
}

template <const auto& scale>
typename base::Histogram<scale>::Totals totals(Loops loops, base::Histogram<scale> StoreCounts::* histogram) noexcept {
  typename base::Histogram<scale>::Totals all;
  for (const StoreCounts* loop : loops) (loop->*histogram).add_to(all);
  return all;
}

void append_paths(MetricsPage& page, const engine::StorePathTotals& paths) {
  page.family("weir_store_decisions_total", counter,
              "Decisions by path: shared, leased, approximate; if the store is unavailable: local, open, closed.");
  for (std::size_t path = 0; path < paths.size(); ++path) {
    page.sample({{"path", engine::store_path_names[path]}}, paths[path]);
  }
}

void append_errors(MetricsPage& page, Loops loops) {
  page.family("weir_store_errors_total", counter, "Errors of the store's servers, by kind.");
  for (std::size_t kind = 0; kind < store::store_error_kinds; ++kind) {
    std::uint64_t all = 0;
    for (const StoreCounts* loop : loops) all += loop->errors[kind].value();
    page.sample({{"kind", name_of(static_cast<store::StoreError>(kind))}}, all);
  }
}

void append_breakers(MetricsPage& page, Loops loops) {
  auto worst = store::BreakerState::closed;
  for (const StoreCounts* loop : loops) worst = std::max(worst, loop->breaker());
  page.single("weir_store_breaker_state", gauge,
              "State of the worst circuit breaker: 0 closed, 1 half-open, 2 open (requests do not wait for the store).",
              static_cast<std::uint64_t>(worst));
  page.family("weir_store_breaker_transitions_total", counter, "Circuit breaker transitions, by new state.");
  page.sample({{"to", "open"}}, sum(loops, &StoreCounts::opened));
  page.sample({{"to", "closed"}}, sum(loops, &StoreCounts::closed));
  page.single("weir_store_servers", gauge, "Servers that decide: one, or the masters of a cluster.",
              max_of(loops, &StoreCounts::servers));
  page.single("weir_store_connected", gauge, "Connected servers, as seen by the loop that has the fewest.",
              min_of(loops, &StoreCounts::connected));
}

void append_traffic(MetricsPage& page, Loops loops) {
  page.family("weir_store_batch_size", histogram, "Requests sent to the store together.");
  page.histogram({}, store::batch_size_scale, totals(loops, &StoreCounts::batch_size));
  page.single("weir_store_evaluations_total", counter,
              "Evaluations by the store; equal requests of a batch count once.", sum(loops, &StoreCounts::evaluations));
  page.family("weir_store_round_trip_seconds", histogram, "Time from sending an evaluation to receiving its answer.");
  page.histogram({}, store::round_trip_scale, totals(loops, &StoreCounts::round_trip));
  page.single("weir_store_late_answers_total", counter, "Answers that arrived after their requests had timed out.",
              sum(loops, &StoreCounts::late_answers));
  page.family("weir_store_refunds_total", counter,
              "Refunds of charges in one cluster slot because another slot denied, by outcome.");
  page.sample({{"outcome", "done"}}, sum(loops, &StoreCounts::refunds));
  page.sample({{"outcome", "lost"}}, sum(loops, &StoreCounts::lost_refunds));
}

void append_servers(MetricsPage& page, Loops loops) {
  std::uint64_t evicted = 0;  // not summed: every loop sees the same servers
  std::int64_t offset = 0;
  for (const StoreCounts* loop : loops) {
    evicted = std::max(evicted, loop->evicted_keys.value());
    const std::int64_t ahead = loop->clock_offset.value();
    if (std::abs(ahead) > std::abs(offset)) offset = ahead;
  }
  page.single("weir_store_evicted_keys_total", counter,
              "Keys that the servers evicted while this node was connected to them.", evicted);
  page.single("weir_store_evicting_servers", gauge, "Servers whose maxmemory-policy is not noeviction.",
              max_of(loops, &StoreCounts::evicting));
  page.family("weir_store_clock_offset_seconds", gauge, "How far the store's clock is ahead of this machine's.");
  page.signed_sample({}, offset, 6);
}

}  // namespace

void append_store_metrics(MetricsPage& page, Loops loops, const engine::StorePathTotals& paths) {
  append_paths(page, paths);
  append_errors(page, loops);
  append_breakers(page, loops);
  append_traffic(page, loops);
  append_servers(page, loops);
}

namespace {

// One row for each approximate tier.
void append_approximate(MetricsPage& page, const engine::Bindings& bindings) {
  struct Row {
    std::string_view limit, tier;
    std::uint64_t bound, over;
  };
  std::vector<Row> rows;
  for (const engine::BoundLimit& limit : bindings.limits()) {
    for (std::size_t tier = 0; tier < limit.live.size(); ++tier) {
      const auto& states = limit.live[tier];
      const store::SliceTable* const slices = states ? store::slices_of(*states) : nullptr;
      if (slices == nullptr || !slices->is_approximate()) continue;
      const policy::ApproximateBound bound =
          policy::approximate_bound(*limit.source->live.by_tier[tier], slices->nodes());
      rows.push_back(
          {limit.source->name, bindings.ruleset().tiers.names[tier], bound.max_admitted, slices->max_excess()});
    }
  }
  if (rows.empty()) return;
  page.family("weir_approximate_bound_units", gauge,
              "Maximum that an approximate limit can admit in a window or a time to fill, given the number of nodes.");
  for (const Row& row : rows) page.sample({{"limit", row.limit}, {"tier", row.tier}}, row.bound);
  page.family("weir_approximate_excess_units", gauge,
              "Maximum usage beyond an approximate limit that the store has reported to this node.");
  for (const Row& row : rows) page.sample({{"limit", row.limit}, {"tier", row.tier}}, row.over);
}

}  // namespace

void append_node_metrics(MetricsPage& page, const NodeFigures& figures) {
  page.single("weir_nodes", gauge, "Nodes that share the store, counted by their heartbeats.", figures.nodes);
  page.single("weir_nodes_with_other_policy", gauge, "Nodes whose active policy differs from this node's.",
              figures.with_other_policy);
  page.family("weir_heartbeats_total", counter,
              "Heartbeats of this node, by outcome; failed: not sent, not answered or refused.");
  page.sample({{"outcome", "sent"}}, figures.beats_sent);
  page.sample({{"outcome", "failed"}}, figures.beats_failed);
}

void append_slice_metrics(MetricsPage& page, const engine::Bindings& bindings) {
  if (bindings.slices().empty()) return;
  std::vector<std::pair<std::string_view, store::SliceTable::Out>> out;
  for (const engine::BoundLimit& limit : bindings.limits()) {
    store::SliceTable::Out of_limit;
    bool is_leased = false;
    for (const auto& states : limit.live) {
      const store::SliceTable* const slices = states ? store::slices_of(*states) : nullptr;
      if (slices == nullptr) continue;
      is_leased = true;
      const auto of_tier = slices->out();
      of_limit.slices += of_tier.slices;
      of_limit.units += of_tier.units;
    }
    if (is_leased) out.emplace_back(limit.source->name, of_limit);
  }
  page.family("weir_lease_holder_info", gauge, "Name under which other nodes see this node's slices.");
  page.sample({{"holder", bindings.slice_holder()->text()}}, std::uint64_t{1});
  page.family("weir_lease_slices", gauge, "Consumers for whom this node has leased a slice.");
  for (const auto& [limit, leased] : out) page.sample({{"limit", limit}}, leased.slices);
  page.family("weir_lease_units", gauge,
              "Units leased to this node, which it spends without asking the store or returns.");
  for (const auto& [limit, leased] : out) page.sample({{"limit", limit}}, leased.units);

  const store::SliceCounts& counts = bindings.slices().front()->counts();
  const auto value = [](const store::SliceCounts::Count& count) { return count.load(std::memory_order_relaxed); };
  page.family("weir_lease_messages_total", counter, "Messages about slices, by kind; `all` includes the other kinds.");
  page.sample({{"kind", "all"}}, value(counts.messages));
  page.sample({{"kind", "renewal"}}, value(counts.renewals));
  page.sample({{"kind", "return"}}, value(counts.returns));
  page.single("weir_lease_unanswered_total", counter, "Messages about slices that the store did not answer.",
              value(counts.unanswered));
  page.family(
      "weir_lease_units_total", counter,
      "Leased units by outcome: granted, reported as used, returned, expired (charged), or unasked: spent before "
      "they were granted, and charged.");
  page.sample({{"outcome", "granted"}}, value(counts.granted));
  page.sample({{"outcome", "reported"}}, value(counts.reported));
  page.sample({{"outcome", "returned"}}, value(counts.returned));
  page.sample({{"outcome", "expired"}}, value(counts.expired));
  page.sample({{"outcome", "unasked"}}, value(counts.unasked));
  page.single("weir_lease_contended_denials_total", counter,
              "Denials although the unused units leased to other nodes would have been enough.",
              value(counts.contended_denials));
  append_approximate(page, bindings);
}

}  // namespace weir::observe
