// Validation of a request's ids before they are logged.
#include "observe/log_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::observe {
namespace {

constexpr std::string_view trace = "4bf92f3577b34da6a3ce929d0e0e4736";

std::string trace_id_of(std::string_view value) {
  const Header header{"TraceParent", value};
  return std::string(trace_ids({.headers = {&header, 1}}).trace_id);
}

std::string request_id_of(std::string_view value) {
  const Header header{"X-Request-Id", value};
  return std::string(trace_ids({.headers = {&header, 1}}).request_id);
}

TEST(TraceIds, TraceparentGivesItsTraceId) {
  for (const auto* value : {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
                            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-is-to-come"}) {
    EXPECT_EQ(trace_id_of(value), trace) << value;
  }
}

TEST(TraceIds, MalformedTraceparentGivesNone) {
  for (const auto* value :
       {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", "4bf92f3577b34da6a3ce929d0e0e4736",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g"}) {
    EXPECT_EQ(trace_id_of(value), "") << value;
  }
}

TEST(TraceIds, RequestIdIsTakenIfItIsShortAndPlain) {
  for (const std::string& value :
       std::vector<std::string>{"7f3b8f6e-4a1e-4f63-9c2a-1f0b4d1b8a55", "Root=1-67891233-abcdef012345678912345678", "a",
                                "x_y.z:1/2@host+3", std::string(128, 'a')}) {
    EXPECT_EQ(request_id_of(value), value);
  }
  for (const std::string& value :
       std::vector<std::string>{"", std::string(129, 'a'), "a b", "<script>", "a\"b", "caf\xC3\xA9", "a,b"}) {
    EXPECT_EQ(request_id_of(value), "") << value;
  }
}

TEST(TraceIds, TwoOfOneNameAreNone) {
  const std::vector<Header> headers{{"x-request-id", "a"}, {"X-REQUEST-ID", "b"}};
  EXPECT_EQ(trace_ids({.headers = headers}).request_id, "");
}

}  // namespace
}  // namespace weir::observe
