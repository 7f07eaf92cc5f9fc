// The domain `weir`: entries of a descriptor as a Query, to be judged by the limits with routes. Keys `method`, `path`,
// `user`, `api_key`, `ip` and `tier` mean what they mean in a query; any other key is the name of a header field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/query.h"
#include "weir/header.h"
#include "wire/rls/rate_limit_request.h"

namespace weir::door {

inline constexpr std::string_view query_domain = "weir";

// Queries of one batch, with room for their header fields.
class QueryBatch {
 public:
  void clear() noexcept;

  // No hits: only look. One: what the policy says it costs. More: so much. Hits that are to be given back are not
  // charged: they only look, and are never over a limit.
  void add(std::span<const wire::rls::Entry> entries, std::uint64_t hits, bool is_negative);

  [[nodiscard]] bool is_negative(std::size_t query) const noexcept { return negative_[query]; }

  [[nodiscard]] std::size_t size() const noexcept { return queries_.size(); }
  // Good until the next add().
  [[nodiscard]] std::span<const engine::Query> queries();

 private:
  std::vector<engine::Query> queries_;
  std::vector<bool> negative_;  // one for each query
  std::vector<Header> headers_;
  std::vector<std::size_t> header_ends_;  // one for each query
};

}  // namespace weir::door
