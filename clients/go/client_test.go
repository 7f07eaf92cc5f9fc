package weir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const testTimeout = 10 * time.Second

// fakeWeir responds to each path with a configured status and body, and records the requests.
type fakeWeir struct {
	*httptest.Server
	mutex  sync.Mutex
	bodies map[string][]string
	answer func(path string) (int, string)
}

const admittedJSON = `{"admitted":true,"reason":"within","limit":"api","quota":3,"remaining":2,"retry_after":0,` +
	`"reset_after":1.5,"delay":0,"route":"other","tier":"default","receipt":"abc","receipt_ends":600}`

func admits(path string) (int, string) {
	if path == "/v1/check" {
		return http.StatusOK, admittedJSON
	}
	return http.StatusOK, `{"limits":[{"limit":"api","result":"done"}]}`
}

func newFakeWeir(t *testing.T, answer func(string) (int, string)) *fakeWeir {
	fake := &fakeWeir{bodies: map[string][]string{}, answer: answer}
	fake.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fake.mutex.Lock()
		fake.bodies[r.URL.Path] = append(fake.bodies[r.URL.Path], string(body))
		fake.mutex.Unlock()
		status, text := fake.answer(r.URL.Path)
		w.Header().Set("RateLimit", `"api";r=2`)
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(fake.Close)
	return fake
}

func (f *fakeWeir) sent(path string) []string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return append([]string(nil), f.bodies[path]...)
}

func newClient(t *testing.T, options Options) *Client {
	if options.Timeout == 0 {
		options.Timeout = testTimeout
	}
	if options.OnError == nil {
		options.OnError = func(error) {}
	}
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestOptionsThatMakeNoSenseAreErrors(t *testing.T) {
	for _, options := range []Options{
		{URL: "127.0.0.1:8080"}, {URL: "http://"}, {URL: "http://x/path"}, {URL: "ftp://x"}, {URL: "http://[::1"},
		{Timeout: -1}, {Fail: 7}, {Token: "a\r\nX: y"}, {BreakerInterval: -1}, {BreakerMaxInterval: 1},
	} {
		if _, err := New(options); err == nil {
			t.Errorf("%+v is taken", options)
		}
	}
}

func TestManyGoroutinesShareAClient(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL, Fail: Closed})
	var group sync.WaitGroup
	for i := 0; i < 16; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 10; j++ {
				if verdict := client.Check(context.Background(), Query{Path: "/"}); verdict.Reason != "within" {
					t.Errorf("it says %+v", verdict)
				}
			}
		}()
	}
	group.Wait()
	if count := len(fake.sent("/v1/check")); count != 160 {
		t.Errorf("%d were sent", count)
	}
}

func TestACanceledCheckAdmitsNothing(t *testing.T) {
	client := newClient(t, Options{URL: "http://127.0.0.1:1", Fail: Open})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if verdict := client.Check(ctx, Query{}); verdict.Admitted || verdict.Reason != "canceled" {
		t.Errorf("it says %+v", verdict)
	}
	if _, err := client.Reserve(ctx, Query{}, ReserveOptions{}); err == nil {
		t.Error("it reserves")
	}
}

func TestATimeIsWrittenWithSixDecimals(t *testing.T) {
	query := Query{Cost: Cost(0), MaxWait: Wait(1500 * time.Microsecond)}
	for expected, query := range map[string]Query{`{"cost":0,"max_wait":0.001500}`: query, `{}`: {}} {
		m, err := query.encode()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(m.closed()); got != expected {
			t.Error(got)
		}
	}
}

func TestCloseReleasesUnlessItWasSettled(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL})
	for _, settles := range []bool{false, true} {
		func() {
			reservation, err := client.Reserve(context.Background(), Query{}, ReserveOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer reservation.Close()
			if settles {
				if _, err := reservation.Settle(context.Background(), 7); err != nil {
					t.Fatal(err)
				}
			}
		}()
	}
	if released, settled := fake.sent("/v1/release"), fake.sent("/v1/settle"); len(released) != 1 || len(settled) != 1 ||
		settled[0] != `{"receipt":"abc","actual":7}` {
		t.Errorf("released %v, settled %v", released, settled)
	}
}

func TestWithReservationReleasesAfterAPanic(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL})
	func() {
		defer func() { _ = recover() }()
		_ = client.WithReservation(context.Background(), Query{}, func(*Reservation) error { panic("of the work") })
	}()
	if released := fake.sent("/v1/release"); len(released) != 1 {
		t.Errorf("released %v", released)
	}
}

func TestADeniedReserveIsAnErrorWithItsVerdict(t *testing.T) {
	fake := newFakeWeir(t, func(string) (int, string) {
		return http.StatusTooManyRequests, `{"admitted":false,"reason":"exceeded","retry_after":2.5}`
	})
	client := newClient(t, Options{URL: fake.URL})
	_, err := client.Reserve(context.Background(), Query{}, ReserveOptions{})
	var denied *DeniedError
	if !errors.As(err, &denied) || *denied.Verdict.RetryAfter != 2500*time.Millisecond {
		t.Errorf("it says %v", err)
	}
}

// behind sends a request to a handler behind the middleware, and records the query.
func behind(t *testing.T, client *Client, options MiddlewareOptions, next http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(client.Middleware(options)(next))
	t.Cleanup(server.Close)
	return server
}

func TestTheMiddlewareJudgesEvenIfTheClientHangsUp(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL})
	guarded := client.Middleware(MiddlewareOptions{})(http.NotFoundHandler())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	guarded.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	if sent := fake.sent("/v1/check"); len(sent) != 1 || !strings.Contains(sent[0], `"ip":"192.0.2.1"`) {
		t.Errorf("sent %v", sent)
	}
}

func TestAnAddressThatIsNotKnownIsDenied(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL})
	guarded := client.Middleware(MiddlewareOptions{})(http.NotFoundHandler())
	for remote, expected := range map[string]string{
		"": "", "@": "", "pipe": "", "192.0.2.7": "192.0.2.7", "[fe80::1%eth0]:9": "fe80::1",
		"[::ffff:192.0.2.8]:9": "192.0.2.8",
	} {
		request := httptest.NewRequest("GET", "/", nil)
		request.RemoteAddr = remote
		answer := httptest.NewRecorder()
		guarded.ServeHTTP(answer, request)
		if got := peer(request); got != expected || (answer.Code == http.StatusTooManyRequests) != (expected == "") {
			t.Errorf("%q is %q, and answered with %d", remote, got, answer.Code)
		}
	}
}

func TestTheOtherEndOfAUnixSocketIsThisMachine(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL})
	path := t.TempDir() + "/socket"
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: client.Middleware(MiddlewareOptions{})(http.NotFoundHandler())}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	connection, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "GET / HTTP/1.0\r\n\r\n")
	if _, err := io.ReadAll(connection); err != nil {
		t.Fatal(err)
	}
	if sent := fake.sent("/v1/check"); len(sent) != 1 || !strings.Contains(sent[0], `"ip":"127.0.0.1"`) {
		t.Errorf("sent %v", sent)
	}
}

func TestWhatIsReservedIsSettledAfterAPanic(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL})
	guarded := client.Middleware(MiddlewareOptions{Reserve: true})(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			if verdict, ok := VerdictFrom(r.Context()); !ok || verdict.Limit != "api" {
				t.Errorf("the handler sees %+v", verdict)
			}
			panic(http.ErrAbortHandler)
		}))
	func() {
		defer func() { _ = recover() }()
		guarded.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	if settled := fake.sent("/v1/settle"); len(settled) != 1 || settled[0] != `{"receipt":"abc","actual":1}` {
		t.Errorf("settled %v", settled)
	}
}

func TestTheQueryFunctionSaysWhoIsCalling(t *testing.T) {
	fake := newFakeWeir(t, admits)
	client := newClient(t, Options{URL: fake.URL})
	server := behind(t, client, MiddlewareOptions{Headers: []string{"x-kept", "host"}, MaxWait: -1,
		Query: func(r *http.Request, query *Query) { query.User = "ann"; query.Cost = Cost(2) }},
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	request, _ := http.NewRequest("PATCH", server.URL+"/a%2Fb?c=d", nil)
	request.Header = http.Header{"X-Kept": {"1", "2"}, "X-Left-Out": {"3"}}
	request.Host = "shop.example"
	response, err := server.Client().Do(request)
	if err != nil || response.StatusCode != http.StatusNoContent || response.Header.Get("RateLimit") != `"api";r=2` {
		t.Fatal(response, err)
	}
	response.Body.Close()
	sent := fake.sent("/v1/check")[0]
	for _, part := range []string{`"method":"PATCH"`, `"path":"/a%2Fb?c=d"`, `"ip":"127.0.0.1"`, `"user":"ann"`,
		`"X-Kept":"1","X-Kept":"2"`, `"Host":"shop.example"`, `"cost":2`, `"max_wait":0.000000`} {
		if !strings.Contains(sent, part) {
			t.Errorf("%s is not in %s", part, sent)
		}
	}
	if strings.Contains(sent, "Left-Out") {
		t.Error(sent)
	}
}

func ExampleClient_Middleware() {
	client, err := New(Options{Fail: Closed})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	evaluated := client.Middleware(MiddlewareOptions{})(mux)
	_ = http.Server{Addr: "127.0.0.1:8000", Handler: evaluated}
}
