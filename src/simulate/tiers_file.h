// The tiers of users, for logs without tiers: a file with lines `user,tier`.
//
// A quoted field may contain commas, and doubled quotes. A first line `user,tier` is a header. Empty lines and lines
// that begin with '#' are skipped. A duplicate user is an error.
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

  // A tier that is not in `tiers` is an error. `name` is the file's name in errors.
  [[nodiscard]] static Result<TiersFile> read(std::string_view text, std::string_view name,
                                              std::span<const std::string> tiers);

  // Returns an empty text if the user is not listed. The result is valid as long as this object.
  [[nodiscard]] std::string_view tier_of(std::string_view user) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return by_user_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  struct Listed {
    std::size_t tier = 0;  // index in tiers_
    std::size_t line = 0;
  };

  std::vector<std::string> tiers_;
  std::unordered_map<std::string, Listed, Hash, std::equal_to<>> by_user_;
};

}  // namespace weir::simulate
