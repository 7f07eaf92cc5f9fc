#include "observe/metrics_page.h"

#include <gtest/gtest.h>

#include "base/histogram.h"

namespace weir::observe {
namespace {

using enum MetricsPage::Type;

constexpr base::Scale<2> halves{1, {5, 10}};

TEST(MetricsPage, SamplesFollowTheirFamily) {
  MetricsPage page;
  page.family("a_total", counter, "Help.");
  page.sample({}, 3);
  page.sample({{"limit", "x"}, {"outcome", "denied"}}, 12'500'000, 6);
  page.family("b", gauge, "More help.");
  page.sample({}, 0);
  EXPECT_EQ(page.take(),
            "# HELP a_total Help.\n"
            "# TYPE a_total counter\n"
            "a_total 3\n"
            "a_total{limit=\"x\",outcome=\"denied\"} 12.5\n"
            "# HELP b More help.\n"
            "# TYPE b gauge\n"
            "b 0\n");
}

TEST(MetricsPage, LabelsAreEscaped) {
  MetricsPage page;
  page.family("a", gauge, "Help.");
  page.sample({{"route", "GET /\"a\\b\nc{id}"}}, 1);
  EXPECT_NE(page.take().find(R"(a{route="GET /\"a\\b\nc{id}"} 1)"), std::string::npos);
}

TEST(MetricsPage, HistogramCountsUpToEachBound) {
  MetricsPage page;
  page.family("h", histogram, "Help.");
  page.histogram({{"limit", "x"}}, halves, base::HistogramTotals<2>{{4, 2, 1}, 35});
  EXPECT_EQ(page.take(),
            "# HELP h Help.\n"
            "# TYPE h histogram\n"
            "h_bucket{limit=\"x\",le=\"0.5\"} 4\n"
            "h_bucket{limit=\"x\",le=\"1\"} 6\n"
            "h_bucket{limit=\"x\",le=\"+Inf\"} 7\n"
            "h_sum{limit=\"x\"} 3.5\n"
            "h_count{limit=\"x\"} 7\n");
}

}  // namespace
}  // namespace weir::observe
