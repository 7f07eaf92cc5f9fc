// One connection of the rate limit service door. Internal to the door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "door/rls/health_service.h"
#include "door/rls/rls_door.h"
#include "net/output.h"
#include "net/session.h"
#include "wire/http2/server.h"

namespace weir::door {

class RlsDoor::Session final : public net::Session {
 public:
  Session(RlsDoor& door, const net::Link& link);
  ~Session() override { door_.rate_limits_.drop(std::move(waiting_)); }

  std::size_t on_input(std::span<char> bytes, net::Output& out) override;
  void on_resume(net::Output& out) override;
  void on_tick(net::Moment now, net::Output& out) override;
  void on_drain(net::Output& out) override;
  [[nodiscard]] bool idle() const override;

 private:
  // Of exchanges that go on after their first message: Exchange::note.
  enum Note : std::uint32_t { nothing, watched, reflected };
  // An end is announced first; what the client sent before he knew of it is still served.
  enum class Stage : std::uint8_t { open, announced, closed };

  void serve_stirred(net::Output& out);
  void serve(Exchange& exchange);
  [[nodiscard]] bool accept(Exchange& exchange);
  [[nodiscard]] bool knows_token(const Exchange& exchange) const noexcept;
  void reflect_on(Exchange& exchange);
  void end_streams();
  void write(net::Output& out, bool alive = true);

  RlsDoor& door_;
  net::Link link_;
  wire::http2::Server server_;
  HealthService health_;
  // Calls that wait for verdicts; null: none. Nothing is received meanwhile, so their exchanges stay.
  std::unique_ptr<CallBatch> waiting_;
  Stage stage_ = Stage::open;
  std::size_t longest_message_;
};

}  // namespace weir::door
