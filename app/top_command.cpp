#include <poll.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <simdjson.h>
#include <CLI/CLI.hpp>

#include "app/admin_client.h"
#include "app/commands.h"
#include "app/live_terminal.h"
#include "app/options.h"
#include "app/terminal.h"
#include "app/top_feed.h"
#include "app/top_screen.h"
#include "net/descriptor.h"

namespace weir::app {
namespace {

constexpr auto top_footer =
    "\n"
    "Keys: arrows select a limit, Enter shows its details, Esc goes back; s sorts, / filters, Space pauses,\n"
    "? shows all keys, q quits. Decisions and denials are those of the last minute.\n"
    "\n"
    "Examples:\n"
    "  weir top\n"
    "  weir top --once --sort traffic              # one screen of text\n"
    "  weir top --once --format json | jq '.limits[0].name'\n"
    "\n"
    "Exit codes: 0 success, 1 no terminal, or the server is unreachable or rejected the request, 2 usage\n"
    "error.";

struct TopOptions {
  AdminOptions admin;
  bool once = false;
  Format format = Format::text;
  Order order = Order::denied;
  std::string filter;
};

constexpr std::array<Word<Format>, 2> top_formats{{{"text", Format::text}, {"json", Format::json}}};
constexpr std::array<Word<Order>, 4> top_orders{
    {{"denied", Order::denied}, {"traffic", Order::traffic}, {"share", Order::share}, {"name", Order::name}}};

// Returns a part of a response, as the server wrote it.
std::string part_of(const std::string& answer, const char* pointer) {
  simdjson::dom::parser parser;
  simdjson::dom::element part;
  if (parser.parse(answer).at_pointer(pointer).get(part) != simdjson::SUCCESS) return "null";
  return simdjson::minify(part);
}

// Returns the limits in the order of the screen, except CL.THROTTLE, which is not part of the policy.
std::string limits_text(const std::string& answer, const std::vector<std::size_t>& chosen) {
  simdjson::dom::parser parser;
  simdjson::dom::element all;
  if (parser.parse(answer).at_pointer("/limits").get(all) != simdjson::SUCCESS) return "[]";
  std::string text;
  for (const std::size_t i : chosen) {
    simdjson::dom::element limit;
    if (all.at(i).get(limit) == simdjson::SUCCESS) text += (text.empty() ? "" : ",") + simdjson::minify(limit);
  }
  return "[" + text + "]";
}

void print_json(const TopAnswers& answers, const std::vector<std::size_t>& chosen) {
  fmt::print(R"({{"status":{},"limits":{},"throttle":{},"denied":{},"events":{},"cluster":{}}})"
             "\n",
             part_of(answers.status, ""), limits_text(answers.limits, chosen), part_of(answers.limits, "/throttle"),
             part_of(answers.denied, "/denied"), part_of(answers.events, "/events"), part_of(answers.cluster, ""));
}

int show_once(const TopOptions& options, const Access& access) {
  const auto answers = ask_top(access);
  if (!answers) return give_up(answers.error().message());
  TopData data;
  data.address = access.address.text();
  read_answers(*answers, data);
  Screen screen(charset_of_terminal(), options.order, options.filter);
  screen.update(std::move(data));
  if (options.format == Format::json) {
    print_json(*answers, screen.chosen());
    return ok;
  }
  const Paint paint(stdout);
  for (const Line& line : screen.whole(size_of_terminal().columns)) {
    fmt::print("{}\n", paint.is_on() ? painted(line, true) : text_of(line));
  }
  return ok;
}

// Blocks the signals that end or change the view, in this and later threads, and delivers them through a descriptor.
net::Descriptor signals_as_descriptor() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return net::Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

// Connects terminal, screen and server until the user quits.
class LiveView {
 public:
  LiveView(const TopOptions& options, Access access, TopData data)
      : screen_(charset_of_terminal(), options.order, options.filter),
        has_colours_(Paint(stdout).is_on()),
        signals_(signals_as_descriptor()),
        feed_(std::move(access), data) {
    screen_.update(std::move(data));
  }

  // Returns the exit code. A fatal signal is raised again after the terminal was restored.
  Result<int> run() {
    if (auto entered = terminal_.enter(); !entered) return tl::unexpected(entered.error());
    while (!is_over_) {
      if (auto drawn = terminal_.draw(screen_.lines(size_of_terminal()), has_colours_); !drawn) {
        return tl::unexpected(drawn.error());
      }
      if (auto waited = wait(); !waited) return tl::unexpected(waited.error());
    }
    terminal_.leave();
    if (ended_by_ != 0) end_by(ended_by_);
    return ok;
  }

 private:
  // Waits for a key, a signal or new data.
  Result<void> wait() {
    constexpr int moment = 50;  // milliseconds within which the rest of an escape sequence arrives
    std::array<pollfd, 3> waited{
        {{STDIN_FILENO, POLLIN, 0}, {signals_.number(), POLLIN, 0}, {feed_.descriptor(), POLLIN, 0}}};
    const int count = poll(waited.data(), waited.size(), keys_.is_waiting() ? moment : -1);
    if (count < 0 && errno != EINTR) return failure("the terminal", "cannot wait for keys");
    if (count <= 0) {
      press(keys_.flush());
      return {};
    }
    if (waited[1].revents != 0) return take_signal();
    if (waited[0].revents != 0) {
      const std::string bytes = terminal_.read();
      if (bytes.empty()) return failure("the terminal", "closed");
      press(keys_.read(bytes));
    }
    if (waited[2].revents != 0) screen_.update(feed_.take());
    return {};
  }

  void press(const std::vector<Press>& presses) {
    for (const Press& each : presses) is_over_ = is_over_ || !screen_.press(each);
    feed_.look_at(screen_.looked_at());
  }

  Result<void> take_signal() {
    signalfd_siginfo info{};
    if (read(signals_.number(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return {};
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGWINCH) return {};  // every frame queries the size
    if (number == SIGTSTP) {
      terminal_.leave();
      (void)std::raise(SIGSTOP);
      return terminal_.enter();
    }
    is_over_ = true;
    if (number != SIGINT) ended_by_ = number;
    return {};
  }

  [[noreturn]] static void end_by(int number) {
    (void)std::signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    (void)std::raise(number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    std::_Exit(failed);
  }

  Screen screen_;
  bool has_colours_;
  net::Descriptor signals_;
  TopFeed feed_;
  LiveTerminal terminal_;
  KeyReader keys_;
  bool is_over_ = false;
  int ended_by_ = 0;
};

int show_live(const TopOptions& options, const Access& access) {
  if (!LiveTerminal::is_there()) {
    return give_up("not a terminal; `weir top --once` prints one screen of text");
  }
  const auto answers = ask_top(access);
  if (!answers) return give_up(answers.error().message());
  TopData data;
  data.address = access.address.text();
  read_answers(*answers, data);
  const Result<int> code = [&] {
    LiveView view(options, access, std::move(data));
    return view.run();
  }();
  // The feed's thread may be blocked on the server and needs no cleanup.
  std::_Exit(code ? *code : give_up(code.error().message()));
}

int top(const TopOptions& options) {
  const auto access = find_access(options.admin, Right::read);
  if (!access) return give_up(access.error().message());
  return options.once ? show_once(options, *access) : show_live(options, *access);
}

}  // namespace

Command top_command(CLI::App& weir) {
  auto options = std::make_shared<TopOptions>();
  auto* line = weir.add_subcommand("top", "Watch a running server live: limits, denials, store, events");
  line->footer(std::string(admin_footer) + top_footer);
  auto* once = line->add_flag("--once", options->once, "Print one screen and exit");
  add_choice(*line, "--format", options->format, top_formats, "Format of --once (default: text)")->needs(once);
  add_choice(*line, "--sort", options->order, top_orders, "Order of the limits (default: denied)");
  add_text(*line, "--filter", options->filter, "TEXT", "Only limits whose name contains TEXT");
  add_admin_options(*line, options->admin);
  return {line, [options] { return top(*options); }};
}

}  // namespace weir::app
