#include "server/config_overlap.h"

#include <sys/socket.h>

#include <utility>

#include <fmt/core.h>

#include "policy/scalar.h"

namespace weir::server {
namespace {

// `[::]` takes IPv4 as well.
bool takes_all_of(const net::Address& address, const net::Address& other) {
  const std::string host = address.host();
  return host == "::" || (host == "0.0.0.0" && other.family() == AF_INET);
}

bool overlap(const net::Address& a, const net::Address& b) {
  if (a.unix_socket() || b.unix_socket()) return a.text() == b.text();
  if (a.port() != b.port() || a.port() == 0) return false;  // the system chooses a port of its own for each 0
  return a.text() == b.text() || takes_all_of(a, b) || takes_all_of(b, a);
}

}  // namespace

void Listenings::report(const Listening& listening, const Listening& other, policy::Problems& problems) {
  const std::string text = policy::quoted(listening.address.text());
  if (listening.door == other.door) {
    problems.error(*listening.at, fmt::format("listen {}: this door has {} already", text, other.address.text()));
  } else {
    problems.error(*listening.at, fmt::format("listen {}: the {} door has {}{}: choose another address", text,
                                              other.door, other.address.text(), other.at ? "" : " by default"));
  }
}

void Listenings::report_overlaps(policy::Problems& problems) const {
  for (auto later = all_.begin(); later != all_.end(); ++later) {
    for (auto earlier = all_.begin(); earlier != later; ++earlier) {
      if (!overlap(earlier->address, later->address)) continue;
      // Defaults do not overlap, so that one of the two is written.
      if (later->at) {
        report(*later, *earlier, problems);
      } else {
        report(*earlier, *later, problems);
      }
    }
  }
}

std::optional<Overlap> first_overlap(const DoorsConfig& doors) {
  std::vector<std::pair<std::string_view, net::Address>> all;
  const auto add = [&](std::string_view name, const auto& door) {
    if (!door) return;
    for (const net::Address& address : door->listen) all.emplace_back(name, address);
  };
  add("http", doors.http);
  add("rls", doors.rls);
  add("resp", doors.resp);
  add("admin", doors.admin);
  for (auto later = all.begin(); later != all.end(); ++later) {
    for (auto earlier = all.begin(); earlier != later; ++earlier) {
      if (!overlap(earlier->second, later->second)) continue;
      return Overlap{earlier->first, earlier->second, later->first, later->second};
    }
  }
  return std::nullopt;
}

}  // namespace weir::server
