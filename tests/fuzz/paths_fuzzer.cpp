// Parses request targets from any bytes: the result is within its bounds and in normal form, and the normal form is a
// fixed point. The tree finds the routes of every reading that a server may use.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "match/path.h"
#include "match/route_tree.h"
#include "policy/route_template.h"
#include "tests/match/path_readers.h"
#include "tests/match/route_oracle.h"

namespace {

using namespace weir;
using namespace weir::match;

constexpr std::size_t short_enough_for_the_servers = 200;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<RouteEntry> some_routes() {
  constexpr std::array texts{"/",        "/a",         "POST /login", "/login",    "/login/**", "/*",
                             "/*/login", "/a/*/c",     "/a/b/*",      "/*/b/c",    "/a/*/c/**", "/**",
                             "/a/b",     "/*/*/login", "GET /*/a",    "/a/login/", "/*/*/*/**", "POST /a/b/**"};
  std::vector<RouteEntry> entries;
  for (std::uint32_t i = 0; i < texts.size(); ++i) entries.push_back({*policy::parse_route(texts.at(i)), i / 2});
  return entries;
}

// The most permissive reading: all separators separate, and all removable segments and parent references apply.
std::string normal_form(const PathReading& reading) {
  std::vector<std::string_view> segments;
  for (const Piece& piece : reading.pieces) {
    if (piece.has(Piece::may_go_up)) {
      if (!segments.empty()) segments.pop_back();
    } else if (!piece.has(Piece::may_vanish)) {
      segments.push_back(piece.text);
    }
    if (piece.has(Piece::may_end_path)) break;
  }
  std::string text;
  for (const std::string_view segment : segments) text.append("/").append(segment);
  return text.empty() ? "/" : text;
}

void check_pieces(const PathReading& reading) {
  require(reading.pieces.size() <= PathReader::max_pieces);
  require(reading.kind != PathReading::Kind::unreadable || reading.pieces.empty());
  bool has_flags = false;
  for (const Piece& piece : reading.pieces) {
    require(piece.hash == segment_hash(piece.text));
    require(piece.text.find_first_of("/\\;?#") == std::string_view::npos);
    require(std::none_of(piece.text.begin(), piece.text.end(), base::is_control));
    require(!piece.text.empty() || piece.has(Piece::may_vanish) || piece.has(Piece::may_go_up));
    has_flags |= piece.flags != 0;
  }
  require(!has_flags || reading.kind == PathReading::Kind::ambiguous);
}

void check_normal_form(const PathReading& reading) {
  const std::string normal = normal_form(reading);
  if (reading.kind == PathReading::Kind::unreadable || normal.size() > PathReader::max_length) return;
  PathReader reader;
  const PathReading again = reader.read(normal);
  require(again.kind == PathReading::Kind::plain);
  require(normal_form(again) == normal);
}

void check_servers(const std::string& target, const PathReading& reading) {
  static const std::vector<RouteEntry> entries = some_routes();
  static const RouteTree tree = RouteTree::build(entries);
  static Matches matches(tree);
  const std::string path = target.substr(0, target.find('?'));
  if (!path.starts_with('/') || path.size() > short_enough_for_the_servers) return;
  for (const std::string_view method : {"GET", "POST"}) {
    tree.match(method, reading, matches);
    const auto found = matches.all();
    for (const Server& server : servers()) {
      for (const auto& [limit, route] : oracle_covering(entries, method, seen_by(server, path))) {
        require(std::any_of(found.begin(), found.end(), [&, limit = limit, route = route](const RouteMatch& match) {
          return match.limit == limit && (match.route == route || match.route == no_route);
        }));
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static PathReader reader;
  const std::string target(data, data + size);
  const PathReading reading = reader.read(target);
  check_pieces(reading);
  check_normal_form(reading);
  check_servers(target, reading);
  return 0;
}
