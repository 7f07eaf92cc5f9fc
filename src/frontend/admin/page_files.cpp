#include <algorithm>

#include "base/ascii.h"
#include "frontend/admin/page_files.h"

namespace weir::frontend {

const PageFile* find_page_file(std::string_view name) noexcept {
  const auto found = std::ranges::find(page_files(), name, &PageFile::name);
  return found == page_files().end() ? nullptr : &*found;
}

// The field is a list of tags, or `*`. Weak tags match too.
bool has_etag(std::string_view field, std::string_view etag) noexcept {
  while (!field.empty()) {
    const std::size_t comma = field.find(',');
    std::string_view tag = base::trimmed(field.substr(0, comma));
    field = comma == std::string_view::npos ? std::string_view{} : field.substr(comma + 1);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == etag) return true;
  }
  return false;
}

}  // namespace weir::frontend
