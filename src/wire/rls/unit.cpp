#include "wire/rls/unit.h"

#include <array>

namespace weir::wire::rls {
namespace {

struct Length {
  Unit unit;
  Duration length;
};

constexpr std::array lengths{
    Length{Unit::second, std::chrono::seconds{1}}, Length{Unit::minute, std::chrono::minutes{1}},
    Length{Unit::hour, std::chrono::hours{1}},     Length{Unit::day, std::chrono::days{1}},
    Length{Unit::week, std::chrono::days{7}},      Length{Unit::month, std::chrono::days{30}},
    Length{Unit::year, std::chrono::days{365}},
};

}  // namespace

std::optional<Duration> length_of(std::uint32_t unit) noexcept {
  for (const Length& known : lengths) {
    if (static_cast<std::uint32_t>(known.unit) == unit) return known.length;
  }
  return std::nullopt;
}

UnitRate in_units(const Rate& rate) noexcept {
  __extension__ using Wide = unsigned __int128;
  for (const Length& known : lengths) {
    if (rate.per <= Duration::zero()) break;
    const Wide product = Wide{rate.count} * static_cast<std::uint64_t>(known.length.count());
    const auto per = static_cast<std::uint64_t>(rate.per.count());
    if (product % per == 0 && product / per <= UINT64_MAX) {
      return {static_cast<std::uint64_t>(product / per), known.unit};
    }
  }
  return {rate.count, Unit::unknown};
}

}  // namespace weir::wire::rls
