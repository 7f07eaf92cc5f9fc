// One connection of the admin door. Internal to the door.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "door/admin/admin_door.h"
#include "door/admin/consumer.h"
#include "door/admin/descriptor.h"
#include "door/admin/target.h"
#include "door/inquiry.h"
#include "wire/http1/response_writer.h"

namespace weir::door {

class AdminDoor::Session final : public HttpSession {
 public:
  Session(AdminDoor& door, const net::Link& link)
      : HttpSession(link, door.options_.limits, door.room_), door_(door), link_(link) {}

 private:
  struct Answer {
    unsigned status = 200;
    std::string body{};  // of an error: what is wrong, for problem details
    std::string_view content_type = "application/json";
    Header extra{};  // one more header field; without a name: none
  };

  // What a request is about, and who may ask.
  enum class Subject {
    healthz,
    readyz,
    metrics,
    status,
    ruleset,
    denied,
    inspect,
    reset,
    inspect_descriptor,
    reset_descriptor,
    reload,
  };
  struct Endpoint {
    Subject subject;
    std::string_view limit{};  // or the domain; views into the target
    std::string_view consumer{};
  };

  // A question about a counter.
  using Task = std::variant<ConsumerTask, DescriptorTask>;

  // One that a shared store is to answer.
  struct Pending {
    Pending(Ticket awaited, Task asked, wire::http1::ResponseHead start, wire::http1::Body sent, Desk& desk)
        : ticket(awaited), task(std::move(asked)), head(start), body(sent), inquiry(desk) {}

    Ticket ticket;
    Task task;
    wire::http1::ResponseHead head;
    wire::http1::Body body;
    Inquiry inquiry;
  };

  void serve(std::span<const Request> requests, net::Output& out) override;
  void answer_heard(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return door_.desk_.now(); }

  [[nodiscard]] static std::optional<Endpoint> endpoint_of(const Target& target);
  [[nodiscard]] static bool changes_state(Subject subject) noexcept;

  void respond(const Request& request, net::Output& out);
  // Nothing: go on.
  [[nodiscard]] std::optional<Answer> refuse(const Request& request, Subject subject) const;
  [[nodiscard]] std::optional<Answer> refuse_change(std::span<const Header> headers) const;
  [[nodiscard]] Answer answer_to(const Endpoint& endpoint, const Target& target);
  [[nodiscard]] Answer health(Subject subject) const;
  [[nodiscard]] Answer denied(const Target& target);

  void treat_counter(const Request& request, const Endpoint& endpoint, const Target& target, net::Output& out);
  [[nodiscard]] static Result<Task> task_of(const Endpoint& endpoint, const Target& target);
  [[nodiscard]] Answer answer_of(const Task& task, Result<std::string> said);

  void start_reload(const Request& request, net::Output& out);
  void finish_reload(Ticket ticket, wire::http1::ResponseHead head, const Result<AdminBackend::Reload>& reloaded);

  static void write(std::string& out, const wire::http1::ResponseHead& head, const Answer& answer,
                    wire::http1::Body body);

  AdminDoor& door_;
  net::Link link_;
  bool reloading_ = false;
  std::vector<std::unique_ptr<Pending>> pending_;
};

}  // namespace weir::door
