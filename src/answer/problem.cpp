#include "answer/problem.h"

#include <array>
#include <cstddef>

#include "text/date.h"
#include "text/decimal.h"
#include "text/json.h"
#include "wire/fields/delta_seconds.h"
#include "wire/http1/response_writer.h"

namespace weir::answer {
namespace {

struct Words {
  unsigned status;
  std::string_view type;
  std::string_view title;
  std::string_view cause;  // the first words of the detail
};

constexpr std::array words{
    Words{429, "https://iana.org/assignments/http-problem-types#quota-exceeded",
          "Request cannot be satisfied as assigned quota has been exceeded", "Too many requests"},
    Words{503, "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
          "Request cannot be satisfied due to temporary server capacity constraints",
          "Capacity is temporarily reduced"},
    Words{429, "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
          "Request not satisfied due to detection of abnormal request pattern", "Blocked after too many denials"},
    Words{403, "about:blank", "Forbidden", "This request is not allowed"},
};

const Words& words_of(ProblemType type) noexcept {
  return words[static_cast<std::size_t>(type)];
}

// Writes everything up to the opening quote of `detail`, whose escaped text must follow.
void begin_problem(std::string& out, unsigned status, std::string_view type, std::string_view title) {
  out += R"({"type":")";
  out += type;
  out += R"(","title":")";
  out += title;
  out += R"(","status":)";
  text::append_number(out, status);
  out += R"(,"detail":")";
}

// Rounds up to the next whole second.
void append_time(std::string& out, Instant instant) {
  const text::Rfc3339 time = text::rfc3339(wire::later(instant, Duration{999'999}));
  out.append(time.data(), time.size());
}

void append_limit_name(std::string& out, const Problem& problem) {
  if (problem.violated_policies.empty()) {
    out += "of this request";
  } else {
    text::append_json_escaped(out, problem.violated_policies.front());
  }
}

void append_detail(std::string& out, const Problem& problem) {
  if (!problem.detail.empty()) {
    text::append_json_escaped(out, problem.detail);
    return;
  }
  if (!problem.retry_after) {
    out += "This request costs more than the limit ";
    append_limit_name(out, problem);
    out += " ever admits at once (";
    text::append_number(out, problem.limit);
    out += "). Retrying does not help.";
    return;
  }
  const std::uint64_t wait = wire::seconds_up(*problem.retry_after);
  out += words_of(problem.type).cause;
  out += ": the limit ";
  append_limit_name(out, problem);
  out += " is exceeded. Try again in ";
  text::append_number(out, wait);
  out += wait == 1 ? " second." : " seconds.";
}

}  // namespace

unsigned status_of(ProblemType type) noexcept {
  return words_of(type).status;
}

void append_problem(std::string& out, const Problem& problem) {
  const Words& text = words_of(problem.type);
  begin_problem(out, text.status, text.type, text.title);
  append_detail(out, problem);
  out += R"(","violated-policies":[)";
  for (std::size_t i = 0; i < problem.violated_policies.size(); ++i) {
    if (i > 0) out += ',';
    text::append_json_text(out, problem.violated_policies[i]);
  }
  out += ']';
  if (problem.type == ProblemType::forbidden) {
    if (!problem.missing.empty()) {
      out += R"(,"missing":)";
      text::append_json_text(out, problem.missing);
    }
    out += '}';
    return;
  }
  out += R"(,"limit":)";
  text::append_number(out, problem.limit);
  out += R"(,"retry_after":)";
  if (problem.retry_after) {
    text::append_number(out, wire::seconds_up(*problem.retry_after));
  } else {
    out += "null";
  }
  out += R"(,"reset_at":")";
  append_time(out, problem.reset_at);
  out += R"("})";
}

std::string problem_text(unsigned status, std::string_view detail) {
  std::string text;
  begin_problem(text, status, "about:blank", wire::http1::reason_phrase(status));
  text::append_json_escaped(text, detail);
  text += "\"}\n";
  return text;
}

}  // namespace weir::answer
