#include "app/top_data.h"

#include <algorithm>
#include <map>

#include <simdjson.h>

namespace weir::app {
namespace {

using Json = simdjson::dom::element;

std::string text_at(const Json& json, const char* pointer) {
  std::string_view text;
  return json.at_pointer(pointer).get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::uint64_t number_at(const Json& json, const char* pointer) {
  std::uint64_t number = 0;
  return json.at_pointer(pointer).get_uint64().get(number) == simdjson::SUCCESS ? number : 0;
}

std::optional<double> decimal_at(const Json& json, const char* pointer) {
  double number = 0;
  if (json.at_pointer(pointer).get_double().get(number) != simdjson::SUCCESS) return {};
  return number;
}

bool has_object(const Json& json, const char* pointer) {
  return json.at_pointer(pointer).is_object();
}

// Calls `each` for the elements of an array, if there is one.
template <class Each>
void for_each_at(const Json& json, const char* pointer, const Each& each) {
  simdjson::dom::array array;
  if (json.at_pointer(pointer).get_array().get(array) != simdjson::SUCCESS) return;
  for (const Json element : array) each(element);
}

std::vector<std::uint64_t> numbers_at(const Json& json, const char* pointer) {
  std::vector<std::uint64_t> numbers;
  for_each_at(json, pointer, [&](const Json& element) {
    std::uint64_t number = 0;
    numbers.push_back(element.get_uint64().get(number) == simdjson::SUCCESS ? number : 0);
  });
  return numbers;
}

TrafficCounts counts_of(const Json& json) {
  return {.decisions = number_at(json, "/decisions"),
          .denied = number_at(json, "/denied"),
          .shadow_denied = number_at(json, "/shadow_denied")};
}

// Turns columns of the same length into rows.
std::vector<TrafficCounts> series_of(const Json& json) {
  const auto decisions = numbers_at(json, "/decisions");
  const auto denied = numbers_at(json, "/denied");
  const auto shadow_denied = numbers_at(json, "/shadow_denied");
  std::vector<TrafficCounts> series(decisions.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].decisions = decisions[i];
    if (i < denied.size()) series[i].denied = denied[i];
    if (i < shadow_denied.size()) series[i].shadow_denied = shadow_denied[i];
  }
  return series;
}

void keep_last(std::vector<TrafficCounts>& series, std::size_t count) {
  if (series.size() > count) series.erase(series.begin(), series.end() - static_cast<std::ptrdiff_t>(count));
}

DeniedConsumer denied_of(const Json& json) {
  return {.limit = text_at(json, "/limit"), .consumer = text_at(json, "/consumer"), .count = number_at(json, "/count")};
}

TopEvent event_of(const Json& json) {
  return {.id = number_at(json, "/id"),
          .at = text_at(json, "/at"),
          .kind = text_at(json, "/kind"),
          .level = text_at(json, "/level"),
          .message = text_at(json, "/message")};
}

void read_total(const Json& json, TopLimit& limit) {
  simdjson::dom::object total;
  if (json.at_pointer("/total").get_object().get(total) != simdjson::SUCCESS) return;
  for (const auto [name, value] : total) {
    std::uint64_t count = 0;
    if (value.get_uint64().get(count) == simdjson::SUCCESS && count > 0) limit.total.emplace_back(name, count);
  }
}

TopLimit limit_of(const Json& json) {
  TopLimit limit;
  limit.name = text_at(json, "/name");
  limit.words = text_at(json, "/words");
  limit.is_shadow = text_at(json, "/mode") == "shadow";
  Json part;
  if (json.at_pointer("/traffic").get(part) == simdjson::SUCCESS) limit.minute = counts_of(part);
  limit.has_whole_minute = has_object(json, "/recent");
  if (limit.has_whole_minute) limit.recent = series_of(json.at_pointer("/recent").value_unsafe());
  read_total(json, limit);
  for_each_at(json, "/by_route",
              [&](const Json& route) { limit.by_route.push_back({text_at(route, "/route"), counts_of(route)}); });
  limit.headroom = numbers_at(json, "/headroom/counts");
  limit.consumers = number_at(json, "/consumers");
  limit.bytes = number_at(json, "/states/bytes");
  limit.budget = number_at(json, "/states/budget");
  limit.overflowed = number_at(json, "/states/overflowed");
  if (has_object(json, "/candidate")) {
    limit.candidate = {.agreed = number_at(json, "/candidate/agreed"),
                       .newly_denied = number_at(json, "/candidate/newly_denied"),
                       .newly_admitted = number_at(json, "/candidate/newly_admitted")};
  }
  if (has_object(json, "/spike")) {
    limit.spike = {.since = text_at(json, "/spike/since"),
                   .rate = decimal_at(json, "/spike/rate").value_or(0),
                   .past = decimal_at(json, "/spike/past").value_or(0)};
  }
  for_each_at(json, "/top_denied", [&](const Json& consumer) { limit.top_denied.push_back(denied_of(consumer)); });
  return limit;
}

// The name of the row for CL.THROTTLE, which is not a limit of the policy. Shown only if it has made decisions.
constexpr auto throttle_name = "CL.THROTTLE";

TopLimit throttle_of(const Json& json, const TopData& before) {
  TopLimit throttle;
  throttle.name = throttle_name;
  throttle.words = "limits that clients of the Redis protocol set themselves";
  if (Json part; json.at_pointer("/throttle").get(part) == simdjson::SUCCESS) throttle.minute = counts_of(part);
  const auto known = std::ranges::find(before.limits, throttle.name, &TopLimit::name);
  if (known != before.limits.end()) throttle.recent = known->recent;  // keep it, because the status has none
  return throttle;
}

void add_second(const TrafficCounts& counts, std::vector<TrafficCounts>& series) {
  series.push_back(counts);
  keep_last(series, seconds_shown);
}

TrafficCounts sum_of(const std::vector<TrafficCounts>& series) {
  TrafficCounts sum;
  for (const TrafficCounts& each : series) sum += each;
  return sum;
}

// A limit that the message does not name made no decision.
void add_second_of_limits(const Json& json, TopData& data) {
  std::map<std::string, TrafficCounts, std::less<>> by_limit;
  for_each_at(json, "/limits", [&](const Json& limit) { by_limit[text_at(limit, "/limit")] = counts_of(limit); });
  if (by_limit.contains(throttle_name) &&
      std::ranges::find(data.limits, throttle_name, &TopLimit::name) == data.limits.end()) {
    data.limits.push_back(throttle_of(json, data));
  }
  for (TopLimit& limit : data.limits) {
    const auto found = by_limit.find(limit.name);
    const TrafficCounts counts = found == by_limit.end() ? TrafficCounts{} : found->second;
    add_second(counts, limit.recent);
    if (limit.has_whole_minute) {
      limit.minute = sum_of(limit.recent);
    } else {
      limit.minute += counts;  // an approximation until the minute is read again
    }
  }
}

void add_events(const Json& json, TopData& data) {
  const std::uint64_t newest = data.events.empty() ? 0 : data.events.front().id;
  for_each_at(json, "/events", [&](const Json& element) {
    TopEvent event = event_of(element);
    if (event.id > newest) data.events.insert(data.events.begin(), std::move(event));
  });
  if (data.events.size() > max_events) data.events.resize(max_events);
}

// Calls `use` with the parsed text.
template <class Use>
bool with_json(std::string_view text, const Use& use) {
  simdjson::dom::parser parser;
  Json json;
  if (parser.parse(text.data(), text.size()).get(json) != simdjson::SUCCESS) return false;
  use(json);
  return true;
}

}  // namespace

TrafficCounts& TrafficCounts::operator+=(const TrafficCounts& more) noexcept {
  decisions += more.decisions;
  denied += more.denied;
  shadow_denied += more.shadow_denied;
  return *this;
}

double TopLimit::share() const noexcept {
  const std::uint64_t part = is_shadow ? would_deny() : denied();
  return minute.decisions == 0 ? 0 : static_cast<double>(part) / static_cast<double>(minute.decisions);
}

bool read_status(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    data.version = text_at(json, "/version");
    const std::string file = text_at(json, "/policy/file");
    data.policy = file.empty() ? "the default policy" : file;
    data.reload_error = text_at(json, "/last_reload/error");
    data.now.budget = number_at(json, "/memory/budget");
  });
}

bool read_history(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    data.minute = series_of(json);
    const std::size_t count = data.minute.size();
    keep_last(data.minute, seconds_shown);
    if (count == 0) return;
    const auto last = [&](std::string column) { return std::move(column) + "/" + std::to_string(count - 1); };
    data.now.at = text_at(json, last("/at").c_str());
    data.now.seconds = decimal_at(json, last("/seconds").c_str()).value_or(1);
    data.now.requests = number_at(json, last("/requests").c_str());
    data.now.evaluated = number_at(json, last("/evaluated").c_str());
    data.now.denied_requests = number_at(json, last("/denied_requests").c_str());
    data.now.counts = data.minute.back();
    data.now.p50 = decimal_at(json, last("/p50").c_str());
    data.now.p99 = decimal_at(json, last("/p99").c_str());
    data.now.connections = number_at(json, last("/connections").c_str());
    data.now.used = number_at(json, last("/used").c_str());
    data.now.resident = number_at(json, last("/resident").c_str());
    data.now.store = text_at(json, last("/store").c_str());
  });
}

bool read_limits(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    std::vector<TopLimit> limits;
    for_each_at(json, "/limits", [&](const Json& limit) { limits.push_back(limit_of(limit)); });
    if (TopLimit throttle = throttle_of(json, data); throttle.minute.decisions > 0)
      limits.push_back(std::move(throttle));
    data.limits = std::move(limits);
    data.more_limits = number_at(json, "/more");
  });
}

bool read_limit(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    Json limit;
    data.detail.reset();
    if (json.at_pointer("/limit").get(limit) == simdjson::SUCCESS) data.detail = limit_of(limit);
  });
}

bool read_denied(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    data.denied.clear();
    for_each_at(json, "/denied", [&](const Json& consumer) { data.denied.push_back(denied_of(consumer)); });
  });
}

bool read_events(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    data.events.clear();
    for_each_at(json, "/events", [&](const Json& event) { data.events.push_back(event_of(event)); });
  });
}

bool read_cluster(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    data.store.reset();
    Json store;
    if (json.at_pointer("/store").get(store) != simdjson::SUCCESS || !store.is_object()) return;
    data.store = {.topology = text_at(store, "/topology"),
                  .unavailable_since = text_at(store, "/unavailable_since"),
                  .last_error = text_at(store, "/last_error/error"),
                  .servers = number_at(store, "/servers"),
                  .connected = number_at(store, "/connected"),
                  .nodes = number_at(store, "/nodes"),
                  .differing = 0,
                  .p50 = decimal_at(store, "/round_trip/p50"),
                  .p99 = decimal_at(store, "/round_trip/p99")};
    for_each_at(store, "/heartbeats", [&](const Json& node) {
      bool differs = false;
      if (node.at_pointer("/differs").get_bool().get(differs) == simdjson::SUCCESS && differs) ++data.store->differing;
    });
  });
}

bool read_second(std::string_view text, TopData& data) {
  return with_json(text, [&](const Json& json) {
    const std::string at = text_at(json, "/at");
    add_events(json, data);
    if (at <= data.now.at) return;  // times of this format sort as text
    data.now = {.at = at,
                .seconds = decimal_at(json, "/seconds").value_or(1),
                .requests = number_at(json, "/requests"),
                .evaluated = number_at(json, "/evaluated"),
                .denied_requests = number_at(json, "/denied_requests"),
                .counts = counts_of(json),
                .p50 = decimal_at(json, "/p50"),
                .p99 = decimal_at(json, "/p99"),
                .connections = number_at(json, "/connections"),
                .used = number_at(json, "/memory/used"),
                .budget = number_at(json, "/memory/budget"),
                .resident = number_at(json, "/memory/resident"),
                .store = text_at(json, "/store")};
    add_second(data.now.counts, data.minute);
    add_second_of_limits(json, data);
  });
}

}  // namespace weir::app
