#include "app/man_page.h"

#include <cstddef>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "server/config_fields.h"

namespace weir::app {
namespace {

// Escapes text for roff: control characters, and characters that it would print as typographic marks.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        if (c == '.' && (out.empty() || out.back() == '\n')) out += "\\&";
        out += c;
    }
  }
  return out;
}

std::string title(std::string_view name, std::string_view section, std::string_view version, std::string_view manual) {
  return fmt::format(".TH {} {} \"\" \"weir {}\" \"{}\"\n", roff(base::upper(name)), section, version, manual);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

// Blank lines begin a paragraph. Indented lines are printed verbatim.
std::string body(std::string_view text) {
  std::string out;
  bool is_example = false;
  for (std::string_view line : lines_of(text)) {
    const bool is_indented = line.starts_with("  ");
    if (is_indented != is_example) {
      out += is_indented ? ".RS 4\n.nf\n" : ".fi\n.RE\n";
      is_example = is_indented;
    }
    if (is_indented) line.remove_prefix(2);
    out += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return out + (is_example ? ".fi\n.RE\n" : "");
}

// The footer of the help, split by kind of paragraph.
struct Footer {
  std::string description;
  std::string examples;
  std::string exit_codes;
};

Footer split_footer(std::string_view text) {
  Footer parts;
  std::string* part = &parts.description;
  for (std::string_view line : lines_of(text)) {
    constexpr std::string_view codes = "Exit codes: ";
    if (line == "Examples:" || line == "Example:") {
      part = &parts.examples;
      continue;
    }
    if (line.starts_with(codes)) {
      part = &parts.exit_codes;
      line.remove_prefix(codes.size());
    }
    if (line.empty() && part->empty()) continue;
    *part += std::string(line) + "\n";
  }
  for (std::string* each : {&parts.description, &parts.examples, &parts.exit_codes}) {
    while (each->ends_with("\n\n")) each->pop_back();
  }
  return parts;
}

std::string section(std::string_view name, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", name, text);
}

std::string value_of(const CommandOption& option) {
  return option.shown.empty() || option.shown == " " ? "" : fmt::format(" \\fI{}\\fR", roff(option.shown));
}

std::string items(const std::vector<CommandOption>& options) {
  std::string out;
  for (const CommandOption& option : options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
    const std::string name = names.empty() ? fmt::format("\\fI{}\\fR", roff(option.shown))
                                           : fmt::format("{}{}", fmt::join(names, ", "), value_of(option));
    out += fmt::format(".TP\n{}\n{}\n", name, roff(option.description));
  }
  return out;
}

std::string synopsis(const CommandTree& command) {
  std::string out = fmt::format("\\fBweir {}\\fR [\\fIOPTIONS\\fR]", roff(command.name));
  for (const CommandOption& argument : command.arguments) {
    const std::string name = fmt::format("\\fI{}\\fR{}", roff(argument.shown), argument.is_repeated ? "..." : "");
    out += argument.is_required ? " " + name : fmt::format(" [{}]", name);
  }
  return out + "\n";
}

// Returns the description in lower case, as whatis(1) lists it.
std::string as_summary(std::string text) {
  if (text.size() > 1 && base::is_lower(text[1])) text[0] = base::to_lower(text[0]);
  return text;
}

}  // namespace

std::string program_page(const CommandTree& weir, std::string_view version) {
  constexpr std::string_view subject = "Weir is ";
  const std::string first(lines_of(weir.description).front());
  const Footer parts = split_footer(weir.footer);
  std::string commands;
  std::string also;
  for (const CommandTree& command : weir.commands) {
    commands += fmt::format(".TP\n\\fBweir {}\\fR\n{}\n", roff(command.name), roff(command.description));
    also += fmt::format("\\fBweir\\-{}\\fR(1), ", roff(command.name));
  }
  std::string page = title("weir", "1", version, "User Commands");
  page += section(
      "NAME", fmt::format("weir \\- {}\n", roff(first.starts_with(subject) ? first.substr(subject.size()) : first)));
  page += section("SYNOPSIS", "\\fBweir\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...\n");
  page += section("DESCRIPTION", body(weir.description));
  page += section("COMMANDS", commands);
  page += section("OPTIONS", items(weir.options));
  page += section("EXAMPLES", body(parts.examples));
  page += section("EXIT STATUS", body(parts.exit_codes));
  return page + section("SEE ALSO", also + "\\fBweir.yaml\\fR(5)\n");
}

std::string command_page(const CommandTree& command, std::string_view version) {
  const std::string name = "weir-" + command.name;
  const Footer parts = split_footer(command.footer);
  std::string page = title(name, "1", version, "User Commands");
  page += section("NAME", fmt::format("{} \\- {}\n", roff(name), roff(as_summary(command.description))));
  page += section("SYNOPSIS", synopsis(command));
  page += section("DESCRIPTION", body(parts.description.empty() ? command.description + ".\n" : parts.description));
  page += section("ARGUMENTS", items(command.arguments));
  page += section("OPTIONS", items(command.options));
  page += section("EXAMPLES", body(parts.examples));
  page += section("EXIT STATUS", body(parts.exit_codes));
  return page + section("SEE ALSO", "\\fBweir\\fR(1), \\fBweir.yaml\\fR(5)\n");
}

std::string config_page(std::string_view version) {
  std::string fields;
  for (const server::Field& field : server::fields()) {
    const bool is_hint = field.kind.schema.empty() && !field.kind.is_section && field.help.empty();
    if (is_hint) continue;  // the field exists only for its error message
    std::string path(field.path);
    if (const std::size_t star = path.find('*'); star != std::string::npos) path.replace(star, 1, "NAME");
    fields += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(path), roff(field.help.empty() ? "A map." : field.help));
  }
  std::string page = title("weir.yaml", "5", version, "File Formats");
  page += section("NAME", "weir.yaml \\- configuration of weir\\-serve(1)\n");
  page += section("SYNOPSIS", ".I /etc/weir/weir.yaml\n");
  page +=
      section("DESCRIPTION",
              body("weir.yaml configures the server: listeners, access control, state, log and store. It names the\n"
                   "policy, the file with the limits. All fields except version are optional.\n"
                   "\n"
                   "Paths are relative to the directory of the file. Durations are written 500ms, 10s, 1min, 1h or\n"
                   "1day, sizes 64KiB, 256MiB or 2GiB. weir serve --check validates the file and shows the result.\n"));
  page += section("FIELDS", "NAME is one of http, rls, resp and admin.\n" + fields);
  page += section("EXAMPLES", body("  version: 1\n"
                                   "  policy: policy.yaml\n"
                                   "  listeners:\n"
                                   "    http: { listen: 127.0.0.1:8080 }\n"
                                   "    resp: off\n"
                                   "  state: { directory: /var/lib/weir }\n"));
  return page + section("SEE ALSO", "\\fBweir\\fR(1), \\fBweir\\-serve\\fR(1)\n");
}

}  // namespace weir::app
