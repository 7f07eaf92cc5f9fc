// Derived from the table of fields: the lines of --check, changes that require a restart, and the JSON Schema.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "server/config_fields.h"

namespace weir::server {
namespace {

using Line = std::pair<std::string, std::vector<std::string>>;  // subject, parts

std::string first_segment(const std::string& path) {
  return path.substr(0, path.find('.'));
}

std::string subject_of(const Field& field, const std::string& path, const Parts& parts) {
  if (!field.line.empty()) return std::string(field.line);
  return parts.listener != nullptr ? parts.listener->name + " listener" : first_segment(path);
}

void describe_section(const std::string& section, const Parts& parts, std::vector<Line>& lines) {
  visit_fields(section, parts, [&](const Field& field, const std::string& path, const Parts& owner) {
    const std::string text = field.describe ? field.describe(owner) : "";
    if (!text.empty()) {
      const std::string subject = subject_of(field, path, owner);
      if (lines.empty() || lines.back().first != subject) lines.push_back({subject, {}});
      lines.back().second.push_back(text);
    }
    if (field.kind.is_section && (!field.kind.is_on || field.kind.is_on(owner))) describe_section(path, owner, lines);
  });
}

// Adds the names of changed sections and fields. Changed fields are restored to their old values.
void find_restarts(const std::string& section, const Parts& before, Config& after, std::vector<std::string>& names) {
  visit_fields(section, before, [&](const Field& field, const std::string& path, const Parts& owner) {
    Parts other{after};
    if (owner.listener != nullptr) {
      other.listener = &*std::ranges::find(after.listeners, owner.listener->name, &Listener::name);
    }
    if (field.kind.restart != Restart::none && !field.kind.same(owner, other)) {
      const bool is_alone = field.kind.restart == Restart::field;
      if (is_alone) field.kind.copy(owner, other);
      const std::string name = is_alone                    ? path
                               : owner.listener != nullptr ? "listeners." + owner.listener->name
                                                           : first_segment(path);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    if (field.kind.is_section) find_restarts(path, owner, after, names);
  });
}

constexpr std::string_view schema_head = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://weir.example/schema/weir-1.json",
  "title": "weir.yaml",
  "description": "Configuration of the Weir server: listeners, access control, state, log and store. `weir serve --check` also validates rules that span several fields.",
  "$defs": {
    "off": { "description": "YAML 1.1 parsers read it as a boolean.", "enum": ["off", false] },
    "path": { "type": "string", "minLength": 1, "maxLength": 4095, "not": { "pattern": "^~/" } },
    "time": { "type": "string", "pattern": "^(0s|[1-9][0-9]*(ms|s|sec|min|m|h|day))$", "examples": ["500ms", "10s", "1min"] },
    "size": { "type": "string", "pattern": "^(0|[1-9][0-9]*)(KiB|MiB|GiB)$", "examples": ["64KiB", "256MiB", "2GiB"] },
    "address": {
      "type": ["string", "integer"],
      "pattern": "^(unix:/.+|[0-9]+|[^:]*:[0-9]+|\\[[0-9A-Fa-f:.]+\\]:[0-9]+)$",
      "minimum": 0,
      "maximum": 65535,
      "examples": ["127.0.0.1:8080", 8080, ":8080", "[::1]:8080", "unix:/run/weir/http.sock"]
    },
    "host": { "type": "string", "pattern": "^(\\*|[A-Za-z0-9._-]{1,253})$", "examples": ["limits.example.com", "*"] },
    "word": { "type": "string", "pattern": "^[!-~]{1,128}$" },
    "redis_url": {
      "type": "string",
      "pattern": "^(rediss?://.+|unix:///.+)$",
      "examples": ["redis://127.0.0.1:6379/0", "rediss://redis.example:6380", "unix:///run/redis.sock?db=0"]
    }
  },
)";

std::string object_schema(const std::string& section, const Parts& parts, const std::string& indent);

std::string field_schema(const Field& field, const std::string& path, const Parts& parts, const std::string& indent) {
  std::string help(field.help);
  if (field.path == "listeners.*") help = fmt::format("Default: {}.", parts.listener->config->listen.front().text());
  const std::string description = help.empty() ? "" : fmt::format(R"("description": "{}", )", help);
  const Kind& kind = field.kind;
  if (!kind.is_section) return fmt::format("{{ {}{} }}", description, kind.schema);
  const std::string more = kind.schema.empty() ? "" : kind.schema + ", ";
  const std::string object = more + object_schema(path, parts, indent);
  if (kind.alternative.empty()) return fmt::format("{{ {}{} }}", description, object);
  return fmt::format(R"({{ {}"oneOf": [{{ {} }}, {{ {} }}] }})", description, kind.alternative, object);
}

// Returns the members of the JSON Schema object of a section.
std::string object_schema(const std::string& section, const Parts& parts, const std::string& indent) {
  std::vector<std::string> properties;
  std::vector<std::string> required;
  const std::string inner = indent + "  ";
  visit_fields(section, parts, [&](const Field& field, const std::string& path, const Parts& owner) {
    if (!field.kind.is_section && field.kind.schema.empty())
      return;  // a field that exists only to be rejected with a hint
    const std::string name(last_segment(path));
    properties.push_back(fmt::format("\n{}\"{}\": {}", inner, name, field_schema(field, path, owner, inner)));
    if (field.kind.required) required.push_back(fmt::format("\"{}\"", name));
  });
  const std::string needs = required.empty() ? "" : fmt::format(R"("required": [{}], )", fmt::join(required, ", "));
  return fmt::format(R"("type": "object", {}"additionalProperties": false, "properties": {{{})", needs,
                     fmt::join(properties, ",")) +
         (properties.empty() ? "}" : "\n" + indent + "}");
}

}  // namespace

std::vector<std::string> describe(const Config& config) {
  Config copy = config;
  std::vector<Line> lines;
  describe_section("", {copy}, lines);
  std::vector<std::string> texts;
  for (const auto& [subject, parts] : lines) texts.push_back(fmt::format("{}: {}", subject, fmt::join(parts, ", ")));
  return texts;
}

std::vector<std::string> restart_required(const Config& before, Config& after) {
  Config copy = before;
  std::vector<std::string> names;
  find_restarts("", {copy}, after, names);
  return names;
}

std::string config_schema() {
  Config config;
  return std::string(schema_head) + "  " + object_schema("", {config}, "  ") + "\n}\n";
}

}  // namespace weir::server
