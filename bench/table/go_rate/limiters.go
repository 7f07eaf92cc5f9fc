package main

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Seven per three hours, as in table/quota.h.
const tokensPerSecond = rate.Limit(7.0 / (3 * 60 * 60))

// limiters has one rate.Limiter per key, in a map behind a mutex.
type limiters struct {
	mutex sync.Mutex
	byKey map[string]*rate.Limiter
	burst int
}

// decide looks up without allocating; a string is made only when a key is first seen.
func (l *limiters) decide(k *key, now time.Time) bool {
	l.mutex.Lock()
	limiter, known := l.byKey[string(k[:])]
	if !known {
		limiter = rate.NewLimiter(tokensPerSecond, l.burst)
		l.byKey[string(k[:])] = limiter
	}
	l.mutex.Unlock()
	return limiter.AllowN(now, 1)
}

func (l *limiters) decideAll(numbers []uint32) (admitted int) {
	var block [blockLength]key
	for ; len(numbers) >= blockLength; numbers = numbers[blockLength:] {
		now := time.Now()
		for i := range block {
			writeKey(numbers[i], &block[i])
		}
		for i := range block {
			if l.decide(&block[i], now) {
				admitted++
			}
		}
	}
	return admitted
}
