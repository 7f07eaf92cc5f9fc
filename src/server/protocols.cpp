#include "server/protocols.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "frontend/admin/admin_frontend.h"
#include "frontend/http/http_frontend.h"
#include "frontend/resp/resp_frontend.h"
#include "frontend/rls/rls_frontend.h"
#include "server/secrets.h"
#include "store/local/snapshot_folder.h"

namespace weir::server {
namespace {

frontend::HttpOptions http_options(const FrontendOptions& from) {
  constexpr std::array headers{frontend::AuthHeaders::agreeing, frontend::AuthHeaders::original,
                               frontend::AuthHeaders::forwarded,
                               frontend::AuthHeaders::path};  // in the order of AuthHeaders
  frontend::HttpOptions options;
  options.limits.body_bytes = from.listener.max_body;
  options.hosts = frontend::HostNames(from.listener.hosts);
  options.token = from.token;
  options.auth_headers = headers[static_cast<std::size_t>(from.listener.auth_headers)];
  options.max_delay = from.listener.max_delay;
  options.max_delayed = (from.listener.max_delayed + from.loops - 1) / from.loops;
  return options;
}

frontend::RlsOptions rls_options(const FrontendOptions& from) {
  frontend::RlsOptions options;
  options.limits.body_bytes = from.listener.max_message;
  options.token = from.token;
  return options;
}

frontend::RespOptions resp_options(const FrontendOptions& from) {
  return {.limits = {}, .token = from.token, .admin_token = from.admin_token};
}

frontend::AdminOptions admin_options(const FrontendOptions& from) {
  return {.limits = {},
          .hosts = frontend::HostNames(from.listener.hosts),
          .token = from.token,
          .admin_token = from.admin_token,
          .named = from.named_tokens};
}

// Reports a reset over RESP like one over the admin listener.
void report_reset(frontend::AdminBackend& backend, const frontend::MadeReset& reset) {
  constexpr std::array outcomes{"done", "failed", "unanswered"};  // in the order of Outcome
  backend.changed({.what = "reset",
                   .limit = std::string(reset.limit),
                   .consumer = reset.consumer.empty() ? std::string() : backend.consumer_name(reset.consumer),
                   .outcome = outcomes[static_cast<std::size_t>(reset.outcome)]});
}

// A protocol whose frontends are configured with the result of `options_of`.
template <class FrontendType, auto options_of>
class ProtocolOf : public Protocol {
 public:
  using Protocol::Protocol;

  void change(std::size_t loop, const FrontendOptions& options) final { made_[loop]->change(options_of(options)); }

 protected:
  template <class... Arguments>
  [[nodiscard]] std::unique_ptr<frontend::Frontend> add(Arguments&&... arguments) {
    auto made = std::make_unique<FrontendType>(std::forward<Arguments>(arguments)...);
    made_.push_back(made.get());
    return made;
  }
  // One per loop.
  [[nodiscard]] const std::vector<FrontendType*>& made() const noexcept { return made_; }

 private:
  std::vector<FrontendType*> made_;
};

class HttpProtocol final : public ProtocolOf<frontend::HttpFrontend, http_options> {
 public:
  using ProtocolOf::ProtocolOf;

 private:
  std::unique_ptr<frontend::Frontend> make(const FrontendDependencies& with, const FrontendOptions& options) override {
    return add(with.context, with.health, http_options(options));
  }
};

// All loops share the quotas that the Envoys themselves enforce.
class RlsProtocol final : public ProtocolOf<frontend::RlsFrontend, rls_options> {
 public:
  using ProtocolOf::ProtocolOf;
  void set_nodes(std::uint32_t nodes, Instant now) override { quotas_->set_nodes(nodes, now); }

  void append_metrics(observe::MetricsPage& page) const override {
    using Type = observe::MetricsPage::Type;
    const frontend::Quotas::Figures figures = quotas_->figures();
    page.family("weir_quota_streams", Type::gauge, "Envoys connected to the quota service.");
    page.sample({}, figures.streams);
    page.family("weir_quota_buckets", Type::gauge, "Buckets that Envoys report to the quota service.");
    page.sample({}, figures.buckets);
    page.family("weir_quota_states", Type::gauge, "Limits, by consumer, that the quota service divides among Envoys.");
    page.sample({}, figures.states);
    page.family("weir_quota_assignments_total", Type::counter, "New or changed assignments.");
    page.sample({}, figures.assignments);
    page.family("weir_quota_renewals_total", Type::counter, "Assignments sent again unchanged.");
    page.sample({}, figures.renewals);
    page.family("weir_quota_rejected_total", Type::counter, "Bucket reports rejected because the table was full.");
    page.sample({}, figures.refused);
  }

 private:
  std::unique_ptr<frontend::Frontend> make(const FrontendDependencies& with, const FrontendOptions& options) override {
    return add(with.context, with.health, rls_options(options), quotas_);
  }

  const std::shared_ptr<frontend::Quotas> quotas_ = std::make_shared<frontend::Quotas>();
};

// CL.THROTTLE is not part of the policy, so it has its own states and figures.
class RespProtocol final : public ProtocolOf<frontend::RespFrontend, resp_options> {
 public:
  using ProtocolOf::ProtocolOf;

  static constexpr std::size_t memory_share = 4;  // 1/4 of state.memory

  [[nodiscard]] store::ThrottleTable* throttle_table() noexcept override { return throttles_.get(); }

  [[nodiscard]] Result<void> open_state(const StateOptions& options, Log& log) override {
    const std::size_t memory = options.memory / memory_share;
    std::error_code error;
    if (!options.folder.empty() && std::filesystem::exists(file_in(options.folder), error)) {
      auto restored = store::ThrottleTable::restore(file_in(options.folder), memory, options.now);
      if (restored) {
        throttles_ = std::move(*restored);
        return {};
      }
      log.warning(restored.error().message());
    }
    auto made = store::ThrottleTable::create(memory, options.hash_key);
    if (!made) return tl::unexpected(made.error());
    throttles_ = std::move(*made);
    return {};
  }
  [[nodiscard]] Result<void> save_state(const std::filesystem::path& folder, Instant now) override {
    return throttles_->save(file_in(folder), now);
  }
  [[nodiscard]] std::size_t state_bytes() const override { return throttles_->bytes_used(); }

  void add_traffic(observe::TrafficTotals& totals) const override {
    Protocol::add_traffic(totals);
    const auto [allowed, limited] = decisions();
    observe::TrafficCounts& throttles = totals.by_limit["CL.THROTTLE"];
    throttles.decisions += allowed + limited;
    throttles.denied += limited;
    totals.evaluated += allowed + limited;
    totals.denied_requests += limited;
  }

  void append_metrics(observe::MetricsPage& page) const override {
    using Type = observe::MetricsPage::Type;
    const auto [allowed, limited] = decisions();
    page.family("weir_throttle_decisions_total", Type::counter, "Decisions by CL.THROTTLE.");
    page.sample({{"outcome", "admitted"}}, allowed);
    page.sample({{"outcome", "denied"}}, limited);
    page.family("weir_throttle_table_bytes", Type::gauge, "Memory of CL.THROTTLE's states.");
    page.sample({}, throttles_->bytes_used());
    page.family("weir_throttle_overflowed_total", Type::counter,
                "Decisions by CL.THROTTLE on states that keys share because memory is full.");
    page.sample({}, throttles_->overflowed());
  }

 private:
  std::unique_ptr<frontend::Frontend> make(const FrontendDependencies& with, const FrontendOptions& options) override {
    const auto on_reset = [&backend = with.backend](const frontend::MadeReset& reset) { report_reset(backend, reset); };
    return add(with.context, resp_options(options), on_reset, transaction_budget_);
  }

  [[nodiscard]] static std::filesystem::path file_in(const std::filesystem::path& folder) {
    return store::SnapshotFolder(folder).file("throttle");
  }

  // Returns the numbers of allowed and limited decisions.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> decisions() const {
    std::pair<std::uint64_t, std::uint64_t> sum{};
    for (const frontend::RespFrontend* frontend : made()) {
      sum.first += frontend->throttle_counts().allowed.value();
      sum.second += frontend->throttle_counts().limited.value();
    }
    return sum;
  }

  std::unique_ptr<store::ThrottleTable> throttles_;
  const std::shared_ptr<frontend::TransactionBudget> transaction_budget_ =
      std::make_shared<frontend::TransactionBudget>();
};

class AdminProtocol final : public ProtocolOf<frontend::AdminFrontend, admin_options> {
 public:
  using ProtocolOf::ProtocolOf;
  void add_traffic(observe::TrafficTotals& /*totals*/) const override {}  // operators' requests do not count as traffic

 private:
  std::unique_ptr<frontend::Frontend> make(const FrontendDependencies& with, const FrontendOptions& options) override {
    return add(with.context, with.backend, with.health, admin_options(options));
  }
};

template <class Type>
std::unique_ptr<Protocol> make_protocol(const std::string& name) {
  return std::make_unique<Type>(name);
}

// A row of the table of protocols.
struct Entry {
  std::string_view name;
  std::string_view default_address;
  std::unique_ptr<Protocol> (*make)(const std::string& name);
  std::size_t memory_share = 0;  // its part of state.memory is 1/memory_share; 0: none
};

constexpr std::array<Entry, 4> entries{
    {{"http", "127.0.0.1:8080", make_protocol<HttpProtocol>},
     {"rls", "127.0.0.1:8081", make_protocol<RlsProtocol>},
     {"resp", "127.0.0.1:6390", make_protocol<RespProtocol>, RespProtocol::memory_share},
     {"admin", "127.0.0.1:8089", make_protocol<AdminProtocol>}}};

}  // namespace

std::vector<Listener> default_listeners() {
  std::vector<Listener> listeners;
  for (const Entry& entry : entries) {
    ListenerConfig& config =
        listeners.emplace_back(Listener{.name = std::string(entry.name), .config = {}}).config.emplace();
    config.listen.push_back(net::Address::parse(entry.default_address).value());
  }
  return listeners;
}

Result<FrontendOptions> frontend_options(const ListenerConfig& listener,
                                         const std::vector<frontend::NamedToken>& admin_tokens, std::size_t loops) {
  std::vector<std::string> writing;
  for (const frontend::NamedToken& token : admin_tokens) {
    if (token.role == frontend::NamedToken::Role::write) writing.push_back(token.secret);
  }
  FrontendOptions options{.listener = listener,
                          .token = {},
                          .admin_token = frontend::Token(std::move(writing)),
                          .named_tokens = admin_tokens,
                          .loops = loops};
  if (!listener.token_file) return options;
  auto token = read_token(*listener.token_file);
  if (!token) return tl::unexpected(token.error());
  options.token = frontend::Token(*std::move(token));
  return options;
}

std::unique_ptr<frontend::Frontend> Protocol::make_frontend(const FrontendDependencies& dependencies,
                                                            const FrontendOptions& options) {
  auto frontend = make(dependencies, options);
  frontends_.push_back(frontend.get());
  return frontend;
}

std::uint64_t Protocol::requests() const noexcept {
  std::uint64_t sum = 0;
  for (const frontend::Frontend* frontend : frontends_) sum += frontend->requests();
  return sum;
}

std::vector<std::unique_ptr<Protocol>> make_protocols(const Config& config) {
  std::vector<std::unique_ptr<Protocol>> protocols;
  for (const Entry& entry : entries) {
    if (config.listener(entry.name) != nullptr) protocols.push_back(entry.make(std::string(entry.name)));
  }
  return protocols;
}

std::size_t policy_memory(const Config& config) {
  std::size_t memory = config.state.memory;
  for (const Entry& entry : entries) {
    const bool has_share = entry.memory_share > 0 && config.listener(entry.name) != nullptr;
    if (has_share) memory -= config.state.memory / entry.memory_share;
  }
  return memory;
}

}  // namespace weir::server
