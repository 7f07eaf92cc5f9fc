"""A language model's server that needs no model: it answers chat completions in the usual shape, plain or streamed.

Its answer repeats the last message. A word is a token. It stops at `max_tokens`, of the prompt and the answer together.
A client that sends `x-seconds` gets its answer that much later.
"""

import http.server
import json
import sys
import threading
import time


class Chat(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = asked["messages"][-1]["content"].split()
        answer = prompt[:max(0, asked.get("max_tokens", 200) - len(prompt))]
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(answer),
                 "total_tokens": len(prompt) + len(answer)}
        self.server.spend(self.headers["x-user"], usage["total_tokens"])
        self.work()
        if asked.get("stream"):
            self.stream(answer, usage)
        else:
            self.say(answer, usage)

    def work(self):
        time.sleep(float(self.headers.get("x-seconds", 0)))

    def say(self, answer, usage):
        message = {"role": "assistant", "content": " ".join(answer)}
        body = json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": message}], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Usage-Tokens", str(usage["total_tokens"]))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def stream(self, answer, usage):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for word in answer:
            self.event({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": word + " "}}]})
        self.event({"object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, data):
        self.chunk(f"data: {json.dumps(data)}\n\n")

    def chunk(self, text):
        self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())

    def do_GET(self):
        """What was spent, by user."""
        body = json.dumps(self.server.spent).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Backend(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, chat=Chat):
        super().__init__(address, chat)
        self.spent = {}
        self.lock = threading.Lock()

    def spend(self, user, tokens):
        with self.lock:
            self.spent[user] = self.spent.get(user, 0) + tokens

    def handle_error(self, *_):  # the client disconnected
        pass


if __name__ == "__main__":
    Backend(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9000)).serve_forever()
