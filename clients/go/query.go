package weir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Longer bodies are not sent: the server would not read them.
const longestBody = 256 * 1024

// Query is a request to be evaluated. Fields that are empty are not sent.
type Query struct {
	Method string
	Path   string // as the client sent it, with its query or without
	// IP is the address that the request came from, with a port or without. Headers that say who is calling are believed
	// only if it is that of a trusted proxy.
	IP string
	// User, APIKey and Tier are what the program knows about the caller. They override the headers.
	User, APIKey, Tier string
	Header             http.Header
	Cost               *uint64        // see Cost; nil is 1, or what the policy says
	MaxWait            *time.Duration // for a turn in a queue, see Wait; nil is any time
}

// Cost is for Query.Cost.
func Cost(cost uint64) *uint64 { return &cost }

// Wait is for Query.MaxWait.
func Wait(longest time.Duration) *time.Duration { return &longest }

// members writes the members of one JSON object.
type members struct{ bytes.Buffer }

func (m *members) raw(name, value string) {
	if m.Len() == 0 {
		m.WriteByte('{')
	} else {
		m.WriteByte(',')
	}
	m.WriteString(jsonText(name))
	m.WriteByte(':')
	m.WriteString(value)
}

func (m *members) text(name, value string) {
	if value != "" {
		m.raw(name, jsonText(value))
	}
}

func (m *members) seconds(name string, value time.Duration) {
	m.raw(name, strconv.FormatFloat(value.Seconds(), 'f', 6, 64))
}

func (m *members) closed() []byte {
	if m.Len() == 0 {
		m.WriteByte('{')
	}
	m.WriteByte('}')
	return m.Bytes()
}

// What is not UTF-8 is replaced.
func jsonText(text string) string {
	written, _ := json.Marshal(text) // of a string, it does not fail
	return string(written)
}

// addressOf is an address without its port, its brackets and its zone; empty if it is no address.
func addressOf(text string) string {
	if host, port, err := net.SplitHostPort(text); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return ""
		}
		text = host
	} else if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return ""
	}
	return address.WithZone("").Unmap().String()
}

// encode adds no end: more members may follow. A header that is there twice stays there twice: the server believes no
// identity then. It fails if IP is no address.
func (q Query) encode() (*members, error) {
	m := &members{}
	m.text("method", q.Method)
	m.text("path", q.Path)
	if q.IP != "" {
		address := addressOf(q.IP)
		if address == "" {
			return nil, &RefusedError{Detail: fmt.Sprintf("IP: %.60q is not an IP address", q.IP)}
		}
		m.text("ip", address)
	}
	m.text("user", q.User)
	m.text("api_key", q.APIKey)
	m.text("tier", q.Tier)
	if len(q.Header) > 0 {
		headers := &members{}
		for name, values := range q.Header {
			for _, value := range values {
				headers.raw(name, jsonText(value))
			}
		}
		m.raw("headers", string(headers.closed()))
	}
	if q.Cost != nil {
		m.raw("cost", strconv.FormatUint(*q.Cost, 10))
	}
	if q.MaxWait != nil {
		m.seconds("max_wait", *q.MaxWait)
	}
	return m, nil
}
