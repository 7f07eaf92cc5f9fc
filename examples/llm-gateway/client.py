"""Users of the gateway: what each of them sees, and what was spent in the end.

  client.py [GATEWAY [WEIR [BACKEND]]]      ports on this machine; 8000, 8082 and 9000
"""

import concurrent.futures
import http.client
import json
import socket
import sys
import time

GATEWAY, WEIR, BACKEND = [int(port) for port in [*sys.argv[1:], *[8000, 8082, 9000][len(sys.argv) - 1:]]]


def ask(port, method, target, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, target, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def chat(user, words, max_tokens, stream=False, seconds=0):
    """Returns the result of a request with this many words: (status, text to print)."""
    message = {"role": "user", "content": " ".join(["word"] * words)}
    status, headers, body = ask(
        GATEWAY, "POST", "/v1/chat/completions",
        json.dumps({"messages": [message], "max_tokens": max_tokens, "stream": stream}),
        {"Content-Type": "application/json", "X-User": user, "X-Team": "research", "X-Seconds": str(seconds)})
    if status != 200:
        return status, f"{status}, {json.loads(body)['violated-policies'][0]}"
    if not stream:
        return status, f"200, {json.loads(body)['usage']['total_tokens']} tokens of {max_tokens}"
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]
    return status, f"200, {events[-1]['usage']['total_tokens']} tokens of {max_tokens}, streamed"


def left(limit, consumer):
    """What Weir says is left. WEIR.PEEK says what would be after a cost of one: denied, quota, remaining."""
    words = ["WEIR.PEEK", limit, consumer]
    with socket.create_connection(("127.0.0.1", WEIR), timeout=30) as connection, connection.makefile("rwb") as weir:
        weir.write(f"*{len(words)}\r\n".encode() + b"".join(f"${len(w)}\r\n{w}\r\n".encode() for w in words))
        weir.flush()
        _, denied, _, remaining = [int(weir.readline()[1:]) for _ in range(4)]
        return remaining if denied else remaining + 1


def await_end(user):
    """Envoy tells Weir of the end of an answer behind the answer."""
    while left("in-flight", user) < 2:
        time.sleep(0.01)


def say(heading, lines):
    print(heading)
    for line in lines:
        print("  " + line)


if __name__ == "__main__":
    say("alice, one after the other:",
        [chat("alice", 50, 300)[1], chat("alice", 50, 300, stream=True)[1], chat("alice", 400, 900)[1],
         chat("alice", 50, 300)[1], chat("alice", 40, 100)[1]])
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        answers = [each.result()[1] for each in [pool.submit(chat, "bob", 10, 100, True, 1) for _ in range(5)]]
    say("bob, five at once:", sorted(answers))
    await_end("alice")
    await_end("bob")
    spent = json.loads(ask(BACKEND, "GET", "/spent")[2])
    say("spent (reported by the backend) and left this minute (reported by Weir):",
        [f"{user}: {spent[user]} spent, {left('tokens-per-minute', user)} left" for user in sorted(spent)])
    print(f"left for the team this month: {left('tokens-per-month', 'research')}")
