// A policy with every kind of limit, and random requests that match them.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "tests/match/request.h"

namespace weir::engine {

inline constexpr auto every_kind_of_limit = R"(
version: 1
limits:
  - name: a
    consumer_key: ip
    algorithm: token_bucket
    rate: 10/min
    burst: 4
    warn_first: { count: 2, per: 1h }
    candidate: { algorithm: sliding_window_log, rate: 3/min }
  - { name: s1, consumer_key: ip, algorithm: gcra, rate: 1/min, mode: shadow }
  - name: b
    routes: [/x]
    consumer_key: global
    algorithm: sliding_window_counter
    rate: 9/min
    candidate: { rate: 2/min }
  - { name: s2, routes: [/x], consumer_key: global, algorithm: fixed_window, rate: 1/min, mode: shadow }
  - name: c
    consumer_key: ip
    algorithm: fixed_window
    rate: 20/min
    penalty: { after: 3, within: 1min, block: 2min }
    candidate: { algorithm: token_bucket, rate: 5/min, burst: 50 }
  - { name: q, routes: [/x], consumer_key: ip, algorithm: leaky_bucket, rate: 30/min, queue: 3 }
)";

struct Step {
  unsigned client;
  bool to_x;
  unsigned cost;
  unsigned wait_ms;  // the time before it
  unsigned kind;     // the kind of request: what else it contains

  [[nodiscard]] match::Request request() const {
    return match::Request::to(to_x ? "GET /x" : "GET /y").from("203.0.113." + std::to_string(client)).costing(cost);
  }
};

inline rc::Gen<std::vector<Step>> steps() {
  return rc::gen::container<std::vector<Step>>(
      rc::gen::construct<Step>(rc::gen::inRange(1U, 4U), rc::gen::arbitrary<bool>(), rc::gen::inRange(0U, 5U),
                               rc::gen::inRange(0U, 20'000U), rc::gen::inRange(0U, 10U)));
}

}  // namespace weir::engine
