package weir

import (
	"context"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"time"
)

// MiddlewareOptions of a Middleware. Those that are empty have their defaults.
type MiddlewareOptions struct {
	// Query may change what is asked: say who is calling, or what it costs.
	Query func(*http.Request, *Query)
	// Headers names those that are sent; by default all.
	Headers []string
	// MaxWait is how long a request waits for its turn in a queue; by default 5 s. Below 0 none waits.
	MaxWait time.Duration
	// Reserve lets the cost be reserved, as limits on concurrency need it. ReservationFrom(ctx) settles it, or the end
	// of the handler.
	Reserve bool
}

type contextKey int

const (
	verdictKey contextKey = iota
	reservationKey
)

// VerdictFrom is the verdict on the request of a handler behind the middleware.
func VerdictFrom(ctx context.Context) (Verdict, bool) {
	verdict, ok := ctx.Value(verdictKey).(Verdict)
	return verdict, ok
}

// ReservationFrom is what was reserved for the request of a handler behind a middleware that reserves; otherwise nil.
func ReservationFrom(ctx context.Context) *Reservation {
	reservation, _ := ctx.Value(reservationKey).(*Reservation)
	return reservation
}

// Middleware asks about every request before the next handler gets it. Admitted, the answer has the rate limit fields;
// denied, it is 429 or 403 with the server's problem as its body.
func (c *Client) Middleware(options MiddlewareOptions) func(http.Handler) http.Handler {
	if options.MaxWait == 0 {
		options.MaxWait = 5 * time.Second
	} else if options.MaxWait < 0 {
		options.MaxWait = 0
	}
	return func(next http.Handler) http.Handler {
		return &guard{client: c, options: options, next: next}
	}
}

type guard struct {
	client  *Client
	options MiddlewareOptions
	next    http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := g.queryOf(r)
	verdict, reservation := g.evaluate(query)
	for name, values := range verdict.Header {
		w.Header()[name] = values
	}
	if !verdict.Admitted {
		deny(w, r, verdict)
		return
	}
	ctx := context.WithValue(r.Context(), verdictKey, verdict)
	if reservation != nil {
		defer reservation.Finish() // however it ends: a client that hangs up gets nothing back
		ctx = context.WithValue(ctx, reservationKey, reservation)
	}
	if verdict.Delay > 0 {
		timer := time.NewTimer(verdict.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done(): // the client is gone
			return
		}
	}
	g.next.ServeHTTP(w, r.WithContext(ctx))
}

// evaluate does not use the context of the request: a client that hangs up at once would not be charged.
func (g *guard) evaluate(query Query) (Verdict, *Reservation) {
	ctx := context.Background()
	if query.IP == "" {
		return g.client.withoutAnswer(&RefusedError{Detail: "the address that the request came from is not known: " +
			"set IP in MiddlewareOptions.Query, if this server does not tell it"}), nil
	}
	if !g.options.Reserve {
		return g.client.Check(ctx, query), nil
	}
	reservation, err := g.client.Reserve(ctx, query, ReserveOptions{})
	if denied, ok := err.(*DeniedError); ok {
		return denied.Verdict, nil
	}
	if err != nil {
		return g.client.withoutAnswer(&RefusedError{Detail: err.Error()}), nil
	}
	return reservation.Verdict, reservation
}

func (g *guard) queryOf(r *http.Request) Query {
	query := Query{Method: r.Method, Path: target(r.URL), IP: peer(r), Header: http.Header{}, MaxWait: &g.options.MaxWait}
	if g.options.Headers == nil {
		for name, values := range r.Header {
			query.Header[name] = values
		}
		query.Header["Host"] = []string{r.Host}
	}
	for _, name := range g.options.Headers {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if values := r.Header[name]; len(values) > 0 {
			query.Header[name] = values
		} else if name == "Host" {
			query.Header[name] = []string{r.Host}
		}
	}
	if g.options.Query != nil {
		g.options.Query(r, &query)
	}
	return query
}

func target(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// peer is empty if it is not known. The other end of a unix socket is this machine.
func peer(r *http.Request) string {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && local.Network() == "unix" {
		return "127.0.0.1"
	}
	return addressOf(r.RemoteAddr)
}

func deny(w http.ResponseWriter, r *http.Request, verdict Verdict) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(verdict.Problem)))
	w.WriteHeader(verdict.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(verdict.Problem) // the client may be gone
	}
}
