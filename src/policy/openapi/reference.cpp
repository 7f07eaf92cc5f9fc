#include "policy/openapi/reference.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "policy/scalar.h"

namespace weir::policy::openapi {

namespace {

constexpr std::size_t large_map = 32;
constexpr std::string_view form = "write it like '#/components/pathItems/pet'";

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

std::optional<std::string> unescaped(std::string_view step) {
  std::string plain;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      plain += step[i];
      continue;
    }
    if (++i == step.size() || (step[i] != '0' && step[i] != '1')) return std::nullopt;
    plain += step[i] == '0' ? '~' : '/';
  }
  return plain;
}

const yaml::Node* item(const yaml::Node& list, std::string_view step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool number = error == std::errc{} && end == step.data() + step.size();
  if (!number || (step.size() > 1 && step.front() == '0') || index >= list.items.size()) return nullptr;
  return &list.items[index];
}

}  // namespace

std::optional<std::vector<std::string>> pointer_steps(std::string_view pointer) {
  std::vector<std::string> steps;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return std::nullopt;
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    auto plain = unescaped(step);
    if (!plain) return std::nullopt;
    steps.push_back(std::move(*plain));
    pointer.remove_prefix(step.size());
  }
  return steps;
}

std::optional<std::vector<const yaml::Node*>> References::chain(const yaml::Node& node) {
  std::vector<const yaml::Node*> steps{&node};
  while (const yaml::Node* reference = steps.back()->find("$ref")) {
    const yaml::Node* next = target(*reference);
    if (next == nullptr) return std::nullopt;
    if (std::find(steps.begin(), steps.end(), next) != steps.end()) {
      problems_.error(reference->at, fmt::format("$ref {} leads back to itself", quoted(reference->text)));
      return std::nullopt;
    }
    if (steps.size() > most_steps) {
      problems_.error(reference->at, fmt::format("more than {} $ref in a row", most_steps));
      return std::nullopt;
    }
    steps.push_back(next);
  }
  return steps;
}

const yaml::Node* References::follow(const yaml::Node& node) {
  const auto steps = chain(node);
  if (!steps) return nullptr;
  for (std::size_t i = 0; i + 1 < steps->size(); ++i) {
    for (const yaml::Member& member : (*steps)[i]->members) {
      if (member.key.value == "$ref") continue;
      problems_.error(member.key.at,
                      fmt::format("{} beside $ref: nothing else may stand there", quoted(member.key.value)));
      return nullptr;
    }
  }
  return steps->back();
}

const yaml::Node* References::target(const yaml::Node& reference) {
  if (!reference.is_scalar()) {
    problems_.error(reference.at, fmt::format("$ref has to be text, not {}: {}", yaml::name_of(reference.kind), form));
    return nullptr;
  }
  const std::string& text = reference.text;
  if (text.empty() || text.front() != '#') {
    problems_.error(reference.at,
                    fmt::format("$ref {}: other documents are not read, copy it into this one", quoted(text)));
    return nullptr;
  }
  const auto pointer = percent_decoded(std::string_view(text).substr(1));
  const auto steps = pointer ? pointer_steps(*pointer) : std::nullopt;
  if (!steps) {
    problems_.error(reference.at, fmt::format("$ref {} is not a JSON pointer: {}", quoted(text), form));
    return nullptr;
  }
  const yaml::Node* node = &root_;
  for (const std::string& step : *steps) {
    node = node->is_sequence() ? item(*node, step) : find(*node, step);
    if (node == nullptr) {
      problems_.error(reference.at, fmt::format("$ref {} finds nothing: there is no {}", quoted(text), quoted(step)));
      return nullptr;
    }
  }
  return node;
}

const yaml::Node* References::find(const yaml::Node& map, std::string_view key) {
  if (map.members.size() < large_map) return map.find(key);
  auto& index = large_[&map];
  if (index.empty()) {
    for (const yaml::Member& member : map.members) index.emplace(member.key.value, &member.value);
  }
  const auto found = index.find(key);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace weir::policy::openapi
