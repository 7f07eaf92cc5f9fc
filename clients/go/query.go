// SPDX-License-Identifier: Apache-2.0

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

// Longer bodies are not sent: the server would reject them.
const maxBody = 256 * 1024

// Query is a request to evaluate. Empty fields are not sent.
type Query struct {
	Method string
	Path   string // as received, with or without the query string
	// IP is the peer address, with or without a port. Identity headers are trusted only if it belongs to a trusted
	// proxy.
	IP string
	// User, APIKey and Tier are verified by the program and override the headers.
	User, APIKey, Tier string
	Header             http.Header
	Cost               *uint64        // see Cost; nil: the policy's cost, or 1
	MaxWait            *time.Duration // maximum time in a queue, see Wait; nil: no maximum
}

// Cost returns a value for Query.Cost.
func Cost(cost uint64) *uint64 { return &cost }

// Wait returns a value for Query.MaxWait.
func Wait(maximum time.Duration) *time.Duration { return &maximum }

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

// jsonText replaces invalid UTF-8.
func jsonText(text string) string {
	written, _ := json.Marshal(text) // cannot fail for a string
	return string(written)
}

// addressOf removes port, brackets and zone. It returns an empty string if text is not an address.
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

// encode leaves the object open for more members. Duplicate headers stay duplicate, so that the server trusts neither.
// It fails if IP is not an address.
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
