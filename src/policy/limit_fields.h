// The table of the fields of a limit in policy.yaml and OpenAPI's x-rate-limit. Each row defines the syntax of a field
// (JSON Schema, reference page), and how it is read, compiled, digested and compared. The reader, `weir schema`,
// docs/reference-policy.md, the digest and `weir diff` iterate over it.
//
// A new field needs a row and members of LimitSpec and CompiledLimit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/ruleset.h"
#include "policy/spec.h"
#include "text/yaml/map_reader.h"

namespace weir::policy {

class Canonical;      // compile/canonical.h
struct LimitContext;  // read/limit_reader.h
namespace diff_parts {
struct LimitComparison;
}

// The maps that may have a field: the limit only; the limit and its candidate; or these and the override of a tier.
enum class FieldScope : std::uint8_t { limit, candidate, tier };

// Placeholders in `schema` and `values` for the fields of a candidate or an override.
inline constexpr std::string_view candidate_fields = "{candidate fields}";
inline constexpr std::string_view tier_fields = "{tier fields}";

struct FieldType {
  std::string schema = {};       // members of a JSON object; empty: only in the reference
  std::string values = {};       // for the reference, in Markdown; empty: only in the schema
  std::string alternative = {};  // schema of a value that may replace the map of its fields
};

// Numbers have two spellings, which cannot be mixed.
enum class Spelling : std::uint8_t { rate_and_burst, spelled_out, either };

// A set of PolicyAlgorithm.
using AlgorithmSet = unsigned;
[[nodiscard]] constexpr AlgorithmSet set_of(PolicyAlgorithm algorithm) noexcept {
  return AlgorithmSet{1} << static_cast<unsigned>(algorithm);
}

// A field of NumbersSpec.
struct NumberField {
  AlgorithmSet algorithms = 0;  // the algorithms that have the field
  Spelling spelling = Spelling::either;
  std::function<void(text::MapReader&, std::string_view name, NumbersSpec&)> read;
  std::function<std::optional<Mark>(const NumbersSpec&)> at;  // unset: the field is absent
};

// The context in which a field is read.
struct FieldInput {
  text::MapReader& map;
  std::string_view name;
  const LimitContext& context;
  LimitSpec& limit;
};

// A null function does nothing. Numbers are compiled, digested and compared together with the algorithm.
struct FieldUse {
  FieldScope scope = FieldScope::limit;
  std::optional<NumberField> number = {};
  std::function<void(const FieldInput&)> read = {};
  std::function<void(const LimitSpec&, CompiledLimit&)> compile = {};
  std::function<void(const CompiledLimit&, Canonical&)> digest = {};
  std::function<void(const diff_parts::LimitComparison&)> compare = {};
};

struct LimitField {
  std::string_view path;  // relative to the limit: `burst`, `penalty.after`
  FieldType type;
  std::string_view fallback;  // default in Markdown; `required`; empty: depends on other fields
  std::string_view meaning;   // in Markdown; without markup, the description in the schema
  FieldUse use = {};

  // True for a field of the limit itself, false for a nested field.
  [[nodiscard]] bool is_own() const noexcept { return path.find('.') == std::string_view::npos; }
};

using LimitFields = std::span<const LimitField>;

// Returns the fields in the order of the reference. Nested fields follow their parent.
[[nodiscard]] LimitFields limit_fields();

// Returns the names of the fields that are allowed in a limit, a candidate or an override.
[[nodiscard]] std::vector<std::string_view> names_of(LimitFields fields, FieldScope scope = FieldScope::limit);

}  // namespace weir::policy
