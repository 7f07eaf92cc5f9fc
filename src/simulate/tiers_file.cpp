#include "simulate/tiers_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "text/yaml/problem.h"

namespace weir::simulate {
namespace {

// Takes a field and the comma after it from the front of `line`. Returns nothing if its quotes are not closed, or if
// they are followed by anything other than a comma.
std::optional<std::string> take_field(std::string_view& line) {
  line = base::trimmed(line);
  std::string field;
  if (!line.starts_with('"')) {
    const std::size_t comma = std::min(line.find(','), line.size());
    field = base::trimmed(line.substr(0, comma));
    line.remove_prefix(std::min(comma + 1, line.size()));
    return field;
  }
  for (line.remove_prefix(1);;) {
    const std::size_t quote = line.find('"');
    if (quote == std::string_view::npos) return {};
    field += line.substr(0, quote);
    line.remove_prefix(quote + 1);
    if (!line.starts_with('"')) break;
    field += '"';
    line.remove_prefix(1);
  }
  line = base::trimmed(line);
  if (!line.empty() && !line.starts_with(',')) return {};
  if (!line.empty()) line.remove_prefix(1);
  return field;
}

}  // namespace

Result<TiersFile> TiersFile::read(std::string_view text, std::string_view name, std::span<const std::string> tiers) {
  if (text.size() > max_bytes) return failure(std::string(name), fmt::format("larger than {} MiB", max_bytes >> 20));
  TiersFile file;
  file.tiers_.assign(tiers.begin(), tiers.end());
  std::size_t number = 0;
  bool is_first = true;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    line = base::trimmed(line, " \t\r");
    if (line.empty() || line.starts_with('#')) continue;
    const bool may_be_header = std::exchange(is_first, false);
    const auto wrong = [&](std::string what) { return failure(fmt::format("{}:{}", name, number), std::move(what)); };
    const bool has_comma = line.find(',') != std::string_view::npos;
    const auto user = take_field(line);
    const auto tier = user ? take_field(line) : std::nullopt;
    if (!tier || !has_comma || !line.empty() || user->empty() || tier->empty()) {
      return wrong("not a user and a tier; write alice,pro and quote a field that contains a comma");
    }
    if (may_be_header && *user == "user" && *tier == "tier") continue;
    const auto found = std::ranges::find(file.tiers_, *tier);
    if (found == file.tiers_.end()) {
      const std::string near = text::did_you_mean(*tier, file.tiers_);
      return wrong(fmt::format("unknown tier {}{}", text::in_quotes(*tier),
                               near.empty() ? fmt::format("; valid tiers: {}", fmt::join(file.tiers_, ", ")) : near));
    }
    const auto index = static_cast<std::size_t>(found - file.tiers_.begin());
    const auto [entry, is_new] = file.by_user_.try_emplace(*user, Listed{index, number});
    if (!is_new) {
      return wrong(
          fmt::format("duplicate user {}: the first is in line {}", text::in_quotes(*user), entry->second.line));
    }
  }
  if (file.by_user_.empty()) return failure(std::string(name), "no users; write lines such as alice,pro");
  return file;
}

std::string_view TiersFile::tier_of(std::string_view user) const noexcept {
  const auto found = by_user_.find(user);
  return found == by_user_.end() ? std::string_view{} : std::string_view(tiers_[found->second.tier]);
}

}  // namespace weir::simulate
