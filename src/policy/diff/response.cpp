#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "policy/diff/parts.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

std::string text_of(const std::optional<Penalty>& penalty) {
  if (!penalty) return "none";
  return fmt::format("after {} in {} for {}", penalty->after, duration_text(penalty->within),
                     duration_text(penalty->block));
}

std::string text_of(const std::optional<WarnFirst>& warn) {
  return warn ? fmt::format("{} per {}", warn->count, duration_text(warn->per)) : "none";
}

bool is_as_strict(const std::optional<Penalty>& a, const std::optional<Penalty>& b) {
  if (!b) return true;
  return a && a->after <= b->after && a->within >= b->within && a->block >= b->block;
}

bool is_as_strict(const std::optional<WarnFirst>& a, const std::optional<WarnFirst>& b) {
  if (!a) return true;
  return b && a->count <= b->count && a->per >= b->per;
}

int strictness(OnStoreFailure choice) noexcept {
  switch (choice) {
    case OnStoreFailure::open:
      return 0;
    case OnStoreFailure::local:
      return 1;
    case OnStoreFailure::closed:
      break;
  }
  return 2;
}

std::string_view meaning(OnStoreFailure choice) noexcept {
  switch (choice) {
    case OnStoreFailure::open:
      return "everybody is admitted while the store is away";
    case OnStoreFailure::local:
      return "each process enforces its share while the store is away";
    case OnStoreFailure::closed:
      break;
  }
  return "everybody is denied while the store is away";
}

// A lease is held by one node while another may want it: never over, a little under.
int strictness(Consistency consistency) noexcept {
  switch (consistency) {
    case Consistency::approximate:
      return 0;
    case Consistency::exact:
      return 1;
    case Consistency::leased:
      break;
  }
  return 2;
}

std::string_view meaning(Consistency consistency) noexcept {
  switch (consistency) {
    case Consistency::approximate:
      return "a few too many may pass";
    case Consistency::exact:
      return "never one too many";
    case Consistency::leased:
      break;
  }
  return "never one too many, and a few less while slices lie with other nodes";
}

// Millionths, as the policy writes them: 0.5.
std::string share_text(std::uint32_t millionths) {
  std::string text = fmt::format("{}.{:06}", millionths / 1'000'000, millionths % 1'000'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void compare_outage(const CompiledLimit& was, const CompiledLimit& is, Changes& changes) {
  if (was.on_store_failure != is.on_store_failure) {
    changes.push_back({is.name,
                       fmt::format("on_store_failure {} -> {}, {}", name_of(was.on_store_failure),
                                   name_of(is.on_store_failure), meaning(is.on_store_failure)),
                       direction_of_more(strictness(was.on_store_failure), strictness(is.on_store_failure))});
  }
  if (was.local_share != is.local_share) {
    const bool matters = was.on_store_failure == OnStoreFailure::local && is.on_store_failure == OnStoreFailure::local;
    changes.push_back({is.name,
                       fmt::format("local_share {} -> {}", share_text(was.local_share), share_text(is.local_share)),
                       matters ? direction_of_more(is.local_share, was.local_share) : Direction::neutral});
  }
}

}  // namespace

void compare_response(const Side& before, const Side& after, Changes& changes) {
  const CompiledLimit& was = before.limit;
  const CompiledLimit& is = after.limit;
  if (was.warn_first != is.warn_first) {
    changes.push_back(
        {is.name, fmt::format("warn_first {} -> {}", text_of(was.warn_first), text_of(is.warn_first)),
         direction_of(is_as_strict(is.warn_first, was.warn_first), is_as_strict(was.warn_first, is.warn_first))});
  }
  if (was.penalty != is.penalty) {
    changes.push_back({is.name, fmt::format("penalty {} -> {}", text_of(was.penalty), text_of(is.penalty)),
                       direction_of(is_as_strict(is.penalty, was.penalty), is_as_strict(was.penalty, is.penalty))});
  }
  compare_outage(was, is, changes);
  if (was.consistency != is.consistency) {
    changes.push_back({is.name,
                       fmt::format("consistency {} -> {}, {}", name_of(was.consistency), name_of(is.consistency),
                                   meaning(is.consistency)),
                       direction_of_more(strictness(was.consistency), strictness(is.consistency))});
  }
}

}  // namespace weir::policy::diff_parts
