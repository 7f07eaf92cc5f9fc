#include "frontend/admin/request_body.h"

#include <algorithm>
#include <set>

#include <simdjson.h>

#include "frontend/query_fields.h"

namespace weir::frontend {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t max_body_headers = 256;

struct TextField {
  std::string_view name;
  std::string* to;
};

Result<void> read_text(std::string_view name, dom::element value, std::string& to) {
  std::string_view text;
  if (value.get_string().get(text)) return failure(std::string(name), "must be a string");
  to = text;
  return {};
}

// Calls `other(name, value)` for fields not in `texts`.
template <class Other>
Result<void> read_object(std::string_view body, std::span<const TextField> texts, const Other& other) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(body.data(), body.size()).get_object().get(object)) {
    return failure("body", "must be a JSON object");
  }
  std::set<std::string_view> seen;
  for (const auto& [name, value] : object) {
    if (!seen.insert(name).second) return failure(std::string(name), "duplicate field");
    const auto text = std::ranges::find(texts, name, &TextField::name);
    const auto read = text != texts.end() ? read_text(name, value, *text->to) : other(name, value);
    if (!read) return read;
  }
  return {};
}

Result<void> unknown_field(std::string_view name, std::string_view known) {
  return failure(std::string(name), "unknown field; valid fields: " + std::string(known));
}

Result<void> add_header(std::string_view name, dom::element value, ExplainBody& read) {
  if (read.headers.size() == max_body_headers) {
    return failure("headers", "more than " + std::to_string(max_body_headers));
  }
  auto& [kept, text] = read.headers.emplace_back(name, "");
  return read_text("headers, '" + kept + "'", value, text);
}

Result<void> read_body_headers(dom::element value, ExplainBody& read) {
  dom::object object;
  if (value.get_object().get(object)) return failure("headers", "must be an object of strings");
  for (const auto& [name, each] : object) {
    dom::array several;
    if (each.get_array().get(several)) {
      if (const auto added = add_header(name, each, read); !added) return added;
      continue;
    }
    for (const dom::element one : several) {
      if (const auto added = add_header(name, one, read); !added) return added;
    }
  }
  return {};
}

}  // namespace

Result<ConsumerBody> read_consumer_body(std::string_view body) {
  ConsumerBody read;
  const std::array texts{TextField{"consumer", &read.consumer}, TextField{"tier", &read.tier},
                         TextField{"limit", &read.limit}};
  const auto done = read_object(body, texts, [](std::string_view name, dom::element /*value*/) {
    return unknown_field(name, "consumer, tier, limit");
  });
  if (!done) return tl::unexpected(done.error());
  if (read.consumer.empty()) return failure("consumer", "missing: a consumer such as user=alice");
  return read;
}

Result<ExplainBody> read_explain_body(std::string_view body) {
  ExplainBody read;
  const std::array texts{TextField{"method", &read.method},   TextField{"path", &read.path},
                         TextField{"ip", &read.ip},           TextField{"user", &read.user},
                         TextField{"api_key", &read.api_key}, TextField{"tier", &read.tier}};
  const auto done = read_object(body, texts, [&](std::string_view name, dom::element value) -> Result<void> {
    if (name == "headers") return read_body_headers(value, read);
    if (name != "cost") return unknown_field(name, "method, path, ip, headers, user, api_key, tier, cost");
    std::uint64_t cost = 0;
    if (value.get_uint64().get(cost)) return failure("cost", "must be a whole number of at least 0");
    read.cost = cost;
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  const bool is_absolute = read.path.find("://") != std::string::npos;
  if (!read.path.starts_with('/') && !is_absolute && read.path != "*") {
    return failure("path", "missing: a path such as /login");
  }
  if (const auto known = validate_address(read.ip); !known) return tl::unexpected(known.error());
  return read;
}

}  // namespace weir::frontend
