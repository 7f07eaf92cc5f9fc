// The fields of a limit, as policy.yaml and OpenAPI's x-rate-limit write them: one table. Each row says how its field
// is written (JSON Schema, reference page), read, compiled and digested, and how a change of it is told. The reader and
// its hints, `weir schema`, docs/reference-policy.md, the digest and `weir diff` walk over the table.
//
// A new field is a row, the members of LimitSpec and CompiledLimit that it fills, and what it means.
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

class Canonical;    // compile/canonical.h
struct LimitPlace;  // read/limit_reader.h
namespace diff_parts {
struct LimitComparison;
}

// The places that take a field: the limit alone, its candidate too, or the override of a tier as well.
enum class FieldScope : std::uint8_t { limit, candidate, tier };

// In a schema or in a list of values, these stand for the fields that a candidate or an override may have.
inline constexpr std::string_view candidate_fields = "{candidate fields}";
inline constexpr std::string_view tier_fields = "{tier fields}";

struct FieldType {
  std::string schema = {};       // members of a JSON object; empty: it is in the reference only
  std::string values = {};       // for the reference, in Markdown; empty: it is in the schema only
  std::string alternative = {};  // the schema of what may be written in place of a map of its own fields
};

// The two ways to write the same numbers exclude each other.
enum class Spelling : std::uint8_t { rate_and_burst, spelled_out, either };

// A set of PolicyAlgorithm.
using AlgorithmSet = unsigned;
[[nodiscard]] constexpr AlgorithmSet set_of(PolicyAlgorithm algorithm) noexcept {
  return AlgorithmSet{1} << static_cast<unsigned>(algorithm);
}

// A field of NumbersSpec.
struct NumberField {
  AlgorithmSet algorithms = 0;  // those that have it
  Spelling spelling = Spelling::either;
  std::function<void(text::MapReader&, std::string_view name, NumbersSpec&)> read;
  std::function<std::optional<Mark>(const NumbersSpec&)> at;  // none: it is not written
};

// The context in which a field is read.
struct FieldSpot {
  text::MapReader& map;
  std::string_view name;
  const LimitPlace& place;
  LimitSpec& limit;
};

// A null function does nothing. The numbers of a limit are compiled, digested and compared together, with its
// algorithm.
struct FieldUse {
  FieldScope scope = FieldScope::limit;
  std::optional<NumberField> number = {};
  std::function<void(const FieldSpot&)> read = {};
  std::function<void(const LimitSpec&, CompiledLimit&)> compile = {};
  std::function<void(const CompiledLimit&, Canonical&)> digest = {};
  std::function<void(const diff_parts::LimitComparison&)> compare = {};
};

struct LimitField {
  std::string_view path;  // below a limit: `burst`, `penalty.after`
  FieldType type;
  std::string_view fallback;  // what holds without it, in Markdown; `required`; empty: it depends on the others
  std::string_view meaning;   // in Markdown; a description in the schema, where markup is left out
  FieldUse use = {};

  // True for a field of the limit itself, false for a field of one of its fields.
  [[nodiscard]] bool is_own() const noexcept { return path.find('.') == std::string_view::npos; }
};

using LimitFields = std::span<const LimitField>;

// In the order of the reference. Rows for the fields of a field come behind it.
[[nodiscard]] LimitFields limit_fields();

// The names of the fields that a limit, its candidate or a tier's override may have.
[[nodiscard]] std::vector<std::string_view> names_of(LimitFields fields, FieldScope scope = FieldScope::limit);

}  // namespace weir::policy
