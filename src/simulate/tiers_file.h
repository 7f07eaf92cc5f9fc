// Which user has which tier, for logs that do not say it: a file of lines `user,tier`.
//
// A field in quotes may hold commas, and quotes twice. A first line `user,tier` is a title; empty lines, and lines that
// begin with '#', are skipped. A user is listed once.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/result.h"

namespace weir::simulate {

class TiersFile {
 public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 20;

  // `tiers` are those that a policy knows; another one is an error. `name` is what errors call the file.
  [[nodiscard]] static Result<TiersFile> read(std::string_view text, std::string_view name,
                                              std::span<const std::string> tiers);

  // Empty if the user is not listed. Holds as long as this does.
  [[nodiscard]] std::string_view tier_of(std::string_view user) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return by_user_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  struct Listed {
    std::size_t tier = 0;  // of tiers_
    std::size_t line = 0;
  };

  std::vector<std::string> tiers_;
  std::unordered_map<std::string, Listed, Hash, std::equal_to<>> by_user_;
};

}  // namespace weir::simulate
