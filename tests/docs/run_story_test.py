"""The test of pages that are stories detects a wrong page."""

import tempfile
import unittest

import run_story

SERVER = """```python file server.py
import http.server, sys
print("listening", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1].split(":")[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
```
"""


class RunStory(unittest.TestCase):
    def told(self, page):
        with tempfile.TemporaryDirectory() as folder:
            story = run_story.Story("/bin/true", folder)
            story.tell(page)
            return story

    def wrong(self, page):
        return len(self.told(page).wrong)

    def test_files_are_there_for_commands(self):
        self.assertEqual(self.wrong("```text file a.txt\nhello\n```\n```console\n$ cat a.txt\nhello\n```\n"), 0)
        self.assertEqual(self.wrong("```text file a.txt\nhello\n```\n```console\n$ cat a.txt\ngoodbye\n```\n"), 1)

    def test_a_server_is_there_until_the_end(self):
        page = SERVER + ("```console background 9000\n$ python3 server.py 127.0.0.1:9000\nlistening\n```\n"
                         "```console\n$ curl -s -o answer -w '%{http_code}' 127.0.0.1:9000/none; echo\n404\n```\n")
        story = self.told(page)
        self.assertEqual(story.wrong, [])
        self.assertFalse(run_story.is_open(story.ports["9000"]))

    def test_a_server_that_is_stopped_by_the_page(self):
        page = SERVER + ("```console background 9000\n$ python3 server.py 127.0.0.1:9000\n```\n"
                         "```console background 9000\n$ ^C\n```\n```console\n$ curl -s 127.0.0.1:9000; echo $?\n7\n```\n")
        self.assertEqual(self.wrong(page), 0)

    def test_a_server_that_does_not_start(self):
        self.assertEqual(self.wrong("```console background 9000\n$ false\n```\n"), 1)

    def test_times_waits_and_versions_may_differ_and_addresses_may_not(self):
        for shown, printed, wrong in (("in 1.5 s", "in 2.25 s", 0), ("Retry-After: 60", "Retry-After: 59", 0),
                                      ("weir 0.2.0", "weir 1.0.2", 0), ("ip=192.0.2.7", "ip=192.0.2.8", 1)):
            with self.subTest(shown):
                self.assertEqual(self.wrong(f"```console\n$ echo '{printed}'\n{shown}\n```\n"), wrong)

    def test_ports_are_those_of_the_page_in_what_is_printed(self):
        self.assertEqual(self.wrong("```console\n$ echo 127.0.0.1:8080\n127.0.0.1:8080\n```\n"), 0)

    def test_what_a_page_should_say(self):
        page = "```console\n$ echo a\n$ echo a\nb\n```\n"
        self.assertEqual(self.told(page).text, "```console\n$ echo a\na\n$ echo a\na\n```\n")


if __name__ == "__main__":
    unittest.main()
