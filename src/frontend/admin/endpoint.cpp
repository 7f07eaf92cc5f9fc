#include "frontend/admin/endpoint.h"

#include <algorithm>
#include <array>

namespace weir::frontend {
namespace {

struct Path {
  std::string_view name;
  Subject subject;
};

constexpr std::array top_paths{Path{"metrics", Subject::metrics}, Path{"healthz", Subject::healthz},
                               Path{"readyz", Subject::readyz}};

// Below /v1.
constexpr std::array v1_paths{
    Path{"status", Subject::status},   Path{"ruleset", Subject::ruleset},   Path{"denied", Subject::denied},
    Path{"stream", Subject::stream},   Path{"history", Subject::history},   Path{"limits", Subject::limits},
    Path{"explain", Subject::explain}, Path{"consumer", Subject::consumer}, Path{"policy", Subject::policy},
    Path{"cluster", Subject::cluster}, Path{"events", Subject::events},     Path{"reload", Subject::reload}};

template <class Paths>
std::optional<Endpoint> find_path(const Paths& paths, std::string_view name) {
  const auto found = std::ranges::find(paths, name, &Path::name);
  if (found == paths.end()) return {};
  return Endpoint{found->subject};
}

// Of a limit or a domain.
std::optional<Endpoint> find_counter(const std::vector<std::string>& path) {
  const bool is_consumer = path.size() >= 5 && path[1] == "limits" && path[3] == "consumers";
  if (is_consumer && path.size() == 5) return Endpoint{Subject::inspect, path[2], path[4]};
  if (is_consumer && path.size() == 6 && path[5] == "reset") return Endpoint{Subject::reset, path[2], path[4]};
  const bool is_descriptor = path.size() >= 4 && path[1] == "domains" && path[3] == "descriptor";
  if (is_descriptor && path.size() == 4) return Endpoint{Subject::inspect_descriptor, path[2]};
  if (is_descriptor && path.size() == 5 && path[4] == "reset") return Endpoint{Subject::reset_descriptor, path[2]};
  return {};
}

}  // namespace

std::optional<Endpoint> endpoint_of(const Target& target) {
  const auto& path = target.segments;
  if (path.size() == 1 && path[0].empty()) return Endpoint{Subject::page, "index.html"};
  if (path.size() == 1) return find_path(top_paths, path[0]);
  if (path.size() == 2 && path[0] == "page") return Endpoint{Subject::page, path[1]};
  if (path.size() < 2 || path[0] != "v1") return {};
  if (path.size() == 2) return find_path(v1_paths, path[1]);
  if (path.size() == 3 && path[1] == "limits") return Endpoint{Subject::limit, path[2]};
  if (path.size() == 3 && path[1] == "consumer" && path[2] == "reset") return Endpoint{Subject::reset_consumer};
  return find_counter(path);
}

Right right_of(Subject subject) noexcept {
  switch (subject) {
    case Subject::page:
    case Subject::healthz:
    case Subject::readyz:
      return Right::none;
    case Subject::reset:
    case Subject::reset_consumer:
    case Subject::reset_descriptor:
    case Subject::reload:
      return Right::change;
    default:
      return Right::read;
  }
}

bool is_by_post(Subject subject) noexcept {
  return right_of(subject) == Right::change || subject == Subject::explain || subject == Subject::consumer;
}

}  // namespace weir::frontend
