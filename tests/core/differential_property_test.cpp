// Every algorithm against its naive model, on random traces: all numbers of all decisions are equal.
#include "tests/core/differential.h"

#include <gtest/gtest.h>

#include "tests/core/generators.h"

namespace weir::core {
namespace {

template <class A>
class DifferentialProperty : public testing::Test {
 protected:
  static void agrees_with_its_model(Scale scale) {
    EXPECT_TRUE(rc::check([=] {
      const Numbers numbers = any_numbers(scale);
      const auto limit = limit_of<A>(numbers);
      RC_PRE(limit.has_value());
      RC_LOG() << numbers;
      Differential<A> both(*limit, any_start());
      for (const Operation& operation : any_trace(numbers)) {
        const auto difference = both.apply(operation);
        if (difference) RC_FAIL(*difference);
      }
    }));
  }
};

TYPED_TEST_SUITE(DifferentialProperty, AllAlgorithms::Apply<testing::Types>);

TYPED_TEST(DifferentialProperty, AgreesWithItsModelWhereEveryMicrosecondCounts) {
  this->agrees_with_its_model(Scale::microseconds);
}

TYPED_TEST(DifferentialProperty, AgreesWithItsModelAtOrdinaryRates) {
  this->agrees_with_its_model(Scale::seconds);
}

TYPED_TEST(DifferentialProperty, AgreesWithItsModelAtManyPerMicrosecond) {
  this->agrees_with_its_model(Scale::fast);
}

TYPED_TEST(DifferentialProperty, AgreesWithItsModelAtFewPerMonth) {
  this->agrees_with_its_model(Scale::slow);
}

}  // namespace
}  // namespace weir::core
