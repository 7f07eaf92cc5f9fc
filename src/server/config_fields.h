// weir.yaml, field by field. One table has for each field where it is, how it is read, what --check says of it, whether
// a change of it needs a restart, and its JSON Schema; reading, describing, comparing and the schema walk over it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/config.h"
#include "server/listeners.h"
#include "text/yaml/document.h"
#include "text/yaml/map_reader.h"
#include "text/yaml/problem.h"

namespace weir::server {

// The configuration that a field is of, and the listener if it is a listener's.
struct Parts {
  Config& config;
  Listener* listener = nullptr;
};

// One reading of a file.
struct Reading {
  std::filesystem::path folder;  // where relative paths begin
  text::Problems& problems;
  std::vector<PlacedAddress> addresses{};  // of all listeners so far
};

// The context in which a field is read.
struct Spot {
  text::MapReader& map;
  const std::string& path;  // with the name of the listener: `listeners.http.listen`
  Reading& reading;
  const Parts& parts;

  [[nodiscard]] std::string_view name() const noexcept;  // `listen`
  [[nodiscard]] const text::Node* find() const { return map.find(name()); }
};

enum class Restart : std::uint8_t {
  none,     // a reload takes it over
  field,    // the field stays as it was
  section,  // so does the section that it is in: a listener with its token, which guards its addresses
};

// A kind of value, and the member of the configuration that it is read into.
struct Kind {
  std::function<void(const Spot&)> read{};
  std::function<bool(const Parts&, const Parts&)> same{};
  std::function<void(const Parts& from, const Parts& to)> copy{};
  std::string schema{};                        // members of a JSON object; of a section, what is added to its own
  std::optional<std::string_view> required{};  // what to write; empty: the message is enough
  Restart restart = Restart::none;             // of a section: if anything in it changes

  bool is_section = false;
  std::string alternative{};                  // the schema of what may be written in place of the section
  std::function<bool(const Parts&)> is_on{};  // whether the section is there; null: always
};

struct Field {
  std::string_view path;  // `*` is any listener
  Kind kind;
  std::string_view help = "";                          // in the schema
  std::function<std::string(const Parts&)> says = {};  // its part of a line of --check; empty: nothing
  std::string_view line = "";                          // which line; empty: by the section
};

[[nodiscard]] const std::vector<Field>& fields();

// Calls visit(field, path, parts) for the fields of a section, in the order of the table. `section` has no wildcard,
// and is empty for weir.yaml itself; `listeners.*` is visited for each listener.
using Visit = std::function<void(const Field& field, const std::string& path, const Parts& parts)>;
void visit_fields(std::string_view section, const Parts& parts, const Visit& visit);

[[nodiscard]] std::string_view last_segment(std::string_view path) noexcept;

// Reads the fields of a section; what is not a field of it is reported.
void read_section(const text::Node& node, const std::string& path, Reading& reading, const Parts& parts);

// What is wrong between fields of which each is right by itself. Called when all of the section is read.
using Check = void(const text::Node& node, Reading& reading, const Parts& parts);
Check check_listener, check_listeners, check_state, check_store, check_redis, check_sentinel, check_redis_tls;
// A URL beside those before it.
void check_url(const store::redis::Url& url, text::Mark at, Reading& reading, const RedisConfig& redis);

}  // namespace weir::server
