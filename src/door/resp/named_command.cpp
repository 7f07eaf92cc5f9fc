#include "door/resp/named_command.h"

#include <chrono>
#include <cstdint>

#include "door/resp/argument.h"
#include "wire/resp/integer_text.h"

namespace weir::door {

std::string_view read_options(std::span<const std::string_view> words, engine::NamedAsk& ask) noexcept {
  constexpr std::int64_t longest_wait = std::chrono::floor<std::chrono::milliseconds>(Duration::max()).count();
  for (; !words.empty(); words = words.subspan(2)) {
    if (words.size() < 2) return syntax_error;
    if (equals_ignoring_case(words[0], "tier")) {
      ask.tier = words[1];
      continue;
    }
    const bool is_cost = equals_ignoring_case(words[0], "cost");
    if (!is_cost && !equals_ignoring_case(words[0], "maxwait")) return syntax_error;
    const auto number = wire::resp::parse_integer(words[1]);
    if (!number || *number < 0) return not_an_integer;
    if (is_cost) {
      ask.cost = Cost(static_cast<std::uint64_t>(*number));
    } else {
      if (*number > longest_wait) return not_an_integer;
      ask.max_wait = std::chrono::milliseconds(*number);
    }
  }
  return {};
}

}  // namespace weir::door
