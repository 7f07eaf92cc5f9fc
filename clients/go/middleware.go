// SPDX-License-Identifier: Apache-2.0

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

// MiddlewareOptions configures a Middleware. Zero values select the defaults.
type MiddlewareOptions struct {
	// Query may change the query, for example to set the user or the cost.
	Query func(*http.Request, *Query)
	// Headers names the headers to send; by default all.
	Headers []string
	// MaxWait is the maximum time in a queue; by default 5 s. If it is negative, requests never wait.
	MaxWait time.Duration
	// Reserve reserves the cost, which concurrency limits need. It is settled through ReservationFrom(ctx) or when the
	// handler returns.
	Reserve bool
}

type contextKey int

const (
	verdictKey contextKey = iota
	reservationKey
)

// VerdictFrom returns the verdict on the request of a handler behind the middleware.
func VerdictFrom(ctx context.Context) (Verdict, bool) {
	verdict, ok := ctx.Value(verdictKey).(Verdict)
	return verdict, ok
}

// ReservationFrom returns the reservation of a handler behind a middleware with Reserve; otherwise nil.
func ReservationFrom(ctx context.Context) *Reservation {
	reservation, _ := ctx.Value(reservationKey).(*Reservation)
	return reservation
}

// Middleware checks every request before it reaches the next handler. If admitted, the response gets the rate limit
// fields; if denied, it is 429 or 403 with the server's problem details as its body.
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
		defer reservation.Finish() // even if the client disconnects: it is not refunded
		ctx = context.WithValue(ctx, reservationKey, reservation)
	}
	if verdict.Delay > 0 {
		timer := time.NewTimer(verdict.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done(): // the client disconnected
			return
		}
	}
	g.next.ServeHTTP(w, r.WithContext(ctx))
}

// evaluate does not use the request's context: a client could avoid the charge by disconnecting at once.
func (g *guard) evaluate(query Query) (Verdict, *Reservation) {
	ctx := context.Background()
	if query.IP == "" {
		return g.client.withoutAnswer(&RefusedError{
			Detail: "unknown peer address; set IP in MiddlewareOptions.Query if the server does not provide it"}), nil
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

// peer is empty if the address is unknown. The peer of a unix socket is this machine.
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
		_, _ = w.Write(verdict.Problem) // the client may have disconnected
	}
}
