// SPDX-License-Identifier: Apache-2.0

// Package weir is a client and net/http middleware for Weir, a rate limiter.
package weir

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Fail decides whether requests pass while Weir is unavailable.
type Fail int

const (
	Open   Fail = iota // they pass
	Closed             // they are denied
)

// Options of a Client. Zero values select the defaults.
type Options struct {
	URL     string        // http://host:port, https://host:port or unix:/path; by default http://127.0.0.1:8080
	Timeout time.Duration // for a response; by default 250 ms
	Fail    Fail          // by default Open
	Token   string        // for a listener with a token_file
	TLS     *tls.Config
	OnError func(error) // called for each failure; by default outages and rejections are logged

	// The circuit breaker opens after BreakerFailures consecutive failures (default 5; negative disables it). While it is
	// open, Fail decides at once, and one probe at a time is sent: the first after BreakerInterval (default 500 ms), then
	// at intervals that double up to BreakerMaxInterval (default 5 s). A response closes it.
	BreakerFailures    int
	BreakerInterval    time.Duration
	BreakerMaxInterval time.Duration
	OnBreaker          func(BreakerState) // called with each new state
}

const (
	defaultTimeout            = 250 * time.Millisecond
	defaultBreakerFailures    = 5
	defaultBreakerInterval    = 500 * time.Millisecond
	defaultBreakerMaxInterval = 5 * time.Second

	maxIdle     = 64 // connections
	maxResponse = 1024 * 1024
	idleTimeout = 70 * time.Second // the server closes idle connections after 75 s
	dialTimeout = 10 * time.Second // an upper bound in addition to the context
)

// Client is a client of Weir. It is safe for concurrent use.
//
// Check and Reserve do not fail when Weir is unavailable: after Options.Timeout they admit or deny as Options.Fail
// says. After Options.BreakerFailures consecutive failures they do so at once, until a probe is answered. A request
// that Weir rejects is denied.
type Client struct {
	options       Options
	base          string
	transport     *http.Transport
	breaker       *breaker
	isUnavailable atomic.Bool
	// refusalLogged is the Unix second in which a rejection was last logged.
	refusalLogged atomic.Int64
}

// New fails if an option is invalid. It does not connect.
func New(options Options) (*Client, error) {
	if options.URL == "" {
		options.URL = "http://127.0.0.1:8080"
	}
	if options.Timeout == 0 {
		options.Timeout = defaultTimeout
	}
	if options.BreakerFailures == 0 {
		options.BreakerFailures = defaultBreakerFailures
	} else if options.BreakerFailures < 0 {
		options.BreakerFailures = 0
	}
	if options.BreakerInterval == 0 {
		options.BreakerInterval = defaultBreakerInterval
	}
	if options.BreakerMaxInterval == 0 {
		options.BreakerMaxInterval = defaultBreakerMaxInterval
	}
	if options.BreakerInterval < 0 || options.BreakerInterval > options.BreakerMaxInterval {
		return nil, errors.New("weir: BreakerInterval must be at least 0 and at most BreakerMaxInterval")
	}
	if options.Timeout < 0 || (options.Fail != Open && options.Fail != Closed) {
		return nil, errors.New("weir: Timeout must be greater than 0, and Fail must be Open or Closed")
	}
	if strings.ContainsAny(options.Token, "\r\n") {
		return nil, errors.New("weir: Token must not contain a line break")
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: options.TLS, MaxIdleConns: maxIdle,
		MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: idleTimeout, DisableCompression: true}
	base := strings.TrimRight(options.URL, "/")
	if path := strings.TrimPrefix(options.URL, "unix:"); path != options.URL {
		path = "/" + strings.TrimLeft(path, "/")
		base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", path)
		}
	}
	parsed, err := url.Parse(base)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" || parsed.Path != "" {
		return nil, fmt.Errorf("weir: URL %q: must be http://host:port, https://host:port or unix:/path", options.URL)
	}
	breaker := newBreaker(options.BreakerFailures, options.BreakerInterval, options.BreakerMaxInterval, options.OnBreaker)
	return &Client{options: options, base: base, transport: transport, breaker: breaker}, nil
}

// BreakerState returns the state of the circuit breaker.
func (c *Client) BreakerState() BreakerState { return c.breaker.current() }

// Check decides a request and charges it if admitted. A request whose ctx ends before the response is denied.
func (c *Client) Check(ctx context.Context, query Query) Verdict {
	verdict, _ := c.evaluate(ctx, query, func(*members) {})
	return verdict
}

// Peek returns the verdict of Check without charging.
func (c *Client) Peek(ctx context.Context, query Query) Verdict {
	verdict, _ := c.evaluate(ctx, query, func(m *members) { m.raw("peek", "true") })
	return verdict
}

// Report charges the query's cost even if it exceeds the limit. A report with an id may be repeated and is charged
// once; one without an id is never sent again.
func (c *Client) Report(ctx context.Context, query Query, id string) (Settlement, error) {
	m, err := query.encode()
	if err != nil {
		return Settlement{}, err
	}
	m.text("id", id)
	return c.settlement(ctx, "/v1/report", m.closed(), id != "")
}

// Settle corrects the reserved cost to the actual cost and closes the receipt.
func (c *Client) Settle(ctx context.Context, receipt string, actual uint64) (Settlement, error) {
	m := &members{}
	m.text("receipt", receipt)
	m.raw("actual", fmt.Sprint(actual))
	return c.settlement(ctx, "/v1/settle", m.closed(), true)
}

// Release returns the reserved cost and closes the receipt.
func (c *Client) Release(ctx context.Context, receipt string) (Settlement, error) {
	m := &members{}
	m.text("receipt", receipt)
	return c.settlement(ctx, "/v1/release", m.closed(), true)
}

// Extend makes the receipt expire after lease from now, never earlier than before; 0 selects the server's default.
func (c *Client) Extend(ctx context.Context, receipt string, lease time.Duration) (Settlement, error) {
	m := &members{}
	m.text("receipt", receipt)
	if lease > 0 {
		m.seconds("lease", lease)
	}
	return c.settlement(ctx, "/v1/extend", m.closed(), true)
}

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

func (c *Client) settlement(ctx context.Context, path string, body []byte, mayRepeat bool) (Settlement, error) {
	got, err := c.post(ctx, path, body, mayRepeat)
	if err != nil {
		return Settlement{}, err
	}
	return readSettlement(got)
}

// evaluate adds further members to the query. If Weir does not answer, isUnavailable of the result is true.
func (c *Client) evaluate(ctx context.Context, query Query, further func(*members)) (Verdict, verdictJSON) {
	verdict, said, err := c.ask(ctx, query, further)
	switch {
	case err == nil:
		return verdict, said
	case ctx.Err() != nil:
		return denied("canceled", "The request was canceled."), verdictJSON{}
	}
	return c.withoutAnswer(err), verdictJSON{isUnavailable: errors.Is(err, ErrUnavailable)}
}

func (c *Client) ask(ctx context.Context, query Query, further func(*members)) (Verdict, verdictJSON, error) {
	m, err := query.encode()
	if err != nil {
		return Verdict{}, verdictJSON{}, err
	}
	further(m)
	got, err := c.post(ctx, "/v1/check", m.closed(), true)
	if err != nil {
		return Verdict{}, verdictJSON{}, err
	}
	return readVerdict(got)
}

// withoutAnswer is the verdict after a failure. A rejected request is denied; Options.Fail applies only to outages.
func (c *Client) withoutAnswer(err error) Verdict {
	c.tell(err)
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refusedVerdict()
	}
	return unavailableVerdict(c.options.Fail)
}

func (c *Client) tell(err error) {
	isRefusal := !errors.Is(err, ErrUnavailable)
	wasUnavailable := !isRefusal && c.isUnavailable.Swap(true)
	switch {
	case c.options.OnError != nil:
		c.options.OnError(err)
	case isRefusal: // clients can cause it, so at most one line per second is logged
		now := time.Now().Unix()
		if c.refusalLogged.Swap(now) != now {
			log.Printf("weir: %v", err)
		}
	case !wasUnavailable && c.options.Fail == Open:
		log.Printf("weir: %v; until it answers, requests pass", err)
	case !wasUnavailable:
		log.Printf("weir: %v; until it answers, requests are denied", err)
	}
}

func (c *Client) post(ctx context.Context, path string, body []byte, mayRepeat bool) (answer, error) {
	if len(body) > maxBody {
		detail := fmt.Sprintf("request of %d bytes exceeds the maximum of %d bytes", len(body), maxBody)
		return answer{}, &RefusedError{Detail: detail}
	}
	isProbe, err := c.breaker.begin()
	if err != nil {
		return answer{}, err
	}
	got, err := c.send(ctx, path, body, mayRepeat)
	switch {
	case err == nil:
		c.breaker.succeeded()
		c.isUnavailable.Store(false)
	case ctx.Err() != nil:
		c.breaker.givenUp(isProbe)
	default:
		c.breaker.failed(isProbe)
	}
	return got, err
}

// send lets the transport repeat a request whose idle connection was closed before the first byte of a response. For a
// POST the transport does so only with an Idempotency-Key header; an empty one is not sent.
func (c *Client) send(ctx context.Context, path string, body []byte, mayRepeat bool) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "X-Weir-Problem": {"field"}}
	if c.options.Token != "" {
		request.Header.Set("X-Weir-Token", c.options.Token)
	}
	if mayRepeat {
		request.Header["Idempotency-Key"] = []string{}
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return answer{}, fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: read}, nil
}
