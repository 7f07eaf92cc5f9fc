#include "overrides/registry.h"

#include <algorithm>
#include <set>

namespace weir::overrides {
namespace {

char tag_of(Kind kind) noexcept {
  return kind == Kind::block ? 'b' : 'o';
}

std::string id_key(Kind kind, std::string_view id) {
  return tag_of(kind) + std::string(id);
}

// The name of a limit contains no line feed.
std::string target_key(Kind kind, std::string_view limit, std::string_view target) {
  return tag_of(kind) + std::string(limit) + "\n" + std::string(target);
}

std::string target_key(const Record& record) {
  return target_key(record.kind, record.limit, record.target);
}

}  // namespace

void Registry::apply(const Change& change) {
  const Entry before = find(change.record.kind, change.record.id);
  if (before.record != nullptr) erase(before.number);
  if (change.action == Change::Action::set) insert(change.record);
  version_ = std::max(version_, change.version);
  history_.push_back(change);
  if (history_.size() > max_history) history_.pop_front();
}

void Registry::insert(const Record& record) {
  const Number number = ++last_number_;
  by_id_.emplace(id_key(record.kind, record.id), number);
  by_target_.emplace(target_key(record), number);
  ++counts_[static_cast<std::size_t>(record.kind)];
  next_expiry_ = std::min(next_expiry_, record.expires_at);
  records_.emplace(number, record);
}

void Registry::erase(Number number) {
  const auto found = records_.find(number);
  if (found == records_.end()) return;
  const Record& record = found->second;
  by_id_.erase(id_key(record.kind, record.id));
  const auto [begin, end] = by_target_.equal_range(target_key(record));
  by_target_.erase(std::find_if(begin, end, [&](const auto& each) { return each.second == number; }));
  --counts_[static_cast<std::size_t>(record.kind)];
  records_.erase(found);
}

Registry::Entry Registry::find(Kind kind, std::string_view id) const {
  const auto found = by_id_.find(id_key(kind, id));
  return found == by_id_.end() ? Entry{} : Entry{found->second, find(found->second)};
}

const Record* Registry::find(Number number) const {
  const auto found = records_.find(number);
  return found == records_.end() ? nullptr : &found->second;
}

Registry::Entry Registry::find_for(Kind kind, std::string_view limit, std::string_view target) const {
  const auto [begin, end] = by_target_.equal_range(target_key(kind, limit, target));
  for (auto at = begin; at != end; ++at) {
    const Record* const record = find(at->second);
    if (!record->is_grant()) return {at->second, record};
  }
  return {};
}

std::vector<Registry::Entry> Registry::grants_for(std::string_view limit, std::string_view target) const {
  std::vector<Entry> grants;
  const auto [begin, end] = by_target_.equal_range(target_key(Kind::limit_override, limit, target));
  for (auto at = begin; at != end; ++at) {
    const Record* const record = find(at->second);
    if (record->is_grant()) grants.push_back({at->second, record});
  }
  std::ranges::sort(grants, {}, [](const Entry& entry) { return entry.record->version; });
  return grants;
}

Registry::Page Registry::list(const Query& query) const {
  Page page;
  auto at = query.cursor.empty() ? by_id_.lower_bound(id_key(query.kind, ""))
                                 : by_id_.upper_bound(id_key(query.kind, query.cursor));
  for (; at != by_id_.end() && at->first.front() == tag_of(query.kind); ++at) {
    const Record* const record = find(at->second);
    if (!query.limit.empty() && record->limit != query.limit) continue;
    if (!query.target.empty() && record->target != query.target) continue;
    if (page.entries.size() == query.max) {
      page.next = page.entries.back().record->id;
      break;
    }
    page.entries.push_back({at->second, record});
  }
  return page;
}

std::vector<Registry::Entry> Registry::expired(Instant now) const {
  std::vector<Entry> expired;
  if (next_expiry_ > now) return expired;
  next_expiry_ = Instant::max();
  for (const auto& [number, record] : records_) {
    next_expiry_ = std::min(next_expiry_, record.expires_at);
    if (record.expires_at <= now) expired.push_back({number, &record});
  }
  return expired;
}

std::vector<Change> Registry::essential_changes() const {
  std::vector<Change> changes(history_.begin(), history_.end());
  std::set<std::uint64_t> versions;
  for (const Change& change : changes) versions.insert(change.version);
  for (const auto& [number, record] : records_) {
    if (versions.contains(record.version)) continue;
    changes.push_back({.version = record.version, .at = record.created_at, .by = record.by, .record = record});
  }
  std::ranges::sort(changes, {}, &Change::version);
  return changes;
}

}  // namespace weir::overrides
