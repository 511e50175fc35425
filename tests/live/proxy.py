"""A reverse proxy on loopback that counts requests by method and iCalendar bodies, and can answer in the server's place."""
import gzip
import http.client
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "proxy-connection"}
HEAD = b'<?xml version="1.0"?>\n<D:multistatus xmlns:D="DAV:">'
MEMBER = b"<D:response><D:href>/x/%d/</D:href><D:propstat><D:prop><D:displayname>x</D:displayname></D:prop>" \
         b"<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\n"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1                       # one write per answer: no waits for delayed ACKs
    disable_nagle_algorithm = True

    def log_message(self, *a):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response_only(status)
        for k, v in headers:
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def forward(self):
        p = self.server
        if self.path.startswith("/__"):
            return self.control(p, *self.path[3:].split("/"))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with p.lock:
            p.counts[self.command] += 1
        if self.command in ("PUT", "DELETE", "MOVE"):
            p.on_write()
        if p.fault:
            return getattr(self, "fault_" + p.fault)()
        c = http.client.HTTPConnection(p.upstream, timeout=120)
        try:
            c.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for k, v in self.headers.items():
                if k.lower() not in HOP:
                    c.putheader(k, v)
            c.endheaders(body or None)
            r = c.getresponse()
            data = r.read()
        finally:
            c.close()
        plain = gzip.decompress(data) if r.getheader("Content-Encoding") == "gzip" else data
        with p.lock:
            p.bodies += plain.count(b"BEGIN:VCALENDAR")
        self.answer(r.status, data, [(k, v) for k, v in r.getheaders() if k.lower() not in HOP | {"content-length"}])

    do_OPTIONS = do_HEAD = do_GET = do_PUT = do_DELETE = do_MOVE = forward
    do_PROPFIND = do_PROPPATCH = do_REPORT = do_MKCALENDAR = forward

    def control(self, p, what, value=""):
        """/__reset sets the counters to zero, /__counts tells them, /__fault/NAME answers by itself, /__fault ends that"""
        with p.lock:
            if what == "reset":
                p.counts.clear()
            elif what == "fault":
                p.fault = value
            said = json.dumps(p.counts).encode()
        self.answer(200, said, [("Content-Type", "application/json")])

    def fault_unauthorized(self):
        self.answer(401, b"", [("WWW-Authenticate", 'Basic realm="live"')])

    def fault_unavailable(self):
        self.answer(503)

    def fault_html(self):
        self.answer(200, b"<!DOCTYPE html><html><body><h1>It works!</h1></body></html>", [("Content-Type", "text/html")])

    def fault_reset(self):
        self.close_connection = True

    def fault_huge(self):
        """a well-formed multistatus of 100 MB"""
        member = b"".join(MEMBER % n for n in range(5000))
        times = 100_000_000 // len(member) + 1
        self.send_response_only(207)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(HEAD) + times * len(member) + 17))
        self.end_headers()
        try:
            self.wfile.write(HEAD)
            for _ in range(times):
                self.wfile.write(member)
            self.wfile.write(b"</D:multistatus>\n")
        except OSError:
            self.close_connection = True    # the client had enough

    def fault_bomb(self):
        """a few hundred kB that become 200 MB"""
        with self.server.lock:
            if self.server.bomb is None:
                self.server.bomb = gzip.compress(HEAD + b" " * 200_000_000 + b"</D:multistatus>\n", 9)
        self.answer(207, self.server.bomb, [("Content-Type", "application/xml"), ("Content-Encoding", "gzip")])


class Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream=None, fault=""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream, self.fault = urlsplit(upstream or "").netloc, fault
        self.on_write = lambda: None
        self.lock, self.counts, self.bodies, self.bomb = threading.Lock(), Counter(), 0, None
        self.base = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass                                # a client that closes early is its own business
