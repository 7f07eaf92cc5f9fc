// JSON lines: known names, assigned names and invalid lines.
#include "simulate/json_line.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulate/log_entry.h"

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;

const Instant json_time = std::chrono::sys_days{2023y / 10 / 10} + 13h + 55min + 36s;

JsonLines lines_with(const std::vector<std::string>& assignments) {
  auto map = FieldMap::with(assignments);
  EXPECT_TRUE(map.has_value()) << (map ? "" : map.error().message());
  return JsonLines(std::move(*map));
}

TEST(JsonLine, LogsOfCommonServersNeedNoConfiguration) {
  struct Row {
    std::string_view server;
    std::string_view line;
  };
  const std::vector<Row> rows{
      {"nginx",
       R"({"time":"2023-10-10T13:55:36+00:00","remote_addr":"1.2.3.4","remote_user":"alice","request_method":"GET","request_uri":"/x?y","status":"200"})"},
      {"nginx with the request whole",
       R"({"msec":"1696946136.000","remote_addr":"1.2.3.4","remote_user":"alice","request":"GET /x?y HTTP/1.1","status":200})"},
      {"nginx with its local time",
       R"({"time_local":"10/Oct/2023:13:55:36 +0000","remote_addr":"1.2.3.4","user":"alice","request":"GET /x?y HTTP/1.1","uri":"/x?y","status":200})"},
      {"Caddy",
       R"({"level":"info","ts":1696946136.0,"logger":"http.log.access","request":{"remote_ip":"1.2.3.4","remote_port":"4","proto":"HTTP/2.0","method":"GET","host":"h","uri":"/x?y","headers":{"User-Agent":["curl"]}},"user_id":"alice","duration":0.1,"status":200})"},
      {"Traefik",
       R"({"ClientHost":"1.2.3.4","ClientUsername":"alice","DownstreamStatus":200,"RequestMethod":"GET","RequestPath":"/x?y","StartUTC":"2023-10-10T13:55:36.000000000Z"})"},
      {"Envoy",
       R"({"start_time":"2023-10-10T13:55:36.000Z","downstream_remote_address":"1.2.3.4:5678","user":"alice","method":"GET","path":"/x?y","response_code":200})"},
      {"ECS",
       R"({"@timestamp":"2023-10-10T13:55:36.000Z","source":{"ip":"1.2.3.4"},"user":{"name":"alice"},"http":{"request":{"method":"GET"},"response":{"status_code":200}},"url":{"original":"/x?y"}})"},
      {"ECS, flat",
       R"({"@timestamp":"2023-10-10T13:55:36.000Z","source.ip":"1.2.3.4","user.name":"alice","http.request.method":"GET","http.response.status_code":200,"url.original":"/x?y"})"},
  };
  JsonLines lines{FieldMap()};
  for (const Row& row : rows) {
    const auto entry = lines.parse(row.line);
    ASSERT_TRUE(entry.has_value()) << row.server << ": " << describe(entry.error());
    EXPECT_EQ(entry->at, json_time) << row.server;
    EXPECT_EQ(entry->ip, "1.2.3.4") << row.server;
    EXPECT_EQ(entry->user, "alice") << row.server;
    EXPECT_EQ(entry->method, "GET") << row.server;
    EXPECT_EQ(entry->target, "/x?y") << row.server;
    EXPECT_EQ(entry->status, 200) << row.server;
  }
}

TEST(JsonLine, AssignedFieldsReplaceTheKnownNames) {
  JsonLines lines = lines_with({"time=when", "user=request.headers.x-user", "api_key=k", "tier=a.b.c.d", "path=p",
                                "header:X-Plan=plan", "header:X-Login-Name=body.login"});
  const auto entry = lines.parse(
      R"({"time":"nonsense","when":1696946136,"user":"mallory","plan":"pro","k":42,"a":{"b":{"c":{"d":"gold"}}},)"
      R"("request":{"method":"POST","headers":{"x-user":"alice"}},"body":{"login":["bob","eve"]},"uri":"/no","p":"/yes"})");
  ASSERT_TRUE(entry.has_value()) << describe(entry.error());
  EXPECT_EQ(entry->at, json_time);
  EXPECT_EQ(entry->user, "alice");
  EXPECT_EQ(entry->api_key, "42");
  EXPECT_EQ(entry->tier, "gold");
  EXPECT_EQ(entry->method, "POST");
  EXPECT_EQ(entry->target, "/yes");
  const std::vector<Header> headers(entry->headers.begin(), entry->headers.end());
  EXPECT_EQ(headers, (std::vector<Header>{{"X-Plan", "pro"}, {"X-Login-Name", "bob"}}));
}

TEST(JsonLine, TheFirstKnownNameInTheListTakesPrecedence) {
  JsonLines lines{FieldMap()};
  const auto entry = lines.parse(
      R"({"ip":"2.2.2.2","remote_addr":"1.1.1.1","client_ip":"3.3.3.3","ts":1,"time":2,"path":"/","uri":"/?q"})");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->ip, "1.1.1.1");
  EXPECT_EQ(entry->at, Instant{2s});
  EXPECT_EQ(entry->target, "/?q");
}

TEST(JsonLine, TheFirstOfDuplicateFieldsTakesPrecedence) {
  JsonLines lines{FieldMap()};
  const auto entry = lines.parse(R"({"ts":1,"uri":"/a","uri":"/b"})");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->target, "/a");
}

TEST(JsonLine, ValuesOfEveryTypeAreReadOrAbsent) {
  struct Row {
    std::string_view value;
    std::string_view user;
  };
  const std::vector<Row> rows{
      {R"("alice")", "alice"},
      {R"("a\u00e9\"\/")", "a\xc3\xa9\"/"},
      {"1234567890123456789012", "1234567890123456789012"},
      {"1.50 ", "1.50"},
      {"null", ""},
      {"true", ""},
      {R"("-")", ""},
      {R"("")", ""},
      {R"(["x","y"])", "x"},
      {"[]", ""},
      {R"([["x"],"y"])", ""},
      {R"({"deep":1})", ""},
      {"{}", ""},
  };
  JsonLines lines{FieldMap()};
  for (const Row& row : rows) {
    const std::string line = R"({"user": )" + std::string(row.value) + R"(,"ts":1,"uri":"/"})";
    const auto entry = lines.parse(line);
    ASSERT_TRUE(entry.has_value()) << line << ": " << describe(entry.error());
    EXPECT_EQ(entry->user, row.user) << line;
    EXPECT_EQ(entry->target, "/") << line;
  }
}

TEST(JsonLine, PortOfAnAddressIsDropped) {
  JsonLines lines{FieldMap()};
  for (const auto& [logged, expected] :
       std::vector<std::pair<std::string, std::string>>{{"1.2.3.4:80", "1.2.3.4"},
                                                        {"[2001:db8::1]:80", "2001:db8::1"},
                                                        {"2001:db8::1", "2001:db8::1"},
                                                        {"h", "h"}}) {
    const std::string line = R"({"ts":1,"uri":"/","ip":")" + logged + "\"}";
    const auto entry = lines.parse(line);
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->ip, expected);
  }
}

TEST(JsonLine, CostIsAWholeNumberOrAFault) {
  struct Row {
    std::string_view value;
    tl::expected<std::optional<Cost>, Fault> cost;
  };
  const std::vector<Row> rows{
      {"17", Cost{17}},
      {R"("17")", Cost{17}},
      {"0", Cost{0}},
      {"4294967295", Cost{4'294'967'295}},
      {"null", std::nullopt},
      {R"("-")", std::nullopt},
      {"4294967296", tl::unexpected(Fault::bad_cost)},
      {"-1", tl::unexpected(Fault::bad_cost)},
      {"1.5", tl::unexpected(Fault::bad_cost)},
      {"1e3", tl::unexpected(Fault::bad_cost)},
      {R"("many")", tl::unexpected(Fault::bad_cost)},
  };
  JsonLines lines = lines_with({"cost=usage.total_tokens"});
  for (const Row& row : rows) {
    const std::string line = R"({"ts":1,"uri":"/","usage":{"total_tokens":)" + std::string(row.value) + "}}";
    const auto entry = lines.parse(line);
    ASSERT_EQ(entry.has_value(), row.cost.has_value()) << line;
    if (entry) {
      EXPECT_EQ(entry->cost, *row.cost) << line;
    } else {
      EXPECT_EQ(entry.error(), row.cost.error()) << line;
    }
  }
}

TEST(JsonLine, CostHasNoKnownName) {
  JsonLines lines{FieldMap()};
  const auto entry = lines.parse(R"({"ts":1,"uri":"/","cost":5})");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->cost, std::nullopt);
}

TEST(JsonLine, ADurationHasTheUnitOfItsFieldUnlessItHasASuffix) {
  struct Row {
    std::string_view field;
    std::string_view value;
    std::optional<Duration> duration;
  };
  const std::vector<Row> rows{
      {"duration=t", "1.25", 1'250ms},
      {"duration=t", R"("0.003")", 3ms},
      {"duration=t", "2", 2s},
      {"duration=t", "0.000", 1us},
      {"duration=t", "0.0000019", 1us},
      {"duration_ms=t", "1.25", 1'250us},
      {"duration_us=t", "1.25", 1us},
      {"duration_ns=t", "1999", 1us},
      {"duration_ns=t", "1500000", 1'500us},
      {"duration_ns=t", R"("20ms")", 20ms},
      {"duration_ms=t", R"("1.5s")", 1'500ms},
      {"duration_ms=t", R"("7us")", 7us},
      {"duration=t", "null", std::nullopt},
      {"duration=t", "-1", std::nullopt},
      {"duration=t", "1e3", std::nullopt},
      {"duration=t", R"("1h")", std::nullopt},
      {"duration=t", R"("1.2.3")", std::nullopt},
      {"duration=t", R"("0.1, 0.2")", std::nullopt},
      {"duration=t", "99999999999", std::nullopt},
  };
  for (const Row& row : rows) {
    JsonLines lines = lines_with({std::string(row.field)});
    const std::string line = R"({"ts":1,"uri":"/","t":)" + std::string(row.value) + "}";
    const auto entry = lines.parse(line);
    ASSERT_TRUE(entry.has_value()) << line;
    EXPECT_EQ(entry->duration, row.duration) << row.field << " " << line;
  }
}

TEST(JsonLine, DurationsOfCommonServersAreKnownIfTheirUnitIsUnambiguous) {
  JsonLines lines{FieldMap()};
  for (const auto& [field, expected] :
       std::vector<std::pair<std::string, std::optional<Duration>>>{{R"("request_time":"0.250")", 250ms},
                                                                    {R"("duration_ms":250)", 250ms},
                                                                    {R"("duration_us":250)", 250us},
                                                                    {R"("Duration":250000)", 250us},
                                                                    {R"("event":{"duration":250000})", 250us},
                                                                    {R"("duration":250)", std::nullopt}}) {
    const std::string line = R"({"ts":1,"uri":"/",)" + field + "}";
    const auto entry = lines.parse(line);
    ASSERT_TRUE(entry.has_value()) << line;
    EXPECT_EQ(entry->duration, expected) << line;
  }
  // An assignment of any unit replaces them all.
  JsonLines assigned = lines_with({"duration_ms=duration"});
  const auto entry = assigned.parse(R"({"ts":1,"uri":"/","request_time":9,"duration":5})");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->duration, 5ms);
}

TEST(JsonLine, DurationsMayBeSkipped) {
  auto fields = FieldMap::with(std::vector<std::string>{"cost=event.cost", "header:X-Took=request_time"}).value();
  fields.skip_durations();
  JsonLines lines(std::move(fields));
  const auto entry =
      lines.parse(R"({"ts":1,"uri":"/","request_time":9,"duration_ms":5,"event":{"duration":5,"cost":3}})");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->duration, std::nullopt);
  EXPECT_EQ(entry->cost, Cost{3});
  ASSERT_EQ(entry->headers.size(), 1U);
  EXPECT_EQ(entry->headers[0].value, "9");
}

TEST(JsonLine, InvalidLinesHaveAFault) {
  struct Row {
    std::string_view line;
    Fault fault;
  };
  const std::vector<Row> rows{
      {"", Fault::not_json},
      {"{", Fault::not_json},
      {R"({"ts":1,"uri":"/")", Fault::not_json},
      {R"({"ts":1,"uri":"/)", Fault::not_json},
      {R"({"ts":1 "uri":"/"})", Fault::not_json},
      {R"({"ts":1,"uri":"/"} x)", Fault::not_json},
      {R"({"ts":1,"uri":"/"}{"ts":2,"uri":"/"})", Fault::not_json},
      {R"({"ts":1x,"uri":"/"})", Fault::not_json},
      {R"({"ts":1,"uri":"\q"})", Fault::not_json},
      {"{\"ts\":1,\"uri\":\"\xff\"}", Fault::not_json},
      {"[1]", Fault::not_json},
      {"\"text\"", Fault::not_json},
      {"{}", Fault::no_time},
      {R"({"time":null,"uri":"/"})", Fault::no_time},
      {R"({"time":"yesterday","uri":"/"})", Fault::bad_time},
      {R"({"ts":1})", Fault::no_request},
      {R"({"ts":1,"method":"GET"})", Fault::no_request},
      {R"({"ts":1,"request":"-"})", Fault::no_request},
      {R"({"ts":1,"request":"\u0016\u0003"})", Fault::bad_request},
  };
  JsonLines lines{FieldMap()};
  for (const Row& row : rows) {
    const auto entry = lines.parse(row.line);
    ASSERT_FALSE(entry.has_value()) << row.line;
    EXPECT_EQ(entry.error(), row.fault) << row.line << ": " << describe(entry.error());
  }
}

TEST(JsonLine, DeeplyNestedValueIsSkipped) {
  JsonLines lines{FieldMap()};
  const std::string deep = std::string(500, '[') + std::string(500, ']');
  EXPECT_TRUE(lines.parse(R"({"x":)" + deep + R"(,"ts":1,"uri":"/"})").has_value());
  const std::string bottomless = std::string(5000, '[') + std::string(5000, ']');
  (void)lines.parse(R"({"user":)" + bottomless + R"(,"ts":1,"uri":"/"})");
}

TEST(FieldMap, InvalidAssignmentIsAnErrorWithAHint) {
  struct Row {
    std::vector<std::string> assignments;
    std::string message;
  };
  const std::vector<Row> rows{
      {{"time"}, "time: not FIELD=PATH; for example time=ts or user=request.headers.x-user"},
      {{"time="}, "time=: not FIELD=PATH; for example time=ts or user=request.headers.x-user"},
      {{"time=a..b"}, "time=a..b: not FIELD=PATH; for example time=ts or user=request.headers.x-user"},
      {{"tiem=ts"},
       "tiem=ts: unknown field; valid fields: time, ip, user, api_key, tier, method, target, request, status, cost, "
       "duration (in seconds), duration_ms, duration_us, duration_ns and header:NAME"},
      {{"header:=x"}, "header:=x: missing header name"},
      {{"ip=a", "ip=b"}, "ip=b: duplicate assignment of ip"},
      {{"duration=a", "duration_ms=b"}, "duration_ms=b: duplicate assignment of duration"},
      {std::vector<std::string>(17, "header:A=a"), "header:A=a: too many headers; at most 16"},
  };
  for (const Row& row : rows) {
    const auto map = FieldMap::with(row.assignments);
    ASSERT_FALSE(map.has_value()) << row.message;
    EXPECT_EQ(map.error().message(), row.message);
  }
}

TEST(LogFormat, FirstLineDeterminesTheFormat) {
  EXPECT_EQ(detect_format(R"({"ts":1})"), LogFormat::json);
  EXPECT_EQ(detect_format("  {"), LogFormat::json);
  EXPECT_EQ(detect_format("1.2.3.4 - - [...]"), LogFormat::combined);
  EXPECT_EQ(detect_format("[2001:db8::1] - -"), LogFormat::combined);
  EXPECT_EQ(detect_format(""), LogFormat::combined);
}

}  // namespace
}  // namespace weir::simulate
