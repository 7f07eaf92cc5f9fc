package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"weir"
)

type object = map[string]any

type clientSettings struct {
	URL     string  `json:"url"`
	Timeout float64 `json:"timeout"`
	Fail    string  `json:"fail"`
	Token   string  `json:"token"`
	CA      string  `json:"ca"`

	BreakerFailures    int     `json:"breaker_failures"`
	BreakerInterval    float64 `json:"breaker_interval"`
	BreakerMaxInterval float64 `json:"breaker_max_interval"`
	onBreaker          func(weir.BreakerState)
}

type query struct {
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	IP      string      `json:"ip"`
	User    string      `json:"user"`
	APIKey  string      `json:"api_key"`
	Tier    string      `json:"tier"`
	Headers [][2]string `json:"headers"`
	Cost    *uint64     `json:"cost"`
	MaxWait *float64    `json:"max_wait"`
}

type command struct {
	New        *clientSettings `json:"new"`
	Check      *query          `json:"check"`
	Peek       *query          `json:"peek"`
	Reserve    *query          `json:"reserve"`
	Within     *query          `json:"within"`
	Report     *query          `json:"report"`
	Burst      *query          `json:"burst"`
	Count      int             `json:"count"`
	Breaker    bool            `json:"breaker"`
	Settle     string          `json:"settle"`
	SettleText string          `json:"settle_text"`
	Release    string          `json:"release"`
	Extend     string          `json:"extend"`
	As         string          `json:"as"`
	ID         string          `json:"id"`
	Then       string          `json:"then"`
	Actual     uint64          `json:"actual"`
	Lease      float64         `json:"lease"`
}

var errOfTheWork = errors.New("of the work")

type driver struct {
	client       *weir.Client
	reservations map[string]*weir.Reservation
	mutex        sync.Mutex
	told         []string
	changes      []weir.BreakerState
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func (s clientSettings) client(onError func(error)) (*weir.Client, error) {
	fail := weir.Open
	if s.Fail == "closed" {
		fail = weir.Closed
	}
	options := weir.Options{URL: s.URL, Timeout: duration(s.Timeout), Fail: fail, Token: s.Token, OnError: onError,
		BreakerFailures: s.BreakerFailures, BreakerInterval: duration(s.BreakerInterval),
		BreakerMaxInterval: duration(s.BreakerMaxInterval), OnBreaker: s.onBreaker}
	if s.CA != "" {
		certificate, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, err
		}
		options.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		options.TLS.RootCAs.AppendCertsFromPEM(certificate)
	}
	return weir.New(options)
}

func (q *query) asked() weir.Query {
	header := http.Header{}
	for _, pair := range q.Headers {
		header[pair[0]] = append(header[pair[0]], pair[1])
	}
	asked := weir.Query{Method: q.Method, Path: q.Path, IP: q.IP, User: q.User, APIKey: q.APIKey, Tier: q.Tier,
		Header: header, Cost: q.Cost}
	if q.MaxWait != nil {
		asked.MaxWait = weir.Wait(duration(*q.MaxWait))
	}
	return asked
}

func name(err error) string {
	var refused *weir.RefusedError
	if errors.As(err, &refused) {
		return "refused"
	}
	return "unavailable"
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func seconds(d *time.Duration) any {
	if d == nil {
		return nil
	}
	return d.Seconds()
}

func said(v weir.Verdict) object {
	fields := object{}
	for name, values := range v.Header {
		fields[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	var problem any
	if len(v.Problem) > 0 {
		if err := json.Unmarshal(v.Problem, &problem); err != nil {
			problem = err.Error()
		}
	}
	return object{"admitted": v.Admitted, "reason": v.Reason, "status": v.Status, "limit": textOrNull(v.Limit),
		"quota": v.Quota, "remaining": v.Remaining, "retry_after": seconds(v.RetryAfter),
		"reset_after": seconds(v.ResetAfter), "delay": v.Delay.Seconds(), "route": v.Route, "tier": v.Tier,
		"missing": v.Missing, "fields": fields, "problem": problem}
}

func settled(s weir.Settlement, err error) (object, error) {
	limits := []object{}
	for _, one := range s.Limits {
		limits = append(limits, object{"limit": textOrNull(one.Limit), "result": one.Result, "quota": one.Quota,
			"remaining": one.Remaining, "reset_after": seconds(one.ResetAfter), "lost": one.Lost})
	}
	return object{"limits": limits, "receipt_ends": s.ReceiptEnds.Seconds()}, err
}

func (d *driver) do(c command) (object, error) {
	ctx := context.Background()
	switch {
	case c.New != nil:
		if d.client != nil {
			d.client.Close()
		}
		d.changes = []weir.BreakerState{}
		c.New.onBreaker = func(state weir.BreakerState) {
			d.mutex.Lock()
			defer d.mutex.Unlock()
			d.changes = append(d.changes, state)
		}
		made, err := c.New.client(func(err error) {
			d.mutex.Lock()
			defer d.mutex.Unlock()
			d.told = append(d.told, name(err))
		})
		d.client = made
		return object{}, err
	case c.Check != nil:
		return said(d.client.Check(ctx, c.Check.asked())), nil
	case c.Peek != nil:
		return said(d.client.Peek(ctx, c.Peek.asked())), nil
	case c.Burst != nil:
		return d.burst(ctx, c), nil
	case c.Breaker:
		return object{"state": d.client.BreakerState(), "changes": d.changes}, nil
	case c.Reserve != nil:
		options := weir.ReserveOptions{Lease: duration(c.Lease), ID: c.ID}
		made, err := d.client.Reserve(ctx, c.Reserve.asked(), options)
		if err != nil {
			return nil, err
		}
		d.reservations[c.As] = made
		result := said(made.Verdict)
		result["receipt"] = made.Receipt != ""
		result["receipt_ends"] = made.ReceiptEnds.Seconds()
		result["not_kept"] = append([]string{}, made.NotKept...)
		return result, nil
	case c.Within != nil:
		return d.within(ctx, c)
	case c.Report != nil:
		return settled(d.client.Report(ctx, c.Report.asked(), c.ID))
	case c.Settle != "":
		return settled(d.reservations[c.Settle].Settle(ctx, c.Actual))
	case c.SettleText != "":
		return settled(d.client.Settle(ctx, c.SettleText, c.Actual))
	case c.Release != "":
		return settled(d.reservations[c.Release].Release(ctx))
	}
	return settled(d.reservations[c.Extend].Extend(ctx, duration(c.Lease)))
}

func (d *driver) burst(ctx context.Context, c command) object {
	reasons := make(chan string, c.Count)
	for i := 0; i < c.Count; i++ {
		go func() { reasons <- d.client.Check(ctx, c.Burst.asked()).Reason }()
	}
	different := map[string]bool{}
	for i := 0; i < c.Count; i++ {
		different[<-reasons] = true
	}
	sorted := []string{}
	for reason := range different {
		sorted = append(sorted, reason)
	}
	sort.Strings(sorted)
	return object{"reasons": sorted}
}

func (d *driver) within(ctx context.Context, c command) (object, error) {
	var result object
	err := d.client.WithReservation(ctx, c.Within.asked(), func(r *weir.Reservation) error {
		result = said(r.Verdict)
		switch c.Then {
		case "settle":
			_, err := r.Settle(ctx, c.Actual)
			return err
		case "fail":
			return errOfTheWork
		}
		return nil
	})
	if err != nil && err != errOfTheWork {
		return nil, err
	}
	result["failed"] = err != nil
	return result, nil
}

func (d *driver) run(c command) object {
	d.told = []string{}
	result, err := d.do(c)
	var denied *weir.DeniedError
	var refused *weir.RefusedError
	switch {
	case errors.As(err, &denied):
		result = said(denied.Verdict)
		result["denied"] = true
	case errors.As(err, &refused):
		result = object{"error": "refused", "error_status": refused.Status}
	case err != nil:
		result = object{"error": name(err)}
	}
	result["errors"] = d.told
	return result
}

func drive() {
	d := &driver{reservations: map[string]*weir.Reservation{}}
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var c command
		if err := json.Unmarshal(line, &c); err != nil {
			panic(err)
		}
		if err := out.Encode(d.run(c)); err != nil {
			panic(err)
		}
	}
}
