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

// If it is a whole number.
std::optional<std::uint64_t> requests_in(Duration length, const Rate& rate) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{rate.count} * static_cast<std::uint64_t>(length.count());
  const auto per = static_cast<std::uint64_t>(rate.per.count());
  const Wide requests = product / per;
  if (requests * per != product || requests > UINT64_MAX) return std::nullopt;
  return static_cast<std::uint64_t>(requests);
}

}  // namespace

std::optional<Duration> length_of(std::uint32_t unit) noexcept {
  for (const Length& known : lengths) {
    if (static_cast<std::uint32_t>(known.unit) == unit) return known.length;
  }
  return std::nullopt;
}

UnitRate in_units(const Rate& rate) noexcept {
  if (rate.per <= Duration::zero()) return {rate.count, Unit::unknown};
  for (const Length& known : lengths) {
    if (known.length == rate.per) return {rate.count, known.unit};
  }
  for (const Length& known : lengths) {
    if (const auto requests = requests_in(known.length, rate)) return {*requests, known.unit};
  }
  return {rate.count, Unit::unknown};
}

}  // namespace weir::wire::rls
