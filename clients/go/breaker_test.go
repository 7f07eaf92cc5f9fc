package weir

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"
)

// breakerTest is a breaker on a manual clock, without randomness.
type breakerTest struct {
	*breaker
	t       *testing.T
	clock   time.Time
	changes []BreakerState
}

func newBreakerTest(t *testing.T, failures int) *breakerTest {
	b := &breakerTest{t: t, clock: time.Unix(100, 0)}
	b.breaker = newBreaker(failures, time.Second, 3*time.Second, func(s BreakerState) { b.changes = append(b.changes, s) })
	b.now = func() time.Time { return b.clock }
	b.chance = func() float64 { return 1 }
	return b
}

func (b *breakerTest) mustBegin() bool {
	b.t.Helper()
	isProbe, err := b.begin()
	if err != nil {
		b.t.Fatal(err)
	}
	return isProbe
}

func (b *breakerTest) failTimes(count int) {
	b.t.Helper()
	for i := 0; i < count; i++ {
		b.failed(b.mustBegin())
	}
}

func (b *breakerTest) succeed() {
	b.t.Helper()
	b.mustBegin()
	b.succeeded()
}

func (b *breakerTest) nothingIsSent() {
	b.t.Helper()
	if _, err := b.begin(); !errors.Is(err, ErrUnavailable) {
		b.t.Fatalf("it is sent: %v", err)
	}
}

func (b *breakerTest) is(state BreakerState) {
	b.t.Helper()
	if b.current() != state {
		b.t.Fatalf("it is %v", b.current())
	}
}

func TestABreakerOpensAfterFailuresInARow(t *testing.T) {
	b := newBreakerTest(t, 2)
	b.failTimes(1)
	b.succeed()
	b.failTimes(1)
	b.is(BreakerClosed)
	b.failTimes(1)
	b.is(BreakerOpen)
	b.nothingIsSent()
}

func TestProbesAreSentOneAtATimeAtIntervalsThatDouble(t *testing.T) {
	b := newBreakerTest(t, 2)
	b.failTimes(2)
	expected := []BreakerState{BreakerOpen}
	for _, interval := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second} {
		b.clock = b.clock.Add(interval - 1)
		b.nothingIsSent()
		b.clock = b.clock.Add(1)
		isProbe := b.mustBegin()
		b.is(BreakerHalfOpen)
		b.nothingIsSent()
		b.failed(isProbe)
		expected = append(expected, BreakerHalfOpen, BreakerOpen)
	}
	b.clock = b.clock.Add(3 * time.Second)
	b.succeed()
	if expected = append(expected, BreakerHalfOpen, BreakerClosed); !reflect.DeepEqual(b.changes, expected) {
		t.Errorf("it told of %v", b.changes)
	}
	b.failTimes(2)
	b.clock = b.clock.Add(time.Second)
	b.succeed() // the first interval again
}

func TestJitterTakesUpToHalfOfTheWait(t *testing.T) {
	b := newBreakerTest(t, 1)
	b.chance = func() float64 { return 0 }
	b.failTimes(1)
	b.clock = b.clock.Add(time.Second/2 - 1)
	b.nothingIsSent()
	b.clock = b.clock.Add(1)
	b.succeed()
}

func TestALateAnswerClosesTheBreakerAndALateFailureChangesNothing(t *testing.T) {
	b := newBreakerTest(t, 2)
	late := b.mustBegin()
	b.mustBegin()
	b.failTimes(2)
	b.failed(late)
	b.clock = b.clock.Add(time.Second)
	b.succeed() // the wait has not doubled
	b.failTimes(2)
	b.succeeded()
	b.is(BreakerClosed)
}

func TestAProbeThatIsGivenUpMakesRoomForTheNext(t *testing.T) {
	b := newBreakerTest(t, 2)
	b.failTimes(2)
	b.clock = b.clock.Add(time.Second)
	b.givenUp(b.mustBegin())
	b.is(BreakerOpen)
	b.succeed()
	b.givenUp(b.mustBegin())
	b.is(BreakerClosed)
}

func TestAContextThatIsOverSaysNothingAboutTheServer(t *testing.T) {
	hanging := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hanging }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(hanging) })
	client := newClient(t, Options{URL: server.URL, BreakerFailures: 1})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if verdict := client.Check(ctx, Query{}); verdict.Reason != "canceled" || client.BreakerState() != BreakerClosed {
		t.Errorf("it says %+v, and the breaker is %v", verdict, client.BreakerState())
	}
}
