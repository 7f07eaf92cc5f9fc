"""The servers of the comparison, each on the first core, for the duration of a `with` block."""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
SERVER_CORE = "0"
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processor_seconds(pid):
    """Returns the processor time of a process and its children."""
    total = 0
    for task in [pid, *children(pid)]:
        fields = pathlib.Path(f"/proc/{task}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Served:
    """Runs a command that listens on `port`."""

    def __init__(self, command, port, **settings):
        self.port = port
        self.process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, **settings)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.process.kill()
                    raise SystemExit(f"listeners: {command[0]} did not start")
                time.sleep(0.02)

    def processor_seconds(self):
        return processor_seconds(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)


class Folder:
    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="weir-listeners-"))

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def weir(program, folder, listener, policy="policy.yaml"):
    """Weir with one loop; the port is that of `listener`."""
    ports = {name: free_port() for name in ("http", "rls", "resp", "admin")}
    listeners = "".join(f'  {name}: {{listen: "127.0.0.1:{port}"}}\n' for name, port in ports.items())
    config = folder / "weir.yaml"
    config.write_text(f"version: 1\npolicy: {HERE / policy}\nloops: 1\nlisteners:\n{listeners}log: {{denials: off}}\n")
    return Served([program, "serve", "--config", config], ports[listener],
                  env={**os.environ, "STATE_DIRECTORY": str(folder / "state")})


def nginx(folder, server, http=""):
    """nginx with one worker; `server` is the content of its server block."""
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(f"""
        worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log /dev/null;
        events {{ worker_connections 4096; }}
        http {{
          access_log off; keepalive_requests 1000000000;
          client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
          uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
          {http}
          server {{ listen 127.0.0.1:{port}; {server} }}
        }}""")
    return Served(["nginx", "-p", folder, "-c", config], port)


def redis(folder):
    port = free_port()
    return Served(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                   "--dir", folder], port)
