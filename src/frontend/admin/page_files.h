// The files of the page that shows what the limiter does: those of the folder `page`, as they were at build.
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

// In the order of their names.
[[nodiscard]] std::span<const PageFile> page_files() noexcept;

// Null if there is none of that name.
[[nodiscard]] const PageFile* find_page_file(std::string_view name) noexcept;

// Whether a client that has `field` in If-None-Match has the file as it is.
[[nodiscard]] bool has_etag(std::string_view field, std::string_view etag) noexcept;

}  // namespace weir::frontend
