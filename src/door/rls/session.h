// One connection of the rate limit service door. Internal to the door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "door/rls/health_service.h"
#include "door/rls/rls_door.h"
#include "net/output.h"
#include "net/session.h"
#include "wire/http2/server.h"

namespace weir::door {

class RlsDoor::Session final : public net::Session {
 public:
  Session(RlsDoor& door, const net::Link& link);
  ~Session() override;

  std::size_t on_input(std::span<char> bytes, net::Output& out) override;
  void on_resume(net::Output& out) override;
  void on_tick(net::Moment now, net::Output& out) override;
  void on_end(net::Output& out) override;
  void on_drain(net::Output& out) override;
  [[nodiscard]] bool idle() const override;

 private:
  // Of exchanges that go on after their first message: Exchange::note.
  enum Note : std::uint32_t { nothing, watched, reflected, awaited };
  // An end is announced first; what the client sent before he knew of it is still served.
  enum class Stage : std::uint8_t { open, announced, closed };

  // Of calls that wait for verdicts. Calls that come behind them need not wait for them, as HTTP/2 lets answers come
  // in any order.
  static constexpr std::size_t most_waiting = 8;

  void serve_stirred(net::Output& out);
  void await(std::unique_ptr<CallBatch> batch);
  void pause_if_due(net::Output& out) const;
  void serve(Exchange& exchange);
  void serve_rate_limit(Exchange& exchange);
  [[nodiscard]] bool accept(Exchange& exchange);
  [[nodiscard]] bool knows_token(const Exchange& exchange) const noexcept;
  void reflect_on(Exchange& exchange);
  void end_streams();
  [[nodiscard]] std::uint64_t unanswered() const noexcept;
  void write(net::Output& out, bool alive = true);

  RlsDoor& door_;
  net::Link link_;
  wire::http2::Server server_;
  HealthService health_;
  std::vector<std::unique_ptr<CallBatch>> waiting_;  // their exchanges are kept
  bool peer_done_ = false;
  Stage stage_ = Stage::open;
  std::size_t longest_message_;
  std::uint64_t given_up_ = 0;  // that have been counted
};

}  // namespace weir::door
