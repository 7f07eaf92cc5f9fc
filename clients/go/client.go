// Package weir asks Weir, a rate limiter, whether requests may pass: a client, and a middleware for net/http.
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

// Fail says what becomes of requests while Weir is away.
type Fail int

const (
	Open   Fail = iota // they pass
	Closed             // they are denied
)

// Options of a Client. Those that are empty have their defaults.
type Options struct {
	URL     string        // http://host:port, https://host:port or unix:/path; by default http://127.0.0.1:8080
	Timeout time.Duration // for an answer; by default 250 ms
	Fail    Fail          // by default Open
	Token   string        // for a listener with a token_file
	TLS     *tls.Config
	OnError func(error) // called for each failure; by default the log tells when Weir goes away, and of refusals

	// The circuit breaker. After BreakerFailures in a row (by default 5, below 0 never) Fail decides at once, and one
	// request at a time is sent as a probe: at first after BreakerInterval (by default 500 ms), then after twice as long
	// each time, up to BreakerMaxInterval (by default 5 s). An answer closes it.
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

	mostKept     = 64 // connections
	mostRead     = 1024 * 1024
	keptFor      = 70 * time.Second // the server closes them after 75
	dialPatience = 10 * time.Second // beyond that of the context
)

// Client asks Weir. Goroutines may share it.
//
// Check and Reserve never fail for want of an answer: after Options.Timeout without one they admit or deny, as
// Options.Fail says; after Options.BreakerFailures of them in a row they do so at once, until a probe is answered. What
// Weir refuses to evaluate is denied.
type Client struct {
	options   Options
	base      string
	transport *http.Transport
	breaker   *breaker
	isAway    atomic.Bool
	// toldOfRefusal is the second in which the log last told of one.
	toldOfRefusal atomic.Int64
}

// New fails if an option makes no sense. It does not connect.
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
		return nil, errors.New("weir: BreakerInterval is below 0, or above BreakerMaxInterval")
	}
	if options.Timeout < 0 || (options.Fail != Open && options.Fail != Closed) {
		return nil, errors.New("weir: Timeout is not above 0, or Fail is neither Open nor Closed")
	}
	if strings.ContainsAny(options.Token, "\r\n") {
		return nil, errors.New("weir: Token has a line break")
	}
	dialer := &net.Dialer{Timeout: dialPatience}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: options.TLS, MaxIdleConns: mostKept,
		MaxIdleConnsPerHost: mostKept, IdleConnTimeout: keptFor, DisableCompression: true}
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
		return nil, fmt.Errorf("weir: URL %q is not http://host:port, https://host:port or unix:/path", options.URL)
	}
	breaker := newBreaker(options.BreakerFailures, options.BreakerInterval, options.BreakerMaxInterval, options.OnBreaker)
	return &Client{options: options, base: base, transport: transport, breaker: breaker}, nil
}

// BreakerState is that of the circuit breaker.
func (c *Client) BreakerState() BreakerState { return c.breaker.current() }

// Check asks whether a request may pass, and charges it if so. If ctx is over before there is an answer, it may not.
func (c *Client) Check(ctx context.Context, query Query) Verdict {
	verdict, _ := c.evaluate(ctx, query, func(*members) {})
	return verdict
}

// Peek says what Check would, and charges nothing.
func (c *Client) Peek(ctx context.Context, query Query) Verdict {
	verdict, _ := c.evaluate(ctx, query, func(m *members) { m.raw("peek", "true") })
	return verdict
}

// Report charges what was used, the query's cost, whatever is left. With an id it may be repeated, and counts once;
// without one it is sent once only.
func (c *Client) Report(ctx context.Context, query Query, id string) (Settlement, error) {
	m, err := query.encode()
	if err != nil {
		return Settlement{}, err
	}
	m.text("id", id)
	return c.settlement(ctx, "/v1/report", m.closed(), id != "")
}

// Settle corrects what was reserved to what it cost, and ends the receipt.
func (c *Client) Settle(ctx context.Context, receipt string, actual uint64) (Settlement, error) {
	m := &members{}
	m.text("receipt", receipt)
	m.raw("actual", fmt.Sprint(actual))
	return c.settlement(ctx, "/v1/settle", m.closed(), true)
}

// Release gives back all that was reserved, and ends the receipt.
func (c *Client) Release(ctx context.Context, receipt string) (Settlement, error) {
	m := &members{}
	m.text("receipt", receipt)
	return c.settlement(ctx, "/v1/release", m.closed(), true)
}

// Extend lets the receipt end so long from now, never earlier than before; 0 is the server's default.
func (c *Client) Extend(ctx context.Context, receipt string, lease time.Duration) (Settlement, error) {
	m := &members{}
	m.text("receipt", receipt)
	if lease > 0 {
		m.seconds("lease", lease)
	}
	return c.settlement(ctx, "/v1/extend", m.closed(), true)
}

// Close closes the connections that are kept.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

func (c *Client) settlement(ctx context.Context, path string, body []byte, mayRepeat bool) (Settlement, error) {
	got, err := c.post(ctx, path, body, mayRepeat)
	if err != nil {
		return Settlement{}, err
	}
	return readSettlement(got)
}

// evaluate adds further members to the query. Without an answer, said.isAway is true.
func (c *Client) evaluate(ctx context.Context, query Query, further func(*members)) (Verdict, verdictJSON) {
	verdict, said, err := c.ask(ctx, query, further)
	switch {
	case err == nil:
		return verdict, said
	case ctx.Err() != nil:
		return denied("canceled", "The request was canceled."), verdictJSON{}
	}
	return c.withoutAnswer(err), verdictJSON{isAway: errors.Is(err, ErrUnavailable)}
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

// withoutAnswer is the verdict after a failure. A refusal is a denial; only where Weir is away does Options.Fail count.
func (c *Client) withoutAnswer(err error) Verdict {
	c.tell(err)
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refusedVerdict()
	}
	return awayVerdict(c.options.Fail)
}

func (c *Client) tell(err error) {
	isRefusal := !errors.Is(err, ErrUnavailable)
	wasAway := !isRefusal && c.isAway.Swap(true)
	switch {
	case c.options.OnError != nil:
		c.options.OnError(err)
	case isRefusal: // clients can cause it, so once a second is enough
		now := time.Now().Unix()
		if c.toldOfRefusal.Swap(now) != now {
			log.Printf("weir: %v", err)
		}
	case !wasAway && c.options.Fail == Open:
		log.Printf("weir: %v; until it answers, requests pass", err)
	case !wasAway:
		log.Printf("weir: %v; until it answers, requests are denied", err)
	}
}

func (c *Client) post(ctx context.Context, path string, body []byte, mayRepeat bool) (answer, error) {
	if len(body) > longestBody {
		detail := fmt.Sprintf("what is asked has %d bytes, more than the %d that are sent", len(body), longestBody)
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
		c.isAway.Store(false)
	case ctx.Err() != nil:
		c.breaker.givenUp(isProbe)
	default:
		c.breaker.failed(isProbe)
	}
	return got, err
}

// send leaves it to the transport to repeat a request on a kept connection that was closed before any byte of an
// answer. It does so for a POST with this header, which is not sent.
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
	read, err := io.ReadAll(io.LimitReader(response.Body, mostRead))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %v", ErrUnavailable, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: read}, nil
}
