#include "match/descriptors.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "match/consumer_key.h"
#include "text/append_written.h"

namespace weir::match {
namespace {

using policy::Descriptor;

// `*` matches any text, including none. On a mismatch the match backtracks only to the last `*`, so it takes at most
// text x pattern steps.
bool fits(std::string_view text, std::string_view pattern) noexcept {
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

const Descriptor* find_level(std::span<const Descriptor> level, const DescriptorEntry& entry) noexcept {
  const Descriptor* wildcard = nullptr;
  const Descriptor* any = nullptr;
  for (const Descriptor& descriptor : level) {
    if (descriptor.key != entry.key) continue;
    switch (descriptor.kind) {
      case Descriptor::Value::exact:
        if (descriptor.value == entry.value) return &descriptor;
        break;
      case Descriptor::Value::wildcard:
        if (wildcard == nullptr && fits(entry.value, descriptor.value)) wildcard = &descriptor;
        break;
      case Descriptor::Value::any:
        any = &descriptor;
        break;
    }
  }
  return wildcard != nullptr ? wildcard : any;
}

// Reorders `rest` into the first order that leads to a limit below `level`. Returns false if there is none.
bool put_in_order(std::span<const Descriptor> level, std::span<DescriptorEntry> rest) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Descriptor* const found = find_level(level, rest[i]);
    if (found == nullptr) continue;
    std::rotate(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(i),
                rest.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    const bool leads =
        rest.size() == 1 ? found->limit || found->unlimited : put_in_order(found->children, rest.subspan(1));
    if (leads) return true;
    std::rotate(rest.begin(), rest.begin() + 1, rest.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return false;
}

void append_pair(std::string& key, char kind, std::string_view name, std::string_view value) {
  text::append_written(key, 1 + sized(name) + sized(value), [&](char* to) {
    *to = kind;
    put_sized(put_sized(to + 1, name), value);
  });
}

// Lists at most max_listed names.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t max_listed = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), max_listed); ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > max_listed) list += " and " + std::to_string(names.size() - max_listed) + " more";
  return list;
}

std::string text_of(const policy::Descriptor& descriptor) {
  return descriptor.kind == policy::Descriptor::Value::any ? descriptor.key : descriptor.key + "=" + descriptor.value;
}

tl::unexpected<Error> unknown_domain(const policy::Ruleset& ruleset, std::string_view domain) {
  std::vector<std::string> names;
  for (const policy::Domain& each : ruleset.domains) names.push_back(each.name);
  return failure("domain '" + std::string(domain) + "'",
                 "unknown; " + (names.empty() ? "the policy has no domains" : "valid domains: " + listed(names)));
}

// Collects the descriptors with a limit below `level`, as an operator would write them.
void add_configured(const std::vector<policy::Descriptor>& level, const std::string& above,
                    std::vector<std::string>& found) {
  for (const policy::Descriptor& each : level) {
    const std::string path = (above.empty() ? "" : above + std::string(between_parts)) + text_of(each);
    if (each.limit || each.unlimited) found.push_back("'" + path + "'");
    add_configured(each.children, path, found);
  }
}

tl::unexpected<Error> unconfigured(const policy::Domain& domain, std::span<const DescriptorEntry> entries) {
  std::vector<std::string> configured;
  add_configured(domain.descriptors, "", configured);
  return failure("descriptor '" + describe_descriptor(entries) + "'",
                 "has no limit in domain '" + domain.name + "'; limits exist for " + listed(configured));
}

}  // namespace

const Descriptor* match_descriptor(const policy::Domain& domain, std::span<const DescriptorEntry> entries,
                                   std::string& key) {
  key.clear();
  std::span<const Descriptor> level = domain.descriptors;
  const Descriptor* found = nullptr;
  for (const DescriptorEntry& entry : entries) {
    found = find_level(level, entry);
    if (found == nullptr) return nullptr;
    const bool shares = found->share_threshold && found->kind == Descriptor::Value::wildcard;
    append_pair(key, shares ? 'p' : 'v', entry.key, shares ? std::string_view(found->value) : entry.value);
    level = found->children;
  }
  const bool configured = found != nullptr && (found->limit || found->unlimited);
  return configured ? found : nullptr;
}

const Descriptor* match_unordered(const policy::Domain& domain, std::span<DescriptorEntry> entries, std::string& key) {
  std::ranges::sort(entries, {}, &DescriptorEntry::key);
  return put_in_order(domain.descriptors, entries) ? match_descriptor(domain, entries, key) : nullptr;
}

void write_descriptor_key(std::span<const DescriptorEntry> entries, std::string& key) {
  key.clear();
  for (const DescriptorEntry& entry : entries) append_pair(key, 'v', entry.key, entry.value);
}

Result<const policy::Descriptor*> find_descriptor(const policy::Ruleset& ruleset, const DescriptorName& name,
                                                  std::string& key) {
  const auto domain = std::ranges::find(ruleset.domains, name.domain, &policy::Domain::name);
  if (domain == ruleset.domains.end()) return unknown_domain(ruleset, name.domain);
  const policy::Descriptor* const found = match_descriptor(*domain, name.entries, key);
  if (found == nullptr) return unconfigured(*domain, name.entries);
  return found;
}

std::string describe_descriptor(std::span<const DescriptorEntry> entries) {
  std::string text;
  for (const DescriptorEntry& entry : entries) {
    if (!text.empty()) text += between_parts;
    text.append(entry.key).append("=").append(entry.value);
  }
  return text;
}

}  // namespace weir::match
