// What a server answered, in JSON, read by pointers (RFC 6901): `/policy/digest`, `/doors/0/name`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::app {

class JsonAnswer {
 public:
  [[nodiscard]] static std::optional<JsonAnswer> parse(std::string_view text);

  JsonAnswer(JsonAnswer&&) noexcept;
  JsonAnswer& operator=(JsonAnswer&&) = delete;
  ~JsonAnswer();

  // A text as it is, anything else as JSON writes it; empty if it is null or not there.
  [[nodiscard]] std::string text(const std::string& pointer) const;
  [[nodiscard]] bool is_true(const std::string& pointer) const { return text(pointer) == "true"; }
  // Zero if it is none, or not there.
  [[nodiscard]] std::uint64_t number(const std::string& pointer) const;
  // Of an array.
  [[nodiscard]] std::size_t size(const std::string& pointer) const;

 private:
  struct Tree;

  explicit JsonAnswer(std::unique_ptr<Tree> tree);

  std::unique_ptr<Tree> tree_;
};

}  // namespace weir::app
