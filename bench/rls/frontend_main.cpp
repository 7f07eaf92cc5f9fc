// The rate limit service listener on one loop, for measurements.
//
//   rls_frontend PORT POLICY
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "engine/engine.h"
#include "frontend/frontend.h"
#include "frontend/loop_context.h"
#include "frontend/rls/rls_frontend.h"
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
  if (count != 3) return fail("usage: rls_frontend PORT POLICY");
  std::ostringstream text;
  text << std::ifstream(arguments[2]).rdbuf();
  const policy::Loaded loaded = policy::load_text(text.str(), arguments[2]);
  if (!loaded.ruleset) return fail("the policy is not valid: see weir lint");
  auto engine = engine::Engine::create(loaded.ruleset, {});
  if (!engine) return fail(engine.error().message());
  const WallClock clock;
  frontend::LoopContext context(**engine, clock, {});
  const frontend::Health health;
  frontend::RlsFrontend rls(context, health, {});
  auto loops = net::Loops::make(1);
  const auto address = net::Address::parse(std::string("127.0.0.1:") + arguments[1]);
  if (!loops || !address) return fail("no loop, or no such port");
  const auto listener = net::Listener::open(
      **loops, *address, {}, [&](const net::Peer& peer, const net::Link& link) { return rls.open(peer, link); });
  if (!listener) return fail(listener.error().message());
  if (!(*loops)->start()) return fail("the loop does not start");
  ::pause();
}
