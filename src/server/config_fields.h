// The fields of weir.yaml, in one table: path, parser, description for --check, whether a change requires a restart,
// and JSON Schema. Loading, --check, reload and the schema all iterate over it.
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

// The configuration that a field belongs to, and the listener of a listener's field.
struct Parts {
  Config& config;
  Listener* listener = nullptr;
};

// The state of loading one file.
struct Reading {
  std::filesystem::path folder;  // base of relative paths
  text::Problems& problems;
  std::vector<ListenerAddress> addresses{};  // addresses of the listeners read so far
};

// The context in which a field is read.
struct FieldContext {
  text::MapReader& map;
  const std::string& path;  // `listeners.http.listen`
  Reading& reading;
  const Parts& parts;

  [[nodiscard]] std::string_view name() const noexcept;  // `listen`
  [[nodiscard]] const text::Node* find() const { return map.find(name()); }
};

enum class Restart : std::uint8_t {
  none,     // a reload applies the change
  field,    // the field keeps its value
  section,  // the whole section keeps its values: a token must not change without the addresses that it guards
};

// A kind of value, bound to the member of the configuration that it is stored in.
struct Kind {
  std::function<void(const FieldContext&)> read{};
  std::function<bool(const Parts&, const Parts&)> same{};
  std::function<void(const Parts& from, const Parts& to)> copy{};
  std::string schema{};                        // members of a JSON Schema object; for a section, extra members
  std::optional<std::string_view> required{};  // an example for the error message, or empty; none: not required
  Restart restart = Restart::none;             // what a change requires; for a section, a change of any part of it

  bool is_section = false;
  std::string alternative{};                  // schema of the value allowed instead of the section
  std::function<bool(const Parts&)> is_on{};  // whether the section is on; null: always
};

struct Field {
  std::string_view path;  // `*` matches any listener
  Kind kind;
  std::string_view help = "";                              // in the schema
  std::function<std::string(const Parts&)> describe = {};  // part of a line of --check; may be empty
  std::string_view line = "";                              // subject of that line; empty: the section
};

[[nodiscard]] const std::vector<Field>& fields();

// Calls visit(field, path, parts) for the fields of a section, in the order of the table. `section` has no wildcard and
// is empty for weir.yaml itself. `listeners.*` is visited for each listener.
using Visit = std::function<void(const Field& field, const std::string& path, const Parts& parts)>;
void visit_fields(std::string_view section, const Parts& parts, const Visit& visit);

[[nodiscard]] std::string_view last_segment(std::string_view path) noexcept;

// Reads the fields of a section and reports unknown ones.
void read_section(const text::Node& node, const std::string& path, Reading& reading, const Parts& parts);

// Validates rules that span fields of a section. Called after the whole section was read.
using Check = void(const text::Node& node, Reading& reading, const Parts& parts);
Check check_listener, check_listeners, check_state, check_store, check_redis, check_sentinel, check_redis_tls;
// Validates a URL against the earlier ones in the list.
void check_url(const store::redis::Url& url, text::Mark at, Reading& reading, const RedisConfig& redis);

}  // namespace weir::server
