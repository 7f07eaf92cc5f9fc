// Tests how a request target is read. In the tables, signs after the text of a piece state its other readings: ~ may
// belong to the previous piece, - may vanish, ^ may go up, $ may end the path, ' may be another text.
#include "match/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weir::match {
namespace {

using Kind = PathReading::Kind;
using namespace std::string_view_literals;

std::string written(std::string_view target) {
  PathReader reader;
  const PathReading reading = reader.read(target);
  if (reading.kind == Kind::unreadable) return "unreadable";
  std::string text;
  for (const Piece& piece : reading.pieces) {
    EXPECT_EQ(piece.hash, segment_hash(piece.text));
    text += "/";
    if (piece.has(Piece::follows_soft_separator)) text += "~";
    text += piece.text;
    if (piece.has(Piece::may_differ) && !piece.text.empty()) text += "'";
    if (piece.has(Piece::may_vanish)) text += "-";
    if (piece.has(Piece::may_go_up)) text += "^";
    if (piece.has(Piece::may_end_path)) text += "$";
  }
  const auto has_flags = [](const Piece& piece) { return piece.flags != 0; };
  const bool ambiguous = std::any_of(reading.pieces.begin(), reading.pieces.end(), has_flags);
  EXPECT_EQ(reading.kind, ambiguous ? Kind::ambiguous : Kind::plain) << target;
  return text.empty() ? "/" : text;
}

struct PathRow {
  std::string_view target;
  std::string_view reading;
};

TEST(Path, WithOneReadingIsPlain) {
  for (const PathRow& row : {
           PathRow{"/", "/"},
           PathRow{"", "/"},
           PathRow{"*", "/"},
           PathRow{"/?x", "/"},
           PathRow{"?x", "/"},
           PathRow{"/login", "/login"},
           PathRow{"login", "/login"},
           PathRow{"/login/", "/login"},
           PathRow{"/a/b/c?x=/../y", "/a/b/c"},
           PathRow{"/LoGiN", "/login"},
           PathRow{"/%zz/%4/%", "/%zz/%4/%"},
           PathRow{"/.well-known/a.b/v1..2", "/.well-known/a.b/v1..2"},
           PathRow{"http://host/login?x", "/login"},
           PathRow{"HTTPS://user@host:8443/a/b", "/a/b"},
           PathRow{"http://host", "/"},
           PathRow{"http://host?/login", "/"},
           PathRow{"http:\\\\host/login", "/login"},
       }) {
    EXPECT_EQ(written(row.target), row.reading) << row.target;
  }
}

TEST(Path, SaysWhereItIsRespelled) {
  for (const PathRow& row : {
           PathRow{"/%6cogin", "/login'"},
           PathRow{"/%6Cogin/%62", "/login'/b'"},
           PathRow{"/%256cogin", "/login'"},
           PathRow{"/%25256cogin", "/login'"},
           PathRow{"/%%36cogin", "/login'"},
           PathRow{"/%u006cogin", "/login'"},
           PathRow{"/%C1%ACogin", "/login'"},
           PathRow{"/login;jsessionid=1", "/login'"},
           PathRow{"/login%3Bx/a", "/login'/a"},
           PathRow{"/login.", "/login'"},
           PathRow{"/login%20", "/login'"},
           PathRow{"/%20login", "/login'"},
           PathRow{"/caf%C3%A9/\xC3\xA9", "/caf\xC3\xA9'/\xC3\xA9"},
           PathRow{"/a%20b", "/a b'"},
       }) {
    EXPECT_EQ(written(row.target), row.reading) << row.target;
  }
}

TEST(Path, SaysWhereItCanBeReadInTwoWays) {
  for (const PathRow& row : {
           PathRow{"//login", "/-/login-"},
           PathRow{"/a//b", "/a/-/b"},
           PathRow{"/a////b", "/a/-/-/-/b"},
           PathRow{"/a/./b", "/a/-/b"},
           PathRow{"/a/%2e/b", "/a/-/b"},
           PathRow{"/a/../b", "/a/^/b"},
           PathRow{"/a/%252E./b", "/a/^/b"},
           PathRow{"/a/..;x/b", "/a/^/b"},
           PathRow{"/a/;x/b", "/a/-/b"},
           PathRow{"/a/.../b", "/a/-/b"},
           PathRow{"/a%2Fb", "/a'/~b'"},
           PathRow{"/a%5cb", "/a'/~b'"},
           PathRow{"/a\\b", "/a/~b"},
           PathRow{"/a%252fb", "/a'/~b'"},
           PathRow{"/a%C0%AFb", "/a'/~b'"},
           PathRow{"/x/..%2flogin", "/x/^/~login'"},
           PathRow{"/login;a%2Fb", "/login'/~b'-"},
           PathRow{"/login;a%2Fb/c", "/login'/~b'-/c"},
           PathRow{"/login%2F", "/login'/~-"},
           PathRow{"\\login", "/-/~login-"},
           PathRow{"/login%00", "/login'$"},
           PathRow{"/login%00.html/x", "/login'$/x"},
           PathRow{"/login%0A", "/login'$"},
           PathRow{"/login%3Fx/y", "/login'$/y"},
           PathRow{"/login#x/../y", "/login'$/^/y"},
           PathRow{"/%0Alogin", "/login'-$"},
           PathRow{"/%00/login", "/-$/login-"},
           PathRow{"/%20%0Alogin", "/login'-$"},
           PathRow{"//host/login", "/-/host-/login"},
           PathRow{"///host/login", "/-/-/host-/login"},
           PathRow{"http:///host/login", "/-/host-/login"},
           PathRow{"http://a\\b@host/login", "/-/~b@host-/login"},
       }) {
    EXPECT_EQ(written(row.target), row.reading) << row.target;
  }
}

TEST(Path, IsUnreadableRatherThanMisread) {
  for (const std::string_view target : {
           "host:443"sv,
           "mailto:login"sv,
           "http:/login"sv,
           "/log\tin"sv,
           "/login\0"sv,
           "/login\n"sv,
           "/login\x7f"sv,
       }) {
    EXPECT_EQ(written(target), "unreadable") << target;
  }
}

TEST(Path, QueryMayHoldAnything) {
  EXPECT_EQ(written("/login?\x01%00\\;#"), "/login");
  EXPECT_EQ(written("/login?" + std::string(100'000, 'x')), "/login");
  EXPECT_EQ(written("/%6cogin?" + std::string(100'000, 'x')), "/login'");
}

TEST(Path, IsReadUpToItsGreatestLength) {
  const std::string longest = "/" + std::string(PathReader::max_length - 1, 'a');
  EXPECT_EQ(written(longest), longest);
  EXPECT_EQ(written(longest + "?x"), longest);
  EXPECT_EQ(written(longest + "a"), "unreadable");
  EXPECT_EQ(written("http://host" + longest), longest);
}

TEST(Path, WithMorePiecesIsLongerOrUnreadable) {
  std::string path;
  for (std::size_t i = 0; i < PathReader::max_pieces; ++i) path += "/a";
  EXPECT_EQ(written(path), path);
  EXPECT_EQ(written(path + "/"), path);
  PathReader reader;
  EXPECT_FALSE(reader.read(path).longer);
  for (const std::string& more : {path + "/b", path + "/%62", path + "/b/c/"}) {
    const PathReading reading = reader.read(more);
    EXPECT_NE(reading.kind, Kind::unreadable);
    EXPECT_TRUE(reading.longer);
    EXPECT_EQ(reading.pieces.size(), PathReader::max_pieces);
  }
  EXPECT_EQ(written(path + "/.."), "unreadable");
  EXPECT_EQ(written("/.." + path), "unreadable");
  EXPECT_EQ(written(path + "%2F"), "unreadable");
}

TEST(Path, ManySlashesAtTheEndAreNone) {
  EXPECT_EQ(written("/login" + std::string(1000, '/')), "/login");
  EXPECT_EQ(written(std::string(1000, '/') + "login"), "unreadable");
}

TEST(Path, ReaderForgetsTheTargetBefore) {
  PathReader reader;
  EXPECT_EQ(reader.read("/a/../b%2Fc/d").pieces.size(), 5U);
  const PathReading reading = reader.read("/x");
  EXPECT_EQ(reading.kind, Kind::plain);
  ASSERT_EQ(reading.pieces.size(), 1U);
  EXPECT_EQ(reading.pieces[0].text, "x");
}

}  // namespace
}  // namespace weir::match
