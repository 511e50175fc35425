"""The CalDAV servers of the live suite: how they are started, what they are known to do otherwise, how they are filled."""
import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import urlsplit

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass
class Rig:
    script: str
    home: str                           # where the calendars of alice are
    own: set = field(default_factory=set)   # calendars that it makes by itself
    client: str = ""                    # the MCP client that asks it; all of them without a name
    must: bool = True                   # not coming up is a failure; else it is told and left out
    system: bool = False                # it comes as Debian packages
    profile: str = ""                   # CALDAV_INTEROPERABILITY_PROFILE where a report needs it
    makes: tuple = ("success", "committed")         # how it makes a calendar, and renames one
    renames: tuple = ("success", "committed")
    moves: str = ""                     # CALDAV_INTEROPERABILITY_PROFILE under which it moves resources
    scheduling: str = "not_advertised"
    shelf: bool = True                   # its Entity Tags say whether a body changed; else bodies are asked for each time
    work: str = "Work & more"           # what it makes of the display name
    stores: dict = field(default_factory=dict)      # resource: what it changes in it, as (what was PUT, what it keeps)
    misses: dict = field(default_factory=dict)      # resource: why its answers to time ranges leave it out
    rewrites: set = field(default_factory=set)      # forms of Events that it does not keep
    protects: bool = True               # it checks the conditions on new and deleted resources
    refuses: dict = field(default_factory=dict)     # what it does not do, with the exact code or status that says so


RIGS = {
    "radicale": Rig("radicale.sh", "/alice/", moves="radicale"),
    "radicale 3.7.8": Rig("radicale-3.7.8.sh", "/alice/", client="mcp 1.6.0", profile="radicale", moves="radicale"),
    "xandikos": Rig("xandikos.sh", "/alice/calendars/", {"calendar"}, "client 2.4.0 auto", scheduling="advertised"),
    "cyrus": Rig("cyrus.sh", "/dav/calendars/user/alice/", {"Default"}, "mcp 2.3.0 auto", system=True, scheduling="advertised",
                 refuses={"PUT instant": 403}),
    "davical": Rig("davical.sh", "/caldav.php/alice/", {"calendar"}, "sdk 1.32.2", must=False, system=True, scheduling="advertised",
                   work="Work &amp; more"),     # it escapes the name of MKCALENDAR twice
    "sogo": Rig("sogo.sh", "/SOGo/dav/alice/Calendar/", {"personal"}, "mcp 1.16.0", must=False, system=True, scheduling="advertised",
                shelf=False, rewrites={"floating"}, protects=False, makes=("fidelity_failure", "committed"),      # it drops the colour
                # It takes floating times for UTC, and gives an Event an end.
                stores={"floating": [("T080000", "T080000Z"), ("T081500", "T081500Z")],
                        "floating-midnight": [("T233000", "T233000Z"), ("T003000", "T003000Z")],
                        "instant": [("T120000Z", "T120000Z\nDTEND:20261203T130000Z")]},
                refuses={"calendars_free_busy": "unsupported_capability", "discovery from the host alone": "upstream_protocol_error"}),
    "sabre/dav 1.8": Rig("sabre-dav-1.8.sh", "/calendars/alice/", {"default"}, "mcp 1.9.4", must=False, system=True,
                         refuses={"calendar_resources_changes": "unsupported_capability"}),
}


def free_port():
    """a port, with the one 1,000 above it, which some servers take too"""
    while True:
        with socket.socket() as s, socket.socket() as t:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
            with contextlib.suppress(OSError, OverflowError):
                t.bind(("127.0.0.1", port + 1000))
                return port


@contextlib.contextmanager
def server(script):
    """a rig of tests/servers, up; ended with what it started"""
    folder = tempfile.mkdtemp(prefix="kalends-live.")
    try:
        port = free_port()
        done = subprocess.run([os.path.join(TESTS, "servers", script), str(port), folder], stdout=subprocess.PIPE,
                              text=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"{script} did not come up")
        yield next(line[5:] for line in done.stdout.splitlines() if line.startswith("BASE="))
    finally:
        with contextlib.suppress(OSError, ValueError):
            with open(os.path.join(folder, "pid")) as f:
                pid = int(f.read())
            os.kill(pid, signal.SIGTERM)
            for _ in range(100):
                os.kill(pid, 0)
                time.sleep(0.05)
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def in_memory(size):
    """the bench's server with its calendar of that size"""
    argv = [sys.executable, os.path.join(TESTS, "bench", "fastdav.py"), "--sizes", str(size)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().split()[1] + "/"
    finally:
        process.kill()
        process.wait()


def request(base, method, path, body=b"", headers=()):
    c = http.client.HTTPConnection(urlsplit(base).netloc, timeout=120)
    body = body if isinstance(body, bytes) else body.encode()
    c.request(method, path, body, {"Authorization": "Basic " + b64encode(b"alice:secret").decode(), **dict(headers)})
    r = c.getresponse()
    data = r.read()
    c.close()
    return r.status, data


def make(base, path, name):
    status, _ = request(base, "MKCALENDAR", path, (
        '<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>'
        f'<D:displayname>{name}</D:displayname></D:prop></D:set></C:mkcalendar>'), {"Content-Type": "application/xml"})
    if status != 201:
        raise RuntimeError(f"MKCALENDAR {path}: {status}")


def put(base, path, text):
    return request(base, "PUT", path, text, {"Content-Type": "text/calendar; charset=utf-8"})[0]


def fill(base, path, items):
    for name, text in items:
        status = put(base, f"{path}{name}.ics", text)
        if status not in (201, 204):
            raise RuntimeError(f"PUT {name}: {status}")
