#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include <fmt/core.h>

#include "server/config.h"
#include "server/config_values.h"

namespace weir::server {
namespace {

RC_GTEST_PROP(Size, AsWrittenIsReadBack, ()) {
  const std::size_t bytes = *rc::gen::inRange<std::size_t>(1, std::size_t{1} << 30) * 1024;
  RC_ASSERT(parse_size(size_text(bytes), {}).value() == bytes);
}

RC_GTEST_PROP(Sample, HasTheValueOfItsFraction, ()) {
  const auto whole = *rc::gen::inRange<std::uint64_t>(1, 1'000'001);
  const auto part = *rc::gen::inRange<std::uint64_t>(1, whole + 1);
  const Share share = parse_sample(fmt::format("{}/{}", part, whole)).value();
  RC_ASSERT(share.part * whole == share.whole * part);
  RC_ASSERT(parse_sample(fmt::format("{}/{}", share.part, share.whole)).value() == share);
}

// Few addresses, so that they often coincide.
struct Spot {
  const char* text;
  int network;  // bits: IPv4 127.0.0.1 is 1, 127.0.0.2 is 2, all of IPv4 is 3; ::1 is 4; all of both is 7
  int port;
};

const std::vector<Spot> spots{
    {"127.0.0.1:1", 1, 1}, {"127.0.0.2:1", 2, 1}, {"0.0.0.0:1", 3, 1}, {"[::1]:1", 4, 1}, {"[::]:1", 7, 1},
    {"127.0.0.1:2", 1, 2}, {"127.0.0.2:2", 2, 2}, {"0.0.0.0:2", 3, 2}, {"[::1]:2", 4, 2}, {"[::]:2", 7, 2},
};

RC_GTEST_PROP(Listeners, AreRefusedIfAndOnlyIfTwoAddressesMeet, ()) {
  const auto chosen = *rc::gen::container<std::vector<Spot>>(4, rc::gen::elementOf(spots));
  bool meet = false;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      meet = meet || (chosen[i].port == chosen[j].port && (chosen[i].network & chosen[j].network) != 0);
    }
  }
  const std::string text = fmt::format(
      "version: 1\nlisteners:\n  http: {{ listen: \"{}\", exposed: true }}\n  rls: {{ listen: \"{}\", exposed: true "
      "}}\n"
      "  resp: {{ listen: \"{}\", exposed: true }}\n  admin: {{ listen: \"{}\", exposed: true }}\n",
      chosen[0].text, chosen[1].text, chosen[2].text, chosen[3].text);
  RC_ASSERT(load_config_text(text, "weir.yaml", {}).config.has_value() == !meet);
}

}  // namespace
}  // namespace weir::server
