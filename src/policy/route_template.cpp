#include "policy/route_template.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/hex.h"
#include "base/percent.h"

namespace weir::policy {
namespace {

using Mistake = std::optional<std::string>;

bool contains_any(std::string_view text, std::string_view characters) noexcept {
  return text.find_first_of(characters) != std::string_view::npos;
}

// Quotes the whole text; in_quotes() truncates it.
std::string as_written(std::string_view text) {
  return "'" + std::string(text) + "'";
}

// Removes the method, if any, and the blanks after it from `rest`.
Mistake take_method(std::string_view& rest, RouteTemplate& route) {
  if (rest.starts_with('/')) return {};
  const std::size_t space = rest.find_first_of(" \t");
  if (space == std::string_view::npos) {
    return "the path must begin with '/': write " + as_written("/" + std::string(rest)) + " or 'METHOD /path'";
  }
  const std::string_view method = rest.substr(0, space);
  if (!base::is_token(method))
    return as_written(method) + " is not a method: write one like GET or POST, then the path";
  if (method.size() > max_method_length) {
    return "the method is too long: at most " + std::to_string(max_method_length) + " characters";
  }
  route.method = base::upper(method);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t", space), rest.size()));
  if (!rest.starts_with('/')) return "the path after the method must begin with '/'";
  return {};
}

Mistake wrong_in_path(std::string_view path) {
  if (std::ranges::any_of(path, base::is_control)) return "a route cannot contain control characters";
  if (contains_any(path, " ")) return "the path contains a space: encode it as %20, and write the method first";
  if (contains_any(path, "?#")) return "a route is a path only: remove the query or fragment ('?', '#')";
  if (contains_any(path, "\\")) return "'\\' is not a separator in a route: write '/'";
  if (contains_any(path, ";")) return "path parameters (';') are not compared: remove them";
  return {};
}

Mistake wrong_parameter_name(std::string_view name) {
  if (name.empty()) return "a parameter needs a name: write {name}, or * for an unnamed one";
  if (name.starts_with('*') || name.ends_with('*') || name.ends_with('+')) {
    return "{" + std::string(name) + "} matches one segment only: for the rest of the path, write ** last";
  }
  if (contains_any(name, ":")) return "{" + std::string(name) + "}: patterns are not supported, write the name only";
  return {};
}

Mistake add_parameter(std::string_view name, RouteTemplate& route) {
  if (auto wrong = wrong_parameter_name(name)) return wrong;
  const auto same_name = [&](const Segment& s) { return !s.is_literal() && s.text == name; };
  if (std::ranges::any_of(route.segments, same_name)) {
    return "duplicate parameter {" + std::string(name) + "}: give each parameter its own name";
  }
  route.segments.push_back({Segment::Kind::parameter, std::string(name), {}});
  return {};
}

Mistake add_literal(std::string_view written, RouteTemplate& route) {
  std::string decoded(written);
  decoded.resize(decode(written, decoded.data()));
  std::string key = decoded;
  const SegmentText compared = segment_text(key);
  if (contains_any(decoded, "/\\")) return as_written(written) + " contains an encoded slash: write two segments";
  if (compared.has_parameters || compared.may_end_path) {
    return as_written(written) +
           " contains an encoded ';', '?', '#' or control character, which servers read differently: use a "
           "parameter, {name}";
  }
  if (compared.dots > 0)
    return as_written(written) + " is a dot segment, and requests are compared without these: remove it";
  if (compared.text.empty()) return as_written(written) + " is empty to some servers: use a parameter, {name}";
  std::string text(compared.text);
  route.segments.push_back({Segment::Kind::literal, std::move(decoded), std::move(text)});
  return {};
}

Mistake add_segment(std::string_view written, RouteTemplate& route) {
  if (route.trailing_wildcard) return "** must be the last segment";
  if (written.empty()) return "empty segment ('//'): write one slash";
  if (written == "**") {
    route.trailing_wildcard = true;
    return {};
  }
  if (route.segments.size() == max_route_segments) {
    return "too many segments: at most " + std::to_string(max_route_segments) + ", then ** for the rest";
  }
  if (written == "*") {
    route.segments.push_back({Segment::Kind::parameter, {}, {}});
    return {};
  }
  const std::string_view inner = written.substr(1, std::max<std::size_t>(written.size(), 2) - 2);
  if (written.front() == '{' && written.size() >= 2 && written.back() == '}' && !contains_any(inner, "{}")) {
    return add_parameter(inner, route);
  }
  if (contains_any(written, "{}")) {
    return as_written(written) + ": a parameter must be a whole segment, as in /{name}/ (encode a brace as %7B or %7D)";
  }
  if (contains_any(written, "*")) {
    return as_written(written) + ": * and ** must be a whole segment (encode an asterisk as %2A)";
  }
  return add_literal(written, route);
}

Mistake parse_path(std::string_view path, RouteTemplate& route) {
  if (auto wrong = wrong_in_path(path)) return wrong;
  if (path == "/") return {};
  path.remove_prefix(1);
  if (path.size() > 1 && path.ends_with('/') && !path.ends_with("//")) path.remove_suffix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    if (auto wrong = add_segment(path.substr(0, slash), route)) return wrong;
    if (slash == std::string_view::npos) return {};
    path.remove_prefix(slash + 1);
  }
}

// Percent-encodes what RFC 3986 does not allow in a segment, and what has a meaning in a template.
std::string encoded(std::string_view literal) {
  std::string text;
  for (const char c : literal) {
    // Policies reject `:id` and `.+`, which probably mean a parameter or a pattern.
    const bool is_odd = (c == ':' && text.empty()) || (c == '+' && text.ends_with('.'));
    if (is_odd) {
      text += c == ':' ? "%3A" : "%2B";
    } else if (base::is_letter_or_digit(c) || std::string_view{"-._~!$&'()+,=:@"}.find(c) != std::string_view::npos) {
      text += c;
    } else {
      const auto code = base::percent_encoded(c);
      text.append(code.data(), code.size());
    }
  }
  return text;
}

bool same_segment(const Segment& a, const Segment& b) noexcept {
  return a.kind == b.kind && a.key == b.key;
}

bool covers_method(const RouteTemplate& a, const RouteTemplate& b) noexcept {
  return !a.method || a.method == b.method || (b.method == "HEAD" && a.method == "GET");
}

// Returns the byte that two hexadecimal digits encode; negative if they are not digits.
constexpr int octet(const char* digits) noexcept {
  return base::hex_byte(digits[0], digits[1]);
}

struct Encoded {
  std::size_t length = 0;  // 0 if the text does not end in an encoded character
  char character = '\0';
};

Encoded encoded_at_end(std::string_view text) noexcept {
  const std::size_t size = text.size();
  const auto from_end = [&](std::size_t count) { return text.data() + size - count; };
  if (size >= 2) {
    const auto lead = static_cast<unsigned char>(*from_end(2));
    const auto last = static_cast<unsigned char>(*from_end(1));
    if ((lead == 0xC0 || lead == 0xC1) && (last & 0xC0U) == 0x80) {
      return {2, static_cast<char>((lead & 1U) << 6 | (last & 0x3FU))};
    }
  }
  if (size < 3 || base::hex_value(*from_end(1)) < 0) return {};
  if (const int value = octet(from_end(2)); *from_end(3) == '%' && value >= 0) return {3, static_cast<char>(value)};
  if (size < 6 || *from_end(6) != '%' || base::to_lower(*from_end(5)) != 'u') return {};
  const int value = octet(from_end(2));
  return octet(from_end(4)) == 0 && value >= 0 && value < 0x80 ? Encoded{6, static_cast<char>(value)} : Encoded{};
}

constexpr bool cuts(char c) noexcept {
  return c == ';' || c == '?' || c == '#' || base::is_control(c);
}

bool methods_overlap(const RouteTemplate& a, const RouteTemplate& b) noexcept {
  if (!a.method || !b.method || a.method == b.method) return true;
  return (a.method == "GET" && b.method == "HEAD") || (a.method == "HEAD" && b.method == "GET");
}

}  // namespace

std::string RouteTemplate::text() const {
  std::string text = method ? *method + " " : std::string();
  for (const Segment& segment : segments) {
    if (segment.is_literal()) {
      text += "/" + encoded(segment.text);
    } else {
      text += segment.text.empty() ? "/*" : "/{" + segment.text + "}";
    }
  }
  if (trailing_wildcard) return text + "/**";
  return segments.empty() ? text + "/" : text;
}

Result<RouteTemplate> parse_route(std::string_view text) {
  const std::string where = "route " + as_written(text.substr(0, max_route_length));
  if (text.size() > max_route_length) {
    return failure(where, "too long: at most " + std::to_string(max_route_length) + " characters");
  }
  if (text.empty()) return failure(where, "a route is a path, with or without a method: write 'GET /path' or '/path'");
  RouteTemplate route;
  std::string_view rest = text;
  if (auto wrong = take_method(rest, route)) return failure(where, *wrong);
  if (auto wrong = parse_path(rest, route)) return failure(where, *wrong);
  return route;
}

bool same_route(const RouteTemplate& a, const RouteTemplate& b) noexcept {
  return a.method == b.method && a.trailing_wildcard == b.trailing_wildcard &&
         std::ranges::equal(a.segments, b.segments, same_segment);
}

bool covers(const RouteTemplate& a, const RouteTemplate& b) noexcept {
  if (!covers_method(a, b) || a.segments.size() > b.segments.size()) return false;
  if (!a.trailing_wildcard && (b.trailing_wildcard || a.segments.size() != b.segments.size())) return false;
  return std::equal(
      a.segments.begin(), a.segments.end(), b.segments.begin(),
      [](const Segment& ours, const Segment& theirs) { return !ours.is_literal() || same_segment(ours, theirs); });
}

bool overlap(const RouteTemplate& a, const RouteTemplate& b) noexcept {
  if (!methods_overlap(a, b)) return false;
  const std::size_t common = std::min(a.segments.size(), b.segments.size());
  for (std::size_t i = 0; i < common; ++i) {
    const Segment& ours = a.segments[i];
    const Segment& theirs = b.segments[i];
    if (ours.is_literal() && theirs.is_literal() && ours.key != theirs.key) return false;
  }
  return (a.segments.size() == common || b.trailing_wildcard) && (b.segments.size() == common || a.trailing_wildcard);
}

std::string match_key(const RouteTemplate& route) {
  // Unambiguous: a literal's key contains no slash, and only a literal begins with `=`.
  std::string key = route.method.value_or("") + " ";
  for (const Segment& segment : route.segments) key += segment.is_literal() ? "/=" + segment.key : "/*";
  return route.trailing_wildcard ? key + "/**" : key;
}

std::size_t decode(std::string_view raw, char* to) noexcept {
  std::size_t size = 0;
  for (const char c : raw) {
    to[size++] = c;
    for (Encoded encoded = encoded_at_end({to, size}); encoded.length > 0; encoded = encoded_at_end({to, size})) {
      size -= encoded.length;
      to[size++] = encoded.character;
    }
  }
  return size;
}

SegmentText segment_text(std::span<char> decoded) noexcept {
  SegmentText result;
  for (char& c : decoded) {
    c = base::to_lower(c);
    result.has_parameters |= c == ';';
    result.may_end_path |= c != ';' && cuts(c);
  }
  const auto begin = std::ranges::find_if(decoded, [](char c) { return c != ' ' && !base::is_control(c); });
  auto end = std::find_if(begin, decoded.end(), cuts);
  result.may_be_empty = std::any_of(decoded.begin(), begin, base::is_control);
  while (end != begin && *(end - 1) == ' ') --end;
  const std::string_view text(begin, end);
  if (text == "." || text == "..") {
    result.dots = text.size();
    return result;
  }
  result.text = text.substr(0, text.find_last_not_of(" .") + 1);
  result.may_be_empty |= result.text.empty();
  return result;
}

namespace {

// Letters, digits and the punctuation that RFC 3986 allows in a segment, without `;` and `%`.
constexpr bool is_stable(char c) noexcept {
  return base::is_letter_or_digit(c) || std::string_view("-._~!$&'()*+,=:@").find(c) != std::string_view::npos;
}

// Some servers remove dots at the end of a segment.
bool is_stable_segment(std::string_view segment) noexcept {
  return !segment.empty() && !segment.ends_with('.') && std::ranges::all_of(segment, is_stable);
}

bool surely_matches_method(const std::optional<std::string>& wanted, std::string_view method) noexcept {
  return !wanted || method == *wanted || (*wanted == "GET" && method == "HEAD");
}

}  // namespace

bool surely_matches(const RouteTemplate& route, std::string_view method, std::string_view target) noexcept {
  if (!surely_matches_method(route.method, method) || !target.starts_with('/')) return false;
  std::string_view rest = target.substr(1, target.find('?') - 1);
  std::size_t depth = 0;
  while (!rest.empty()) {
    const std::size_t end = rest.find('/');
    const std::string_view segment = rest.substr(0, end);
    if (!is_stable_segment(segment) || end + 1 == rest.size()) return false;
    if (depth < route.segments.size()) {
      const Segment& wanted = route.segments[depth];
      if (wanted.is_literal() && wanted.text != segment) return false;
    } else if (!route.trailing_wildcard) {
      return false;
    }
    ++depth;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return depth >= route.segments.size();
}

bool can_surely_match(const RouteTemplate& route) noexcept {
  return std::ranges::all_of(
      route.segments, [](const Segment& segment) { return !segment.is_literal() || is_stable_segment(segment.text); });
}

}  // namespace weir::policy
