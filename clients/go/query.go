package weir

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Longer bodies are not sent: the server would not read them.
const longestBody = 256 * 1024

// Query is a request to be judged. Fields that are empty are not sent.
type Query struct {
	Method string
	Path   string // as the client sent it, with its query or without
	// IP is the address that the request came from. Headers that say who is calling are believed only if it is that of a
	// trusted proxy.
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

// encode adds no end: more members may follow. A header that is there twice stays there twice: the server believes no
// identity then.
func (q Query) encode() *members {
	m := &members{}
	m.text("method", q.Method)
	m.text("path", q.Path)
	m.text("ip", q.IP)
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
	return m
}
