// An HTTP server that limits itself by a policy file: server PORT POLICY. SIGHUP reads the policy again.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <httplib.h>
#include <weir/engine.h>

int main(int argc, char** argv) {
  const char* const file = argc > 2 ? argv[2] : "policy.yaml";
  const auto policy = weir::Policy::load(file);
  if (!policy) return std::fprintf(stderr, "%s\n", policy.error().message().c_str()), EXIT_FAILURE;
  auto engine = weir::Engine::create(*policy);
  if (!engine) return std::fprintf(stderr, "%s\n", engine.error().message().c_str()), EXIT_FAILURE;

  sigset_t signals;  // for this thread, and for none of the server's
  sigemptyset(&signals);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  httplib::Server server;
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    std::vector<weir::Header> headers;
    for (const auto& [name, value] : request.headers) headers.push_back({name, value});
    const weir::Verdict verdict = engine->evaluate({.method = request.method,
                                                    .path = request.target,
                                                    .ip = request.remote_addr,
                                                    .headers = headers,
                                                    .max_wait = weir::Duration::zero()});
    for (const auto& [name, value] : verdict.fields()) response.set_header(std::string(name), std::string(value));
    if (verdict) return httplib::Server::HandlerResponse::Unhandled;
    response.status = static_cast<int>(verdict.status());
    response.set_content(verdict.problem(), std::string(weir::Verdict::problem_type));
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get("/.*", [](const httplib::Request&, httplib::Response& response) { response.body = "hello\n"; });

  const int port = argc > 1 ? std::atoi(argv[1]) : 8080;  // 0: any that is free
  const int bound = port == 0                                ? server.bind_to_any_port("127.0.0.1")
                    : server.bind_to_port("127.0.0.1", port) ? port
                                                             : -1;
  if (bound < 0) return std::fprintf(stderr, "port %d cannot be bound\n", port), EXIT_FAILURE;
  std::printf("listening on 127.0.0.1:%d\n", bound);
  std::fflush(stdout);
  std::jthread serving([&] { server.listen_after_bind(); });
  for (int signal = 0; sigwait(&signals, &signal) == 0 && signal == SIGHUP;) {
    const auto changed = weir::Policy::load(file);
    const auto reloaded = changed ? engine->reload(*changed) : weir::Result<void>(tl::unexpected(changed.error()));
    std::printf("%s\n", reloaded ? "reloaded" : reloaded.error().message().c_str());
    std::fflush(stdout);
  }
  server.stop();
}
