// Reads a map with known fields. Every mistake is said at its place, and reading goes on.
//
// The fields that were asked for are the known ones: finish() reports all others. A field without a value counts as
// absent, and is reported.
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

// Numbers and truth values are not in quotes: to others who read the file, "20" is a text.
enum class Form { text, number };

// A single value, or nothing after the mistake has been said. The node's text, where it can be one.
[[nodiscard]] const std::string* single_value(const Node& node, std::string_view field, Form form, Problems& problems);

// The items of a list that is not empty, or nothing after the mistake has been said.
[[nodiscard]] const std::vector<Node>* items_of(const Node& node, std::string_view field, Problems& problems);

// "burst '1e3': not a whole number: write digits only, like 20"
void report(const Error& error, std::string_view field, Mark at, Problems& problems);

// The value of a node as `parse` reads it: a function from text to Result.
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
  // `what` is what the map should be, in messages: "a limit".
  MapReader(const Node& node, std::string_view what, Problems& problems);

  // Whether it is a map at all; if not, that has been said, and no field is there.
  [[nodiscard]] bool is_map() const noexcept { return node_.is_map(); }
  [[nodiscard]] Problems& problems() noexcept { return problems_; }

  [[nodiscard]] const Node* find(std::string_view field);
  // The same, and its absence is a mistake; `instead` says what to write.
  [[nodiscard]] const Node* require(std::string_view field, std::string_view instead = "");
  // A field that others would expect here, but that has no place.
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

  // One of the values of Enum up to `last`, by the names that name_of gives them.
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

  // Fields that have their place elsewhere: `where` says in which, after "it belongs ".
  void belongs(std::span<const std::string_view> fields, std::string_view where);
  // A field that others write for one that is here: it is suggested, however far apart the words are.
  void means(std::string_view field, std::string_view ours) { meanings_.emplace_back(field, ours); }

  // Reports what nobody asked for.
  void finish();

 private:
  const Node& node_;
  Problems& problems_;
  std::vector<std::string> known_;
  std::vector<std::string> refused_;
  std::vector<std::pair<std::string_view, std::string_view>> elsewhere_;  // a field, and where it belongs
  std::vector<std::pair<std::string_view, std::string_view>> meanings_;   // a field, and what it is called here
};

}  // namespace weir::text
