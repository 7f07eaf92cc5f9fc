// Generates the JSON Schema of policy.yaml. The fields of limits come from limit_fields.h.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/ascii.h"
#include "policy/limit_fields.h"
#include "policy/tools/starter.h"
#include "text/json.h"

namespace weir::policy {
namespace {

constexpr std::string_view schema_head = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://weir.example/schema/policy-1.json",
  "title": "Weir policy",
  "description": "Limits and the identity of callers. `weir lint` reports mistakes that involve more than one value.",
  "$defs": {
    "name": { "description": "Letters, digits, '.', '_' and '-'. An unquoted 2024 is a name too.", "type": ["string", "number", "boolean"], "pattern": "^[A-Za-z0-9._-]+$", "maxLength": 128 },
    "header_name": { "type": ["string", "number", "boolean"], "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "maxLength": 128 },
    "whole": { "type": "integer", "minimum": 1, "maximum": 9007199254740992 },
    "per_second": { "description": "A number above 0 with at most six decimal places.", "type": "number", "exclusiveMinimum": 0, "maximum": 9007199254740992 },
    "logged": { "type": "integer", "minimum": 1, "maximum": 65536 },
    "duration": { "type": "string", "pattern": "^[1-9][0-9]*(ms|s|sec|min|m|h|day)$", "examples": ["30s", "10min", "1h"] },
    "ranges": { "type": "array", "items": { "type": "string", "examples": ["10.0.0.0/8", "2001:db8::/32"] }, "maxItems": 10000 },
    "header": { "type": "object", "required": ["header"], "additionalProperties": false, "properties": { "header": { "$ref": "#/$defs/header_name" } } },
    "condition": { "anyOf": [
      { "enum": ["authenticated", "anonymous"] },
      { "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false, "properties": {
        "ip_in": { "$ref": "#/$defs/ranges", "minItems": 1 },
        "ip_not_in": { "$ref": "#/$defs/ranges", "minItems": 1 },
        "identified_by": { "type": "string" },
        "identity_in": { "$ref": "#/$defs/identity_values", "maxProperties": 1 },
        "all": { "type": "array", "minItems": 2, "maxItems": 64, "uniqueItems": true, "items": { "$ref": "#/$defs/condition" } },
        "any": { "type": "array", "minItems": 2, "maxItems": 64, "uniqueItems": true, "items": { "$ref": "#/$defs/condition" } },
        "not": { "$ref": "#/$defs/condition" }
      } }
    ] },
    "identity_values": {
      "description": "Values by identity: user, api_key, or a name that `identity` defines.",
      "type": "object", "minProperties": 1, "propertyNames": { "pattern": "^[a-z][a-z0-9_]*$" },
      "additionalProperties": { "type": "array", "minItems": 1, "maxItems": 10000, "uniqueItems": true, "items": { "type": ["string", "number", "boolean"], "minLength": 1 } }
    },
    "key": {
      "type": "string",
      "pattern": "^([a-z][a-z0-9_]*|header:[A-Za-z0-9!#$%&'*.^_`|~-]+)([+]([a-z][a-z0-9_]*|header:[A-Za-z0-9!#$%&'*.^_`|~-]+))*$"
    })";

constexpr std::string_view schema_root = R"(
  },
  "type": "object", "required": ["version", "limits"], "additionalProperties": false, "properties": {
    "version": { "const": 1, "description": "The version of the policy language." },
    "identity": {
      "description": "Where the identity of callers is read from, and which proxies are trusted.",
      "type": "object", "properties": {
        "trusted_proxies": { "description": "User, tier, cost and forwarded address are read from these only. Default: loopback.", "$ref": "#/$defs/ranges" },
        "user": { "$ref": "#/$defs/header" },
        "api_key": { "type": "object", "additionalProperties": false, "properties": {
          "header": { "$ref": "#/$defs/header_name" },
          "verified": { "description": "True if the trusted proxy verifies keys.", "type": "boolean" }
        } },
        "ip": { "type": "object", "additionalProperties": false, "properties": {
          "ipv6_prefix": { "type": "integer", "minimum": 1, "maximum": 128, "default": 64 },
          "header": { "description": "The only header that names the client's address.", "$ref": "#/$defs/header_name" }
        } }
      },
      "propertyNames": { "pattern": "^[a-z][a-z0-9_]*$", "maxLength": 32 },
      "additionalProperties": {
        "description": "A named identity, usable as a key and in conditions.",
        "type": "object", "required": ["header"], "additionalProperties": false, "properties": {
          "header": { "$ref": "#/$defs/header_name" },
          "verified": { "description": "False if any client can set the header; otherwise it is read from trusted proxies only.", "type": "boolean", "default": true }
        }
      }
    },
    "tiers": { "type": "object", "additionalProperties": false, "properties": {
      "from": { "$ref": "#/$defs/header" },
      "default": { "$ref": "#/$defs/name" },
      "names": { "description": "All tiers. An override for any other tier is then an error.", "type": "array", "minItems": 1, "uniqueItems": true, "items": { "$ref": "#/$defs/name" } }
    } },
    "exempt": {
      "description": "Requests that no limit covers.",
      "type": "object", "minProperties": 1, "additionalProperties": false, "properties": {
        "addresses": { "$ref": "#/$defs/ranges", "minItems": 1 },
        "identities": { "$ref": "#/$defs/identity_values" },
        "routes": { "type": "array", "minItems": 1, "maxItems": 100, "items": { "type": "string" } }
      }
    },
    "methods": {
      "description": "Methods that routes may use in addition to the IANA registry.",
      "type": "array", "minItems": 1, "maxItems": 100,
      "items": { "type": ["string", "number", "boolean"], "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "maxLength": 32 }
    },
    "limits": {
      "description": "All limits that cover a request are evaluated together. A request denied by one is charged to none.",
      "type": "array", "items": {
        "anyOf": [{ "required": ["algorithm"] }, { "required": ["rate"], "properties": { "rate": { "const": 0 } } }],
        "if": { "required": ["max_cost"] },
        "then": { "required": ["cost"], "properties": { "cost": { "type": "string" } } },
        "type": "object", )";

constexpr std::string_view schema_tail = "\n      }\n    }\n  }\n}\n";

// Removes links and code marks from Markdown.
std::string without_markup(std::string_view markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown.substr(i).starts_with("](")) {
      i = std::min(markdown.find(')', i), markdown.size());
    } else if (markdown[i] != '`' && markdown[i] != '[') {
      text += markdown[i];
    }
  }
  return text;
}

bool is_one_value(std::string_view fallback) {
  return fallback.size() > 2 && fallback.starts_with('`') && fallback.find('`', 1) == fallback.size() - 1;
}

std::string description(const LimitField& field) {
  std::string text = without_markup(field.meaning);
  if (!text.empty() && field.meaning.front() != '`') text.front() = base::to_upper(text.front());
  text += '.';
  const bool has_default =
      !field.fallback.empty() && !field.fallback.starts_with("required") && field.fallback != "none";
  if (has_default && !is_one_value(field.fallback))
    text += fmt::format(" By default: {}.", without_markup(field.fallback));
  return text::json_text(text);
}

// The owner of `a.b` is `a`; a path without a dot belongs to the limit.
std::string_view owner_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
  if (const std::size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), with);
  return text;
}

// Returns references to the definitions of the fields in that scope.
std::string references(LimitFields fields, FieldScope scope) {
  std::vector<std::string> properties;
  for (const std::string_view name : names_of(fields, scope)) {
    properties.push_back(fmt::format(R"("{0}": {{ "$ref": "#/$defs/{0}" }})", name));
  }
  return fmt::format("{{ {} }}", fmt::join(properties, ", "));
}

std::string object(LimitFields fields, std::string_view owner, std::string_view separator);

// The schema of a field, without its braces.
std::string schema_of(LimitFields fields, const LimitField& field) {
  const auto& [schema, values, alternative] = field.type;
  std::string text = replaced(schema, tier_fields, references(fields, FieldScope::tier));
  text = replaced(text, candidate_fields, references(fields, FieldScope::candidate));
  const std::string inner = object(fields, field.path, " ");
  if (!inner.empty()) text += ", " + inner;
  if (!alternative.empty()) text = fmt::format(R"("anyOf": [{{ {} }}, {{ {} }}])", alternative, text);
  if (is_one_value(field.fallback)) text = fmt::format(R"("default": "{}", {})", without_markup(field.fallback), text);
  return fmt::format(R"("description": {}, {})", description(field), text);
}

// The schema members for the fields of `owner`, which is empty for the limit itself. Empty if there are none.
std::string object(LimitFields fields, std::string_view owner, std::string_view separator) {
  std::vector<std::string> properties;
  std::vector<std::string> required;
  for (const LimitField& field : fields) {
    if (owner_of(field.path) != owner || field.type.schema.empty()) continue;
    const std::string_view name = field.path.substr(owner.empty() ? 0 : owner.size() + 1);
    const bool is_defined = field.use.scope != FieldScope::limit;  // shared by limit, candidate and override
    properties.push_back(
        fmt::format(R"("{}": {{ {} }})", name,
                    is_defined ? fmt::format(R"("$ref": "#/$defs/{}")", name) : schema_of(fields, field)));
    if (field.fallback == "required") required.push_back(fmt::format(R"("{}")", name));
  }
  if (properties.empty()) return {};
  const std::string needs = required.empty() ? "" : fmt::format(R"("required": [{}], )", fmt::join(required, ", "));
  return fmt::format(R"({}"additionalProperties": false, "properties": {{{}{}{}}})", needs, separator,
                     fmt::join(properties, fmt::format(",{}", separator)), separator);
}

}  // namespace

std::string schema(LimitFields fields) {
  std::string text(schema_head);
  for (const LimitField& field : fields) {
    if (!field.is_own() || field.use.scope == FieldScope::limit) continue;
    text += fmt::format(",\n    \"{}\": {{ {} }}", field.path, schema_of(fields, field));
  }
  text += schema_root;
  text += object(fields, "", "\n          ");
  return text + std::string(schema_tail);
}

}  // namespace weir::policy
