// One connection of the HTTP door. Internal to the door.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "door/http/http_door.h"

namespace weir::door {

class HttpDoor::Session final : public HttpSession {
 public:
  Session(HttpDoor& door, const net::Peer& peer, const net::Link& link)
      : HttpSession(link, door.options_.limits, door.room_),
        door_(door),
        link_(link),
        ip_(peer.unix_socket ? "127.0.0.1" : peer.address) {}
  ~Session() override { let_go(); }

 private:
  void serve(std::span<const Request> requests, net::Output& out) override;
  [[nodiscard]] bool awaits_verdicts() const override { return batch_ != nullptr; }
  void answer_heard(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return door_.desk_.now(); }
  [[nodiscard]] std::size_t questions_in(const Request& request) const override;
  [[nodiscard]] bool asks_for_a_decision(const Request& request) const override;

  void ask_later(std::span<const Request> requests, net::Output& out);
  void let_go() noexcept;

  void read(std::span<const Request> requests, Batch& batch);
  [[nodiscard]] Task task_for(const Request& request, Batch& batch);
  [[nodiscard]] Task auth(const Request& request, std::string_view below, Batch& batch);
  [[nodiscard]] Task check(const Request& request, Batch& batch);
  [[nodiscard]] Task descriptors(const Request& request, Batch& batch);
  [[nodiscard]] Task health(std::string_view path) const;
  [[nodiscard]] bool may_ask(const Request& request) const noexcept;

  void answer_all(std::span<const Request> requests, const Batch& batch, const Ruling& ruling, net::Output& out);
  void answer(const Request& request, const Batch& batch, const Task& task, const Ruling& ruling, net::Output& out);
  void answer_auth(const Request& request, const engine::Verdict& verdict, const Ruling& ruling, net::Output& out);
  void answer_check(const Request& request, const engine::Verdict& verdict, const Ruling& ruling, std::string& out);
  void answer_checks(const Request& request, const Task& task, const Ruling& ruling, std::string& out);
  void answer_descriptors(const Request& request, const DescriptorRuling& ruling, std::string& out);
  [[nodiscard]] DescriptorRuling rule(const Batch& batch, const Task& task);
  void say(const Request& request, const Task& task, std::string& out);

  HttpDoor& door_;
  net::Link link_;
  std::string ip_;
  std::unique_ptr<Batch> batch_;  // that waits for verdicts; null: none
};

}  // namespace weir::door
