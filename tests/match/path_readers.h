// Models of how servers read a path: oracles for match/path.h, which must produce every one of these readings. They are
// simplified, and stricter than the originals where those reject a path.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "policy/route_template.h"
#include "tests/match/route_oracle.h"

namespace weir::match {

using Strings = std::vector<std::string>;

inline std::string decoded_once(std::string_view text) {
  const auto hex = [](char c) { return std::string_view("0123456789abcdef").find(base::to_lower(c)); };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) < 16 && hex(text[i + 2]) < 16) {
      result += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

inline Strings split(std::string_view path, std::string_view separators) {
  Strings segments{""};
  for (const char c : path.substr(1)) {
    if (separators.find(c) == std::string_view::npos) {
      segments.back() += c;
    } else {
      segments.emplace_back();
    }
  }
  return segments;
}

inline Strings merged(const Strings& segments) {
  Strings result;
  std::copy_if(segments.begin(), segments.end(), std::back_inserter(result), [](const auto& s) { return !s.empty(); });
  return result;
}

inline Strings resolved(const Strings& segments) {
  Strings result;
  for (const std::string& segment : segments) {
    if (segment == ".") continue;
    if (segment != "..") {
      result.push_back(segment);
    } else if (!result.empty()) {
      result.pop_back();
    }
  }
  return result;
}

template <class Change>
Strings each(Strings segments, Change change) {
  for (std::string& segment : segments) segment = change(segment);
  return segments;
}

inline Strings without_last_empty(Strings segments) {
  while (!segments.empty() && segments.back().empty()) segments.pop_back();
  return segments;
}

inline std::string without_parameters(std::string_view segment) {
  return std::string(segment.substr(0, segment.find(';')));
}

inline std::string up_to(std::string_view text, std::string_view stop) {
  return std::string(text.substr(0, text.find_first_of(stop)));
}

struct Server {
  std::string_view name;
  std::function<Strings(const std::string&)> read;
};

inline const std::vector<Server>& servers() {
  using namespace std::string_view_literals;
  static const std::vector<Server> all{
      {"as sent", [](const std::string& p) { return without_last_empty(split(p, "/")); }},
      {"as sent, merged", [](const std::string& p) { return merged(split(p, "/")); }},
      {"nginx", [](const std::string& p) { return resolved(merged(split(up_to(decoded_once(p), "\0"sv), "/"))); }},
      {"Flask", [](const std::string& p) { return without_last_empty(split(decoded_once(p), "/")); }},
      {"Go", [](const std::string& p) { return each(resolved(merged(split(p, "/"))), decoded_once); }},
      {"Go, unclean", [](const std::string& p) { return without_last_empty(each(split(p, "/"), decoded_once)); }},
      {"Tomcat",
       [](const std::string& p) {
         return resolved(merged(each(each(split(p, "/"), without_parameters), decoded_once)));
       }},
      {"Tomcat, encoded slashes",
       [](const std::string& p) {
         std::string path = "/";
         for (const std::string& s : each(split(p, "/"), without_parameters)) path += decoded_once(s) + "/";
         return resolved(merged(split(path, "/\\")));
       }},
      {"parameters after decoding",
       [](const std::string& p) { return resolved(merged(each(split(decoded_once(p), "/"), without_parameters))); }},
      {"IIS", [](const std::string& p) { return resolved(merged(split(decoded_once(decoded_once(p)), "/\\"))); }},
      {"decoded twice, unclean",
       [](const std::string& p) { return without_last_empty(split(decoded_once(decoded_once(p)), "/")); }},
      {"proxy that forwards decoded",
       [](const std::string& p) { return resolved(merged(split(up_to(decoded_once(p), "?#"), "/"))); }},
      {"pattern with $", [](const std::string& p) { return merged(split(up_to(decoded_once(p), "\n"), "/")); }},
      {"new URL",
       [](const std::string& p) {
         const bool has_host = p.size() > 1 && (p[1] == '/' || p[1] == '\\');
         Strings segments = merged(split(up_to(p, "#"), "/\\"));
         if (has_host && !segments.empty()) segments.erase(segments.begin());
         return resolved(segments);
       }},
      {"resolved, then decoded and resolved again",
       [](const std::string& p) { return resolved(merged(each(resolved(merged(split(p, "/"))), decoded_once))); }},
  };
  return all;
}

// Ignores case, as Weir does even where a server does not.
inline std::vector<SeenSegment> seen_by(const Server& server, const std::string& path) {
  std::vector<SeenSegment> seen;
  for (std::string& segment : server.read(path)) {
    std::transform(segment.begin(), segment.end(), segment.begin(), base::to_lower);
    seen.push_back({std::move(segment)});
  }
  return seen;
}

}  // namespace weir::match
