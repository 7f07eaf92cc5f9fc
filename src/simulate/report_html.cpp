// The report as one page: the JSON report with the script and style sheet that render it (report.js, report.css). The
// page loads nothing and can be opened from a file.
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/core.h>

#include "simulate/report.h"
#include "simulate/report_page.h"

namespace weir::simulate {
namespace {

// The Content-Security-Policy source `'sha256-...'` that allows exactly this script or style sheet.
std::string csp_hash(std::string_view source) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(source.data(), source.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, std::size_t{2} * EVP_MAX_MD_SIZE> text{};
  EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  return fmt::format("'sha256-{}'", reinterpret_cast<const char*>(text.data()));
}

// Makes JSON safe inside a script element: `<` occurs only in strings, and escaped it cannot close the element or open
// another.
std::string script_safe(std::string_view json) {
  std::string safe;
  for (const char c : json) c == '<' ? safe.append("\\u003c") : safe.append(1, c);
  return safe;
}

}  // namespace

std::string report_html(const Report& report) {
  return fmt::format(
      R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {}; style-src {}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>weir simulate</title>
<style>{}</style></head>
<body><main></main><noscript>This report requires JavaScript.</noscript>
<script type="application/json" id="report">{}</script>
<script>{}</script></body></html>
)",
      csp_hash(report_script()), csp_hash(report_style()), report_style(),
      script_safe(report_json(report, text::JsonWriter::Layout::one_line)), report_script());
}

}  // namespace weir::simulate
