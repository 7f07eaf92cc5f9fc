// Sends requests as fast as a server answers and prints the result as one line of JSON.
//
//   load PORT [--connections N] [--pipeline N] [--seconds S] [--requests N] [--keys N] PROTOCOL
//
//   resp COMMAND...          --admitted 0|1: the first integer of a reply that admits
//   http PATH [BODY]         --admitted TEXT, --denied TEXT: in the body of a response, if its status does not tell
//   grpc PATH MESSAGE-FILE   --evaluate rls|gubernator|throttlecrab: how an answer denies
//
// ###### in a command, body or message is replaced by a random key number for each request.
#include <charconv>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "load/client.h"

namespace {

using namespace bench::load;

double number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw std::invalid_argument("not a number: " + std::string(text));
  }
  return number;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument("cannot read " + path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

struct Asked {
  Extent extent;
  Question question;
};

void set(Asked& asked, std::string_view option, const std::string& value) {
  Extent& extent = asked.extent;
  if (option == "--admitted") {
    asked.question.admitted = value;
  } else if (option == "--denied") {
    asked.question.denied = value;
  } else if (option == "--evaluate") {
    asked.question.evaluate = value;
  } else if (option == "--connections") {
    extent.connections = static_cast<std::size_t>(number_of(value));
  } else if (option == "--pipeline") {
    extent.pipeline = static_cast<std::size_t>(number_of(value));
  } else if (option == "--requests") {
    extent.requests = static_cast<std::uint64_t>(number_of(value));
  } else if (option == "--keys") {
    extent.keys = static_cast<std::uint32_t>(number_of(value));
  } else if (option == "--seconds") {
    extent.time = std::chrono::nanoseconds(static_cast<std::int64_t>(number_of(value) * 1e9));
  } else {
    throw std::invalid_argument("no such option: " + std::string(option));
  }
}

Asked read(std::span<char* const> words) {
  Asked asked;
  if (words.size() < 3) throw std::invalid_argument("usage: load PORT [OPTIONS] PROTOCOL ...");
  asked.extent.port = static_cast<std::uint16_t>(number_of(words[1]));
  std::size_t at = 2;
  for (; at + 1 < words.size() && std::string_view(words[at]).starts_with("--"); at += 2) {
    set(asked, words[at], words[at + 1]);
  }
  if (at >= words.size()) throw std::invalid_argument("no protocol");
  Question& question = asked.question;
  question.protocol = words[at++];
  const auto rest = words.subspan(at);
  if (question.protocol == "resp") {
    question.command.assign(rest.begin(), rest.end());
  } else {
    if (!rest.empty()) question.path = rest[0];
    if (rest.size() > 1) question.body = question.protocol == "grpc" ? content_of(rest[1]) : rest[1];
  }
  const Extent& extent = asked.extent;
  if (extent.time.count() == 0 && extent.requests == 0) throw std::invalid_argument("no --seconds and no --requests");
  if (extent.connections == 0 || extent.pipeline == 0 || extent.pipeline > max_in_flight_requests) {
    throw std::invalid_argument("connections or pipeline out of range");
  }
  if (extent.keys == 0 || extent.keys > max_keys) throw std::invalid_argument("keys out of range");
  return asked;
}

MakeProtocol protocol_of(const Question& question, std::size_t pipeline) {
  if (question.protocol == "resp") return resp_protocol(question, pipeline);
  if (question.protocol == "http") return http_protocol(question, pipeline);
  if (question.protocol == "grpc") return grpc_protocol(question, pipeline);
  throw std::invalid_argument("no such protocol: " + question.protocol);
}

void print(const Result& result) {
  const auto microseconds = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e3; };
  const auto seconds = static_cast<double>(result.time.count()) / 1e9;
  const auto requests = static_cast<double>(result.tally.answered());
  std::cout << "{\"requests\":" << result.tally.answered() << ",\"admitted\":" << result.tally.admitted
            << ",\"denied\":" << result.tally.denied << ",\"seconds\":" << seconds << ",\"rate\":" << requests / seconds
            << ",\"p50_us\":" << microseconds(result.tally.latencies.percentile(50))
            << ",\"p99_us\":" << microseconds(result.tally.latencies.percentile(99))
            << ",\"client_cpu_us\":" << microseconds(result.processor) / requests
            << ",\"client_busy\":" << microseconds(result.processor) / 1e6 / seconds << "}\n";
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Asked asked = read({arguments, static_cast<std::size_t>(count)});
    print(run(asked.extent, protocol_of(asked.question, asked.extent.pipeline)));
    return EXIT_SUCCESS;
  } catch (const std::exception& problem) {
    std::cerr << "load: " << problem.what() << '\n';
    return EXIT_FAILURE;
  }
}
