// SPDX-License-Identifier: Apache-2.0

package weir

import (
	"fmt"
	"math/rand"
	"sync"
	"time"
)

// BreakerState is the state of a client's circuit breaker.
type BreakerState string

const (
	BreakerClosed   BreakerState = "closed"    // requests are sent
	BreakerOpen     BreakerState = "open"      // only probes are sent; Options.Fail decides at once
	BreakerHalfOpen BreakerState = "half_open" // a probe is in flight
)

// breaker stops requests to a server that does not answer. It is safe for concurrent use.
//
//  1. It opens after a number of consecutive failures: no connection, or no complete response within the timeout. Any
//     complete response closes it and resets the count.
//  2. While it is not closed, one request at a time is sent: the probe. It is half open while a probe is in flight.
//  3. The wait for a probe is random between half and all of the interval, which doubles with each failed probe, up to
//     maxInterval.
//  4. A request canceled by its caller counts as neither success nor failure.
//
// If the number of failures is 0, the breaker is disabled.
type breaker struct {
	failures      int
	firstInterval time.Duration
	maxInterval   time.Duration
	onChange      func(BreakerState)
	now           func() time.Time
	chance        func() float64
	mutex         sync.Mutex
	state         BreakerState
	inARow        int
	interval      time.Duration
	probeAt       time.Time // while it is open
}

func newBreaker(failures int, interval, maxInterval time.Duration, onChange func(BreakerState)) *breaker {
	return &breaker{failures: failures, firstInterval: interval, maxInterval: maxInterval, onChange: onChange,
		now: time.Now, chance: rand.Float64, state: BreakerClosed, interval: interval}
}

// begin returns whether the request is a probe, or fails if nothing may be sent. A request that it allows must end with
// succeeded, failed or givenUp.
func (b *breaker) begin() (isProbe bool, err error) {
	b.update(func() BreakerState {
		switch b.state {
		case BreakerClosed:
			return BreakerClosed
		case BreakerHalfOpen:
			err = fmt.Errorf("%w: a probe is in flight", ErrUnavailable)
			return BreakerHalfOpen
		}
		if wait := b.probeAt.Sub(b.now()); wait > 0 {
			err = fmt.Errorf("%w: the next probe is in %v", ErrUnavailable, wait.Round(time.Millisecond))
			return BreakerOpen
		}
		isProbe = true
		return BreakerHalfOpen
	})
	return isProbe, err
}

func (b *breaker) succeeded() {
	b.update(func() BreakerState {
		b.inARow = 0
		b.interval = b.firstInterval
		return BreakerClosed
	})
}

func (b *breaker) failed(isProbe bool) {
	b.update(func() BreakerState {
		switch {
		case b.state == BreakerClosed:
			if b.inARow++; b.inARow != b.failures {
				return BreakerClosed
			}
		case isProbe:
			if b.interval *= 2; b.interval > b.maxInterval {
				b.interval = b.maxInterval
			}
		default: // it began before the breaker opened
			return b.state
		}
		b.probeAt = b.now().Add(time.Duration(float64(b.interval) * (0.5 + 0.5*b.chance())))
		return BreakerOpen
	})
}

func (b *breaker) givenUp(isProbe bool) {
	b.update(func() BreakerState {
		if !isProbe || b.state != BreakerHalfOpen {
			return b.state
		}
		b.probeAt = b.now() // the next request is the probe
		return BreakerOpen
	})
}

func (b *breaker) current() BreakerState {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.state
}

// update reports a new state without holding the lock.
func (b *breaker) update(next func() BreakerState) {
	b.mutex.Lock()
	before := b.state
	b.state = next()
	after := b.state
	b.mutex.Unlock()
	if after != before && b.onChange != nil {
		b.onChange(after)
	}
}
