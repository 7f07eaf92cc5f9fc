// The files of the admin page: the folder `page`, embedded at build time.
#pragma once

#include <span>
#include <string_view>

namespace weir::frontend {

struct PageFile {
  std::string_view name;  // `index.html`
  std::string_view content_type;
  std::string_view bytes;
  std::string_view etag;  // strong, with its quotes
};

// Sorted by name.
[[nodiscard]] std::span<const PageFile> page_files() noexcept;

// Returns null for an unknown name.
[[nodiscard]] const PageFile* find_page_file(std::string_view name) noexcept;

// True if `field`, an If-None-Match header, contains the tag.
[[nodiscard]] bool has_etag(std::string_view field, std::string_view etag) noexcept;

}  // namespace weir::frontend
