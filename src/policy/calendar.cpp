#include "policy/calendar.h"

#include <date/tz.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "base/ascii.h"
#include "core/instant.h"
#include "policy/compile/compile.h"
#include "text/yaml/problem.h"

namespace weir::policy {
namespace {

using core::CalendarUnit;
using core::WindowEdges;
using date::local_days;
using date::local_seconds;
using date::sys_seconds;
using Seconds = std::chrono::seconds;

constexpr const char* zone_folder = "/usr/share/zoneinfo/";  // the date library reads zone files from here on Linux
constexpr std::int64_t micros_per_second = 1'000'000;
// Outside the years 1 to 9998, windows have their nominal length.
constexpr sys_seconds first_instant = date::sys_days{date::year{1} / 1 / 1};
constexpr sys_seconds last_instant = date::sys_days{date::year{9999} / 1 / 1};

// Computes when dates begin in a zone. Exceptions of the date library pass through.
class ZoneDates {
 public:
  explicit ZoneDates(const date::time_zone* zone) noexcept : zone_(zone) {}  // null: UTC

  [[nodiscard]] local_days date_at(sys_seconds now) const {
    const Seconds offset = zone_ == nullptr ? Seconds{0} : zone_->get_info(now).offset;
    return date::floor<date::days>(local_seconds{now.time_since_epoch() + offset});
  }

  // The first instant with this date or a later one.
  [[nodiscard]] sys_seconds begin_of(local_days date) const {
    const local_seconds midnight{date};
    if (zone_ == nullptr) return sys_seconds{midnight.time_since_epoch()};
    const date::local_info info = zone_->get_info(midnight);
    if (info.result == date::local_info::nonexistent) return info.first.end;
    return sys_seconds{midnight.time_since_epoch()} - info.first.offset;  // the first one if midnight occurs twice
  }

 private:
  const date::time_zone* zone_;
};

local_days start_of(CalendarUnit unit, local_days day) {
  const date::year_month_day parts{day};
  switch (unit) {
    case CalendarUnit::day:
      break;
    case CalendarUnit::week:
      return day - (date::weekday{day} - date::Monday);
    case CalendarUnit::month:
      return local_days{parts.year() / parts.month() / 1};
    case CalendarUnit::year:
      return local_days{parts.year() / 1 / 1};
  }
  return day;
}

// The first day of the window `steps` after the one that begins with `first`.
local_days later(CalendarUnit unit, local_days first, int steps) {
  const date::year_month_day parts{first};
  switch (unit) {
    case CalendarUnit::day:
      break;
    case CalendarUnit::week:
      return first + date::weeks{steps};
    case CalendarUnit::month:
      return local_days{parts + date::months{steps}};
    case CalendarUnit::year:
      return local_days{parts + date::years{steps}};
  }
  return first + date::days{steps};
}

std::int64_t in_micros(sys_seconds instant) noexcept {
  return instant.time_since_epoch().count() * micros_per_second;
}

// A skipped date begins when the next one does, so it has no window.
WindowEdges edges_around(const ZoneDates& dates, CalendarUnit unit, sys_seconds now) {
  local_days first = start_of(unit, dates.date_at(now));
  // In a repeated hour the local date may be that of an earlier window.
  while (dates.begin_of(later(unit, first, 1)) <= now) first = later(unit, first, 1);
  const sys_seconds start = dates.begin_of(first);
  const auto beyond = [&](sys_seconds edge, int direction) {
    int steps = 0;
    sys_seconds other = edge;
    while (direction > 0 ? other <= edge : other >= edge) {
      steps += direction;
      other = dates.begin_of(later(unit, first, steps));
    }
    return other;
  };
  const sys_seconds end = beyond(start, 1);
  return {in_micros(beyond(start, -1)), in_micros(start), in_micros(end), in_micros(beyond(end, 1))};
}

WindowEdges nominal_edges(CalendarUnit unit, std::int64_t now) noexcept {
  const std::int64_t length = core::nominal_length(unit).count();
  const std::int64_t start = core::window_start(now, length);
  return {start - length, start, start + length, start + 2 * length};
}

class ZoneCalendar final : public core::Calendar {
 public:
  ZoneCalendar(CalendarUnit unit, std::string zone, ZoneDates dates) : Calendar(unit, std::move(zone)), dates_(dates) {}

 private:
  static constexpr std::size_t max_stored = 4'096;

  // Stored edges are never removed, since others may read them. Beyond max_stored, edges are computed each time.
  [[nodiscard]] WindowEdges find(std::int64_t now) const noexcept override {
    const sys_seconds second{std::chrono::floor<Seconds>(Duration{now})};
    if (second < first_instant || second >= last_instant) return nominal_edges(unit(), now);
    try {
      const std::lock_guard lock(mutex_);
      auto found = stored_.upper_bound(now);
      if (found != stored_.begin() && std::prev(found)->second.contains(now)) {
        --found;
      } else {
        const WindowEdges edges = edges_around(dates_, unit(), second);
        if (stored_.size() >= max_stored) return edges;
        found = stored_.emplace(edges.start, edges).first;
      }
      remember(found->second);
      return found->second;
    } catch (const std::exception&) {  // can only be out of memory: the zone was read when the calendar was created
      return nominal_edges(unit(), now);
    }
  }

  ZoneDates dates_;
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, WindowEdges> stored_;  // keyed by the start of the window
};

// Some zone files hold the machine's own settings or a placeholder. They are not zones that a policy may name.
bool names_a_zone(std::string_view name) noexcept {
  return name != "localtime" && name != "posixrules" && name != "Factory";
}

// Returns `, did you mean 'Europe/Berlin'?` for a name in another letter case, without its area, or with a typing
// error.
std::string near_zone(std::string_view name) {
  std::vector<std::string> known;
  for (const date::time_zone& zone : date::get_tzdb().zones) {
    if (names_a_zone(zone.name())) known.push_back(zone.name());
  }
  for (const std::string& zone : known) {
    const std::string_view city = std::string_view(zone).substr(zone.rfind('/') + 1);
    if (base::equals_ignoring_case(zone, name) || base::equals_ignoring_case(city, name))
      return fmt::format(", did you mean '{}'?", zone);
  }
  return text::did_you_mean(name, known);
}

// True if the zone file ends with a rule for the years after those that it lists: `CET-1CEST,M3.5.0,M10.5.0/3`.
bool has_yearly_rule(const std::string& zone) {
  std::ifstream file(zone_folder + zone, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  std::string text = bytes.str();
  if (!text.ends_with('\n')) return false;
  text.pop_back();
  return text.find(',', text.rfind('\n') + 1) != std::string::npos;
}

// The date library ignores that rule, so it would miss summer time in years that the file does not list.
bool lists_its_years(const date::time_zone& zone) {
  constexpr sys_seconds last_listed = date::sys_days{date::year{2037} / 1 / 1};
  return !has_yearly_rule(zone.name()) ||
         zone.get_info(date::sys_days{date::year{2037} / 12 / 31}).begin >= last_listed;
}

Result<const date::time_zone*> find_zone(std::string_view name) {
  const std::string text(name);
  try {
    const auto& zones = date::get_tzdb().zones;
    const auto found = std::ranges::find_if(zones, [&](const date::time_zone& zone) { return zone.name() == name; });
    if (found == zones.end() || !names_a_zone(name)) {
      return failure(text::in_quotes(name), "unknown time zone: write it like Europe/Berlin or UTC" + near_zone(name));
    }
    if (!lists_its_years(*found)) {
      return failure(text::in_quotes(name),
                     fmt::format("{}{} has a rule instead of a list of transitions, which is not supported: install "
                                 "zone files with both, like Debian's tzdata",
                                 zone_folder, text));
    }
    return &*found;
  } catch (const std::exception& error) {
    return failure(text::in_quotes(name),
                   fmt::format("the zone files in {} cannot be read ({}): install tzdata", zone_folder, error.what()));
  }
}

// All calendars that were ever requested.
struct Calendars {
  std::mutex mutex;
  std::map<std::pair<CalendarUnit, std::string>, std::unique_ptr<const ZoneCalendar>> by_name;
};

Calendars& calendars() {
  static Calendars& all = *new Calendars;  // never destroyed: threads may use it until the process ends
  return all;
}

}  // namespace

Result<const core::Calendar*> find_calendar(CalendarUnit unit, std::string_view zone) {
  Calendars& all = calendars();
  const std::lock_guard lock(all.mutex);
  std::pair name{unit, std::string(zone)};
  if (const auto known = all.by_name.find(name); known != all.by_name.end()) return known->second.get();
  const date::time_zone* found_zone = nullptr;
  if (zone != utc) {
    const auto found = find_zone(zone);
    if (!found) return tl::unexpected(found.error());
    found_zone = *found;
  }
  auto made = std::make_unique<const ZoneCalendar>(unit, std::string(zone), ZoneDates(found_zone));
  return all.by_name.emplace(std::move(name), std::move(made)).first->second.get();
}

std::string zone_digest(const std::string& zone) {
  constexpr sys_seconds from = date::sys_days{date::year{2020} / 1 / 1};
  constexpr sys_seconds to = date::sys_days{date::year{2038} / 1 / 1};
  std::string text;
  try {
    const date::time_zone* const found = zone == utc ? nullptr : date::locate_zone(zone);
    for (sys_seconds at = from; found != nullptr && at < to;) {
      const date::sys_info info = found->get_info(at);
      text += fmt::format("{} {}\n", std::max(from, info.begin).time_since_epoch().count(), info.offset.count());
      at = info.end;
    }
  } catch (const std::exception&) {
    text = "unreadable";
  }
  return sha256(text).substr(0, 16);
}

}  // namespace weir::policy
