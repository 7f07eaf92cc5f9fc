#include "simulate/access_log.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

namespace bench::simulate {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seed = 20'231'010;
constexpr std::uint32_t addresses = 50'000;
constexpr double exponent = 0.99;
constexpr std::uint32_t max_gap = 1'000;  // microseconds between lines; the mean is half of it
constexpr std::chrono::sys_seconds start = std::chrono::sys_days{2023y / 10 / 10} + 13h;

struct Route {
  std::uint32_t weight;  // of 100
  std::string_view method;
  std::string_view before;  // the number
  std::string_view after;
};

constexpr std::array<Route, 8> routes{{
    {30, "GET", "/api/v1/items/", ""},
    {20, "GET", "/api/v1/users/", "/orders?page=2&per_page=50"},
    {10, "POST", "/api/v1/search?q=", "&sort=price&lang=en"},
    {5, "POST", "/login?attempt=", ""},
    {15, "GET", "/assets/app.", ".js"},
    {10, "GET", "/images/products/", "/large.webp"},
    {7, "PUT", "/api/v1/carts/", "/lines"},
    {3, "DELETE", "/api/v1/sessions/", ""},
}};

constexpr std::array<std::string_view, 6> agents{
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/118.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/118.0",
    "okhttp/4.11.0",
    "curl/7.88.1",
    "python-requests/2.31.0",
};
constexpr std::array<std::string_view, 3> referers{"-", "https://shop.example.org/", "https://shop.example.org/search"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

AccessLog::AccessLog()
    : random_(seed),
      address_(addresses, exponent),
      micros_(static_cast<std::uint64_t>(std::chrono::microseconds{start.time_since_epoch()}.count())) {}

void AccessLog::append_line(std::string& log) {
  append_client(log);
  append_time(log);
  if (below(5'000) == 0) {
    log += "\"\\x16\\x03\\x01\\x02\\x00\" 400 157 \"-\" \"-\"\n";
    return;
  }
  append_request(log);
  append_tail(log);
}

std::uint32_t AccessLog::below(std::uint32_t bound) {
  return static_cast<std::uint32_t>((random_() >> 32) * bound >> 32);
}

void AccessLog::append_client(std::string& log) {
  const std::uint32_t rank = address_(random_);
  const std::uint32_t scattered = rank * 2'654'435'761U;
  std::array<char, 64> text{};
  if (rank % 8 == 0) {
    std::snprintf(text.data(), text.size(), "2001:db8:%x:%x::%x", scattered >> 16, scattered & 0xffff, rank % 64 + 1);
  } else {
    std::snprintf(text.data(), text.size(), "%u.%u.%u.%u", 11 + scattered % 200, scattered >> 24,
                  (scattered >> 16) & 255, (scattered >> 8) & 255);
  }
  log += text.data();
  log += " - ";
  log += rank % 3 == 0 ? "user" + std::to_string(rank) : "-";
}

void AccessLog::append_time(std::string& log) {
  micros_ += below(max_gap);
  const std::chrono::sys_seconds now{std::chrono::seconds{micros_ / 1'000'000}};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{now - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), " [%02u/%s/%04d:%02d:%02d:%02d +0000] ", static_cast<unsigned>(date.day()),
                months[static_cast<unsigned>(date.month()) - 1].data(), static_cast<int>(date.year()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  log += text.data();
}

void AccessLog::append_request(std::string& log) {
  std::uint32_t drawn = below(100);
  const Route* route = routes.data();
  while (drawn >= route->weight) drawn -= (route++)->weight;
  log += '"';
  log += route->method;
  log += ' ';
  log += route->before;
  log += std::to_string(below(1'000'000));
  log += route->after;
  log += below(2) == 0 ? " HTTP/1.1\"" : " HTTP/2.0\"";
}

void AccessLog::append_tail(std::string& log) {
  log += below(50) == 0 ? " 404 " : " 200 ";
  log += std::to_string(below(40'000));
  log += " \"";
  log += referers[below(referers.size())];
  log += "\" \"";
  log += agents[below(agents.size())];
  log += "\"\n";
}

}  // namespace bench::simulate
