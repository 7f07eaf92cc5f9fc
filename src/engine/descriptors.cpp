#include "engine/descriptors.h"

#include "engine/sized_text.h"

namespace weir::engine {
namespace {

using policy::Descriptor;

// `*` stands for any text, also none. Greedy with one step back, so it takes no longer than text x pattern.
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

void append_pair(std::string& key, char kind, std::string_view name, std::string_view value) {
  const std::size_t at = key.size();
  key.resize(at + 1 + sized(name) + sized(value));
  char* const to = key.data() + at;
  *to = kind;
  put_sized(put_sized(to + 1, name), value);
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

void write_descriptor_key(std::span<const DescriptorEntry> entries, std::string& key) {
  key.clear();
  for (const DescriptorEntry& entry : entries) append_pair(key, 'v', entry.key, entry.value);
}

}  // namespace weir::engine
