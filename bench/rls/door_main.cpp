// The rate limit service door on one loop, for measurements.
//
//   rls_door PORT POLICY
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "door/desk.h"
#include "door/health.h"
#include "door/rls/rls_door.h"
#include "engine/engine.h"
#include "net/listener.h"
#include "net/loop.h"
#include "policy/load.h"
#include "weir/clock.h"

namespace {

using namespace weir;

int fail(const std::string& why) {
  std::cerr << why << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return fail("usage: rls_door PORT POLICY");
  std::ostringstream text;
  text << std::ifstream(arguments[2]).rdbuf();
  const policy::Loaded loaded = policy::load_text(text.str(), arguments[2]);
  if (!loaded.ruleset) return fail("the policy is not valid: see weir lint");
  auto engine = engine::Engine::create(loaded.ruleset, {});
  if (!engine) return fail(engine.error().message());
  const WallClock clock;
  door::Desk desk(**engine, clock, {});
  const door::Health health;
  door::RlsDoor door(desk, health, {});
  auto loops = net::Loops::make(1);
  const auto address = net::Address::parse(std::string("127.0.0.1:") + arguments[1]);
  if (!loops || !address) return fail("no loop, or no such port");
  const auto listener = net::Listener::open(
      **loops, *address, {}, [&](const net::Peer& peer, const net::Link& link) { return door.open(peer, link); });
  if (!listener) return fail(listener.error().message());
  if (!(*loops)->start()) return fail("the loop does not start");
  ::pause();
}
