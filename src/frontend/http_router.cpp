#include "frontend/http_router.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/percent.h"

namespace weir::frontend {
namespace {

// Removes and returns the text before the next `separator`. Removes the separator too.
std::string_view take_until(char separator, std::string_view& text) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return taken;
}

// Removes a slash and the segment after it, and returns the segment.
std::string_view take_segment(std::string_view& path) noexcept {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool read_path(std::string_view path, Target& read) {
  if (path.starts_with('/')) path.remove_prefix(1);
  bool more = true;
  while (more) {
    more = path.find('/') != std::string_view::npos;
    auto segment = base::percent_decoded(take_until('/', path));
    if (!segment) return false;
    read.segments.push_back(std::move(*segment));
  }
  return true;
}

bool read_parameters(std::string_view query, Target& read) {
  while (!query.empty()) {
    std::string_view value = take_until('&', query);
    auto name = base::percent_decoded(take_until('=', value));
    auto text = base::percent_decoded(value);
    if (!name || !text) return false;
    if (!name->empty()) read.parameters.emplace_back(std::move(*name), std::move(*text));
  }
  return true;
}

}  // namespace

bool Route::matches_segments(std::string_view sent) const noexcept {
  if (!sent.starts_with('/')) return false;
  std::string_view written = path;
  while (!written.empty() && !sent.empty()) {
    const std::string_view expected = take_segment(written);
    const std::string_view segment = take_segment(sent);
    if (!expected.starts_with('{')) {
      if (segment != expected) return false;
    } else if (written.empty() && span == Span::prefix) {
      return true;
    }
  }
  return written.empty() && sent.empty();
}

std::string_view path_in_absolute_form(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return target;
  const std::size_t path = target.find_first_of("/?", scheme + 3);
  return path == std::string_view::npos ? std::string_view{} : target.substr(path);
}

namespace {

using namespace std::string_view_literals;
using Methods = Route::Methods;

std::string names_of(MethodSet methods, std::string_view of_get) {
  std::string names;
  for (const auto& [method, name] : {std::pair{Methods::get, of_get}, std::pair{Methods::post, "POST"sv},
                                     std::pair{Methods::put, "PUT"sv}, std::pair{Methods::remove, "DELETE"sv}}) {
    if ((methods & set_of(method)) == 0) continue;
    names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

// The value of Allow. An answer refers to it, so all of them are kept.
std::string_view allow_value(MethodSet methods) {
  static const auto all = [] {
    std::array<std::string, std::size_t{2} * set_of(Methods::remove)> values;
    for (MethodSet one = 0; one < values.size(); ++one) values[one] = names_of(one, "GET, HEAD");
    return values;
  }();
  return all[methods % all.size()];
}

}  // namespace

HttpAnswer refuse_method(MethodSet allowed) {
  return http_problem(405, "Use " + names_of(allowed, "GET") + ".", {"Allow", allow_value(allowed)});
}

std::vector<std::string> names_in(const Target& target, const Route& route) {
  std::vector<std::string> names;
  std::string_view written = route.path;
  for (const std::string& segment : target.segments) {
    if (!written.empty() && take_segment(written).starts_with('{')) names.push_back(segment);
  }
  return names;
}

Result<std::string> sole_parameter(const Target& target, std::string_view name) {
  if (target.parameters.empty()) return std::string();
  const auto& [first, value] = target.parameters.front();
  if (first != name) return failure(first, "unknown parameter; valid parameters: " + std::string(name));
  if (target.parameters.size() > 1)
    return failure(target.parameters[1].first, "unexpected parameter; send only " + std::string(name));
  return value;
}

std::optional<Target> read_target(std::string_view target) {
  std::string_view query = without_authority(target);
  const std::string_view path = take_until('?', query);
  Target read;
  if (!read_path(path, read) || !read_parameters(query, read)) return {};
  return read;
}

}  // namespace weir::frontend
