#include "door/rls/query_entries.h"

namespace weir::door {
namespace {

// Where a key's value goes; null for a header field.
std::string_view* place_of(engine::Query& query, std::string_view key) noexcept {
  if (key == "method") return &query.method;
  if (key == "path") return &query.target;
  if (key == "user") return &query.user;
  if (key == "api_key") return &query.api_key;
  if (key == "ip" || key == "remote_address") return &query.ip;  // the second is what Envoy itself calls it
  if (key == "tier") return &query.tier;
  return nullptr;
}

}  // namespace

void QueryBatch::clear() noexcept {
  queries_.clear();
  negative_.clear();
  headers_.clear();
  header_ends_.clear();
}

void QueryBatch::add(std::span<const wire::rls::Entry> entries, std::uint64_t hits, bool is_negative) {
  engine::Query& query = queries_.emplace_back();
  query.max_wait = Duration::zero();  // nobody waits here
  negative_.push_back(is_negative);
  if (is_negative) hits = 0;
  query.peek = hits == 0;
  if (hits != 1) query.cost = Cost{hits};
  for (const wire::rls::Entry& entry : entries) {
    if (std::string_view* const place = place_of(query, entry.key)) {
      *place = entry.value;
    } else {
      headers_.push_back({entry.key, entry.value});
    }
  }
  header_ends_.push_back(headers_.size());
}

std::span<const engine::Query> QueryBatch::queries() {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    queries_[i].headers = std::span(headers_).subspan(begin, header_ends_[i] - begin);
    begin = header_ends_[i];
  }
  return queries_;
}

}  // namespace weir::door
