#include "app/json_answer.h"

#include <utility>

#include <simdjson.h>

namespace weir::app {

struct JsonAnswer::Tree {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
};

JsonAnswer::JsonAnswer(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
JsonAnswer::JsonAnswer(JsonAnswer&&) noexcept = default;
JsonAnswer::~JsonAnswer() = default;

std::optional<JsonAnswer> JsonAnswer::parse(std::string_view text) {
  auto tree = std::make_unique<Tree>();
  if (tree->parser.parse(text.data(), text.size()).get(tree->root) != simdjson::SUCCESS) return {};
  return JsonAnswer(std::move(tree));
}

std::string JsonAnswer::text(const std::string& pointer) const {
  simdjson::dom::element element;
  if (tree_->root.at_pointer(pointer).get(element) != simdjson::SUCCESS || element.is_null()) return {};
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) return std::string(text);
  return simdjson::minify(element);
}

std::uint64_t JsonAnswer::number(const std::string& pointer) const {
  std::uint64_t number = 0;
  return tree_->root.at_pointer(pointer).get_uint64().get(number) == simdjson::SUCCESS ? number : 0;
}

std::size_t JsonAnswer::size(const std::string& pointer) const {
  simdjson::dom::array array;
  return tree_->root.at_pointer(pointer).get_array().get(array) == simdjson::SUCCESS ? array.size() : 0;
}

}  // namespace weir::app
