// SPDX-License-Identifier: Apache-2.0

package weir

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ErrUnavailable is wrapped by errors after a timeout, a failed connection or an invalid response.
var ErrUnavailable = errors.New("Weir is unavailable")

// RefusedError means that Weir rejected the request. Status is that of the response, or 0 if the request was not sent.
type RefusedError struct {
	Status int
	Detail string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("Weir rejected the request (%d): %s", e.Status, e.Detail)
}

// DeniedError means that a reserve was denied.
type DeniedError struct{ Verdict Verdict }

func (e *DeniedError) Error() string { return "denied: " + e.Verdict.Reason }

// Verdict is the decision on a request.
type Verdict struct {
	Admitted   bool
	Reason     string
	Status     int     // 200, 429, or 403 where waiting never helps
	Limit      string  // the limit that the numbers describe; empty if none
	Quota      *uint64 // nil if there are no numbers
	Remaining  *uint64
	RetryAfter *time.Duration // nil: waiting does not help
	ResetAfter *time.Duration
	Delay      time.Duration // admitted by a queue: how long to wait before proceeding
	Route      string
	Tier       string
	Missing    string      // the identity that the request lacks
	Header     http.Header // the rate limit fields for the response
	Problem    []byte      // body of a denial, application/problem+json
}

// LimitResult is the result of a receipt or a report at one limit: done, ended, unknown, repeated or id_not_recorded.
type LimitResult struct {
	Limit      string // empty: the policy no longer has it
	Result     string
	Quota      *uint64
	Remaining  *uint64
	ResetAfter *time.Duration
	Lost       uint64 // used but not charged, because the limit's debt is bounded
}

// Settlement is the result of a receipt or a report.
type Settlement struct {
	Limits      []LimitResult
	ReceiptEnds time.Duration // extend: time until the receipt expires
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

type seconds float64

func (s *seconds) duration() *time.Duration {
	if s == nil {
		return nil
	}
	d := time.Duration(float64(*s)*1e6+0.5) * time.Microsecond
	return &d
}

func (s *seconds) orZero() time.Duration {
	if d := s.duration(); d != nil {
		return *d
	}
	return 0
}

type verdictJSON struct {
	Admitted    *bool    `json:"admitted"`
	Reason      string   `json:"reason"`
	Limit       string   `json:"limit"`
	Quota       *uint64  `json:"quota"`
	Remaining   *uint64  `json:"remaining"`
	RetryAfter  *seconds `json:"retry_after"`
	ResetAfter  *seconds `json:"reset_after"`
	Delay       *seconds `json:"delay"`
	Route       string   `json:"route"`
	Tier        string   `json:"tier"`
	Missing     string   `json:"missing"`
	Receipt     string   `json:"receipt"`
	ReceiptEnds *seconds `json:"receipt_ends"`
	NotKept     []string `json:"not_kept"`

	isUnavailable bool // Weir did not answer; it is unknown whether anything was charged
}

type settlementJSON struct {
	Limits []struct {
		Limit      string   `json:"limit"`
		Result     string   `json:"result"`
		Quota      *uint64  `json:"quota"`
		Remaining  *uint64  `json:"remaining"`
		ResetAfter *seconds `json:"reset_after"`
		Lost       uint64   `json:"lost"`
	} `json:"limits"`
	ReceiptEnds *seconds `json:"receipt_ends"`
}

// readVerdict fails if the response is not a verdict.
func readVerdict(from answer) (Verdict, verdictJSON, error) {
	var said verdictJSON
	err := json.Unmarshal(from.body, &said)
	if err != nil || said.Admitted == nil || !fits(*said.Admitted, from.status) {
		return Verdict{}, said, notAResult(from)
	}
	verdict := Verdict{
		Admitted: *said.Admitted, Reason: said.Reason, Status: from.status, Limit: said.Limit, Quota: said.Quota,
		Remaining: said.Remaining, RetryAfter: said.RetryAfter.duration(), ResetAfter: said.ResetAfter.duration(),
		Delay: said.Delay.orZero(), Route: said.Route, Tier: said.Tier, Missing: said.Missing,
		Header: fieldsForTheClient(from.header),
	}
	if !verdict.Admitted {
		verdict.Problem = problem(from.status, "This request is denied.")
		if server := from.header.Get("X-Weir-Problem"); server != "" {
			verdict.Problem = []byte(server)
		}
	}
	return verdict, said, nil
}

func fits(admitted bool, status int) bool {
	if admitted {
		return status == http.StatusOK
	}
	return status == http.StatusTooManyRequests || status == http.StatusForbidden
}

func readSettlement(from answer) (Settlement, error) {
	var said settlementJSON
	if err := json.Unmarshal(from.body, &said); err != nil || from.status != http.StatusOK || said.Limits == nil {
		return Settlement{}, notAResult(from)
	}
	settlement := Settlement{ReceiptEnds: said.ReceiptEnds.orZero()}
	for _, one := range said.Limits {
		settlement.Limits = append(settlement.Limits, LimitResult{Limit: one.Limit, Result: one.Result, Quota: one.Quota,
			Remaining: one.Remaining, ResetAfter: one.ResetAfter.duration(), Lost: one.Lost})
	}
	return settlement, nil
}

func fieldsForTheClient(header http.Header) http.Header {
	fields := http.Header{}
	for name, values := range header {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "ratelimit") || strings.HasPrefix(lower, "x-ratelimit-") || lower == "retry-after" {
			fields[name] = values
		}
	}
	return fields
}

func notAResult(from answer) error {
	var said struct{ Detail, Reason string }
	_ = json.Unmarshal(from.body, &said) // missing members stay empty
	detail := said.Detail
	if detail == "" {
		detail = said.Reason
	}
	if detail == "" {
		detail = "unexpected response"
	}
	if from.status >= 400 && from.status < 500 && from.status != http.StatusRequestTimeout {
		return &RefusedError{Status: from.status, Detail: detail}
	}
	return fmt.Errorf("%w: status %d, %s", ErrUnavailable, from.status, detail)
}

func unavailableVerdict(fail Fail) Verdict {
	if fail == Open {
		return Verdict{Admitted: true, Reason: "weir_unavailable", Status: http.StatusOK}
	}
	return denied("weir_unavailable", "The rate limiter is unavailable; this request is denied.")
}

func refusedVerdict() Verdict {
	return denied("refused", "This request cannot be evaluated and is denied.")
}

func denied(reason, detail string) Verdict {
	status := http.StatusTooManyRequests
	return Verdict{Reason: reason, Status: status, Problem: problem(status, detail)}
}

func problem(status int, detail string) []byte {
	return []byte(fmt.Sprintf(`{"type":"about:blank","title":%s,"status":%d,"detail":%s}`,
		jsonText(http.StatusText(status)), status, jsonText(detail)))
}
