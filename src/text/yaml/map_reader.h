// Reads a map with known fields. Every error is reported with its position, and reading continues.
//
// The requested fields are the known ones: finish() reports all others. A field without a value is reported and treated
// as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/yaml/document.h"
#include "text/yaml/problem.h"
#include "text/yaml/scalar.h"

namespace weir::text {

// Numbers and booleans must not be quoted: other readers would take "20" for text.
enum class Form { text, number };

// The text of a scalar; null after an error was reported.
[[nodiscard]] const std::string* single_value(const Node& node, std::string_view field, Form form, Problems& problems);

// The items of a list that is not empty; null after an error was reported.
[[nodiscard]] const std::vector<Node>* items_of(const Node& node, std::string_view field, Problems& problems);

// Reports an error as "burst '1e3': not a whole number: write digits only, like 20".
void report(const Error& error, std::string_view field, Mark at, Problems& problems);

// The value of a node as parsed by `parse`, a function from text to Result.
template <class Parse>
[[nodiscard]] auto read_value(const Node& node, std::string_view field, Form form, Parse parse, Problems& problems) {
  using Value = typename decltype(parse(std::string_view{}))::value_type;
  std::optional<Written<Value>> written;
  if (const std::string* text = single_value(node, field, form, problems)) {
    auto value = parse(*text);
    if (value) {
      written = Written<Value>{*std::move(value), node.at};
    } else {
      report(value.error(), field, node.at, problems);
    }
  }
  return written;
}

class MapReader {
 public:
  // `what` describes the map in messages: "a limit".
  MapReader(const Node& node, std::string_view what, Problems& problems);

  // False after an error was reported; then no field is present.
  [[nodiscard]] bool is_map() const noexcept { return node_.is_map(); }
  [[nodiscard]] Problems& problems() noexcept { return problems_; }

  [[nodiscard]] const Node* find(std::string_view field);
  // Reports a missing field. `instead` says what to write.
  [[nodiscard]] const Node* require(std::string_view field, std::string_view instead = "");
  // Reports a field that a user might expect here but that is not allowed.
  void refuse(std::string_view field, std::string_view why);

  template <class Parse>
  [[nodiscard]] auto value(std::string_view field, Form form, Parse parse) {
    const Node* node = find(field);
    using Read = decltype(read_value(*node, field, form, parse, problems_));
    return node == nullptr ? Read{} : read_value(*node, field, form, parse, problems_);
  }

  [[nodiscard]] std::optional<Written<std::uint64_t>> whole(std::string_view field, Bounds bounds = {});
  [[nodiscard]] std::optional<Written<Duration>> duration(std::string_view field);
  [[nodiscard]] std::optional<Written<std::string>> header_name(std::string_view field);

  // Reads one of the values of Enum up to `last`, using the names that name_of returns.
  template <class Enum>
  [[nodiscard]] std::optional<Written<Enum>> choice(std::string_view field, Enum last) {
    std::vector<std::string> names;
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(last); ++i) {
      names.emplace_back(name_of(static_cast<Enum>(i)));
    }
    const auto chosen = one_of(field, names);
    if (!chosen) return {};
    return Written<Enum>{static_cast<Enum>(chosen->value), chosen->at};
  }

  // The index of a field's value among `names`.
  [[nodiscard]] std::optional<Written<std::size_t>> one_of(std::string_view field,
                                                           const std::vector<std::string>& names);

  // Declares fields that belong elsewhere. In messages, `where` follows "it belongs ".
  void belongs(std::span<const std::string_view> fields, std::string_view where);
  // Declares a name that other products use for one of our fields: it is always suggested.
  void means(std::string_view field, std::string_view ours) { meanings_.emplace_back(field, ours); }

  // Reports unknown fields.
  void finish();

 private:
  const Node& node_;
  Problems& problems_;
  std::vector<std::string> known_;
  std::vector<std::string> refused_;
  std::vector<std::pair<std::string_view, std::string_view>> elsewhere_;  // field -> where it belongs
  std::vector<std::pair<std::string_view, std::string_view>> meanings_;   // field -> our name
};

}  // namespace weir::text
