#include "frontend/admin/target.h"

namespace weir::frontend {
namespace {

std::optional<unsigned> hexadecimal(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return {};
}

std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return {};
    const auto high = hexadecimal(text[i + 1]);
    const auto low = hexadecimal(text[i + 2]);
    if (!high || !low) return {};
    plain += static_cast<char>(*high << 4U | *low);
    i += 2;
  }
  return plain;
}

// Takes off what comes before the next `separator`, and the separator with it.
std::string_view take_until(char separator, std::string_view& text) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return taken;
}

std::string_view without_authority(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const std::size_t path = target.find_first_of("/?", scheme + 3);
  return path == std::string_view::npos ? std::string_view{} : target.substr(path);
}

bool read_path(std::string_view path, Target& read) {
  if (path.starts_with('/')) path.remove_prefix(1);
  bool more = true;
  while (more) {
    more = path.find('/') != std::string_view::npos;
    auto segment = decoded(take_until('/', path));
    if (!segment) return false;
    read.segments.push_back(std::move(*segment));
  }
  return true;
}

bool read_parameters(std::string_view query, Target& read) {
  while (!query.empty()) {
    std::string_view value = take_until('&', query);
    auto name = decoded(take_until('=', value));
    auto text = decoded(value);
    if (!name || !text) return false;
    if (!name->empty()) read.parameters.emplace_back(std::move(*name), std::move(*text));
  }
  return true;
}

}  // namespace

std::optional<Target> read_target(std::string_view target) {
  std::string_view query = without_authority(target);
  const std::string_view path = take_until('?', query);
  Target read;
  if (!read_path(path, read) || !read_parameters(query, read)) return {};
  return read;
}

}  // namespace weir::frontend
