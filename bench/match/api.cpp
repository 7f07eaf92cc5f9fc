#include "match/api.h"

#include <array>
#include <random>

namespace bench::match {
namespace {

using weir::match::RouteEntry;

constexpr std::size_t shapes_per_resource = 20;
constexpr std::size_t resources = routes_of_api / shapes_per_resource;

constexpr std::array<std::string_view, 25> first_words{
    "account", "billing", "cart",   "delivery", "event",   "feature",  "gift",    "host",  "invoice",
    "job",     "key",     "ledger", "message",  "network", "order",    "payment", "quote", "report",
    "session", "ticket",  "upload", "vendor",   "webhook", "exchange", "yield"};
constexpr std::array<std::string_view, 20> second_words{"addresses", "batches",  "cards",     "drafts",   "entries",
                                                        "filters",   "groups",   "histories", "items",    "labels",
                                                        "members",   "notes",    "objects",   "policies", "requests",
                                                        "settings",  "statuses", "tags",      "versions", "windows"};
constexpr std::array<std::string_view, 4> areas{"/v1", "/v2", "/v1/internal", "/v2/partners"};

// The path after `/api/AREA/RESOURCE`, and the method.
struct Shape {
  std::string_view method;
  std::string_view rest;
};
constexpr std::array<Shape, shapes_per_resource> shapes{{
    {"GET ", ""},
    {"POST ", ""},
    {"GET ", "/{id}"},
    {"PUT ", "/{id}"},
    {"PATCH ", "/{id}"},
    {"DELETE ", "/{id}"},
    {"GET ", "/search"},
    {"POST ", "/{id}/archive"},
    {"POST ", "/{id}/restore"},
    {"GET ", "/{id}/comments"},
    {"POST ", "/{id}/comments"},
    {"GET ", "/{id}/comments/{comment}"},
    {"DELETE ", "/{id}/comments/{comment}"},
    {"GET ", "/{id}/attachments"},
    {"PUT ", "/{id}/attachments/{name}"},
    {"POST ", "/{id}/attachments/{name}/scan"},
    {"", "/{id}/audit/**"},
    {"GET ", "/export"},
    {"GET ", "/{id}/permissions/{user}"},
    {"PUT ", "/{id}/permissions/{user}"},
}};

RouteEntry entry(std::size_t resource, std::size_t shape, std::uint32_t limit) {
  std::string text(shapes.at(shape).method);
  text += "/api";
  text += areas.at(resource % areas.size());
  text += "/";
  text += first_words.at(resource % first_words.size());
  text += "-";
  text += second_words.at(resource / first_words.size());
  text += shapes.at(shape).rest;
  return {*weir::policy::parse_route(text), limit};
}

}  // namespace

std::vector<RouteEntry> large_api() {
  std::vector<RouteEntry> routes;
  for (std::uint32_t i = 0; i < routes_of_api; ++i) {
    routes.push_back(entry(i / shapes_per_resource, i % shapes_per_resource, i));
  }
  return routes;
}

std::vector<RouteEntry> small_api() {
  constexpr std::uint32_t count = 10;
  std::vector<RouteEntry> routes;
  for (std::uint32_t i = 0; i < count; ++i) {
    routes.push_back(entry(i * resources / count + i, i * shapes_per_resource / count + i % 2, i));
  }
  return routes;
}

Requests::Requests(const std::vector<RouteEntry>& routes, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> any_route(0, routes.size() - 1);
  std::uniform_int_distribution<std::uint32_t> any_id(10'000'000, 99'999'999);
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < count; ++i) {
    const RouteEntry& drawn = routes[any_route(random)];
    starts.push_back(texts_.size());
    for (const weir::policy::Segment& segment : drawn.route.segments) {
      texts_ += "/" + (segment.is_literal() ? segment.text : std::to_string(any_id(random)));
    }
    if (drawn.route.trailing_wildcard) texts_ += "/2025/" + std::to_string(any_id(random));
    requests_.push_back({drawn.route.method ? *drawn.route.method : std::string_view("GET"), {}, drawn.limit});
  }
  starts.push_back(texts_.size());
  for (std::size_t i = 0; i < count; ++i) {
    requests_[i].target = std::string_view(texts_).substr(starts[i], starts[i + 1] - starts[i]);
  }
}

}  // namespace bench::match
