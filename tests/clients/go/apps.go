package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"

	"weir"
)

type appSettings struct {
	clientSettings
	Headers []string `json:"headers"`
	Reserve bool     `json:"reserve"`
}

func withCost(_ *http.Request, query *weir.Query) {
	if query.Path == "/chat" {
		query.Cost = weir.Cost(400)
	}
}

func hello(w http.ResponseWriter, r *http.Request) {
	switch settle := r.Header.Get("X-Settle"); settle {
	case "":
	case "fail":
		http.Error(w, "the handler fails", http.StatusInternalServerError)
		return
	default:
		actual, err := strconv.ParseUint(settle, 10, 64)
		if err == nil {
			_, err = weir.ReservationFrom(r.Context()).Settle(r.Context(), actual)
		}
		if err != nil {
			panic(err)
		}
	}
	if r.URL.Path == "/api/own-field" {
		w.Header().Set("X-RateLimit-Limit", "own")
	}
	w.Header().Set("X-App", "hello")
	fmt.Fprint(w, "hello")
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func serve(text string) {
	var settings map[string]appSettings
	must(json.Unmarshal([]byte(text), &settings))
	ports := map[string]int{}
	for name, given := range settings {
		client, err := given.client(nil)
		must(err)
		evaluated := client.Middleware(weir.MiddlewareOptions{Query: withCost, Headers: given.Headers, Reserve: given.Reserve})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(err)
		ports[name] = listener.Addr().(*net.TCPAddr).Port
		go func() { must(http.Serve(listener, evaluated(http.HandlerFunc(hello)))) }()
	}
	must(json.NewEncoder(os.Stdout).Encode(ports))
	_, _ = io.ReadAll(os.Stdin) // until it ends
}
