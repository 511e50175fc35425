#!/usr/bin/env python3
"""A small in-memory CalDAV server with a time index, for benchmarks only.

Radicale needs about 9 s for a 7-day REPORT over 10,000 resources, so it hides
what a client costs.  This one answers the same requests in milliseconds, as an
indexed server (Stalwart, SOGo, Fastmail, iCloud) would.  It loads the same
calendar as make_calendar.py (same seed) for each size:

  fastdav.py --port 15241 --sizes 100,1000,10000      user benchN, calendar work

Knows: OPTIONS, PROPFIND (0/1), REPORT calendar-query (comp-filter, time-range,
SUMMARY/any prop text-match), calendar-multiget, sync-collection (tokens by
version), GET, PUT and DELETE with If-Match/If-None-Match.  Ignores expand.
Any password is accepted; binds to 127.0.0.1.  GET /__stats tells how many requests and
body bytes were answered.
"""
import argparse
import datetime as dt
import hashlib
import json
import os
import re
import sys
import threading
import xml.etree.ElementTree as ET
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote, urlsplit
from xml.sax.saxutils import escape
from zoneinfo import ZoneInfo

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True      # no __pycache__ beside the tools
import make_calendar  # noqa: E402

D, C, CARD = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}", "{urn:ietf:params:xml:ns:carddav}"
UTC = dt.timezone.utc
HEAD = ('<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" '
        'xmlns:CS="http://calendarserver.org/ns/" xmlns:I="http://apple.com/ns/ical/">')


class Item:
    def __init__(self, href, text, occ=None):
        self.href, self.text = href, text
        self.etag = '"' + hashlib.sha1(text.encode()).hexdigest() + '"'
        self.kind = "VTODO" if "BEGIN:VTODO" in text else "VEVENT"
        self.occ = occ if occ is not None else self.guess()
        m = re.search(r"SUMMARY[^:]*:(.*)", text)
        self.summary = m.group(1).lower() if m else ""
        self.lower = None
        self.xml = {}

    def guess(self):
        """start and end of a new non-recurring item"""
        out = []
        for name in ("DTSTART", "DTEND"):
            m = re.search(r"\n" + name + r"([^:\n]*):(\d{8})(?:T(\d{6}))?(Z?)", self.text)
            if not m:
                out.append(out[0] if out else dt.datetime(1970, 1, 1, tzinfo=UTC))
                continue
            z = re.search(r"TZID=([^;:]+)", m.group(1))
            x = dt.datetime.strptime(m.group(2) + (m.group(3) or "000000"), "%Y%m%d%H%M%S")
            out.append(x.replace(tzinfo=ZoneInfo(z.group(1)) if z and not m.group(4) else UTC))
        return [(out[0], out[1])]

    def response(self, data):
        if data not in self.xml:
            self.xml[data] = (f"<D:response><D:href>{self.href}</D:href><D:propstat><D:prop><D:getetag>{escape(self.etag)}</D:getetag>"
                              + (f"<C:calendar-data>{escape(self.text)}</C:calendar-data>" if data else
                                 "<D:getcontenttype>text/calendar; component=" + self.kind.lower() + "</D:getcontenttype><D:resourcetype/>")
                              + "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>")
        return self.xml[data]


class Cal:
    def __init__(self, path, name):
        self.path, self.name, self.items, self.version, self.log = path, name, {}, 0, []

    def put(self, item):
        self.items[item.href] = item
        self.touch(item.href)

    def touch(self, href):
        self.version += 1
        self.log.append((self.version, href))


class Store:
    def __init__(self, sizes, seed=42):
        self.cals, self.lock = {}, threading.Lock()
        for n in sizes:
            g = make_calendar.Gen(n, seed).run()
            occ = {}
            for tok, _, a, b in g.occ:
                occ.setdefault(tok, []).append((a, b))
            for user in (f"bench{n}", f"bench{n}@x.test"):
                home = f"/{quote(user)}/"
                work = self.cals[home + "work/"] = Cal(home + "work/", "Work")
                self.cals[home + "home/"] = Cal(home + "home/", "Home")
                for k, (uid, text) in enumerate(g.items):
                    h = f"{home}work/{uid}.ics"
                    work.items[h] = Item(h, text, occ.get(k, []))


def when(s):
    return dt.datetime.strptime(s, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) if s else None


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1                       # one write per answer: no 40 ms waits for delayed ACKs
    disable_nagle_algorithm = True
    store = None

    def log_message(self, *a):
        pass

    stats = {"requests": 0, "bytes": 0, "writes": []}

    def answer(self, code, body=b"", ctype="application/xml; charset=utf-8", **h):
        if isinstance(body, str):
            body = body.encode()
        H.stats["requests"] += 1
        H.stats["bytes"] += len(body)
        self.send_response(code)
        self.send_header("DAV", "1, 2, 3, calendar-access")
        for k, v in h.items():
            self.send_header(k, v)
        if body:
            self.send_header("Content-Type", ctype)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        n = int(self.headers.get("Content-Length") or 0)
        return self.rfile.read(n) if n else b""

    def path_(self):
        return quote(unquote(urlsplit(self.path).path), safe="/:-._~@!$&'()*+,;=").replace("@", "%40")

    def user(self):
        import base64
        a = self.headers.get("Authorization", "")
        if not a.startswith("Basic "):
            return None
        return quote(base64.b64decode(a[6:]).decode().split(":")[0])

    def handle_one(self):
        if self.path == "/__stats":
            self.body()
            body = json.dumps(H.stats)
            H.stats["requests"] -= 1      # its own answer does not count
            H.stats["bytes"] -= len(body)
            return self.answer(200, body, "application/json")
        u = self.user()
        data = self.body()
        if self.command in ("PUT", "DELETE") and len(H.stats["writes"]) < 500:
            H.stats["writes"].append([self.command, self.headers.get("If-Match"), self.headers.get("If-None-Match")])
        if u is None:
            return self.answer(401, b"", **{"WWW-Authenticate": 'Basic realm="fastdav"'})
        getattr(self, "m_" + self.command)(self.path_(), u, data)

    do_OPTIONS = do_PROPFIND = do_REPORT = do_GET = do_HEAD = do_PUT = do_DELETE = do_PROPPATCH = handle_one

    def m_OPTIONS(self, p, u, data):
        self.answer(200, **{"Allow": "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, REPORT"})

    def m_PROPPATCH(self, p, u, data):
        self.answer(403)

    def props(self, p, u, kind, cal=None):
        home = f"/{u}/"
        have = {D + "current-user-principal": f"<D:current-user-principal><D:href>{home}</D:href></D:current-user-principal>",
                D + "principal-URL": f"<D:principal-URL><D:href>{home}</D:href></D:principal-URL>",
                D + "owner": f"<D:owner><D:href>{home}</D:href></D:owner>",
                C + "calendar-home-set": f"<C:calendar-home-set><D:href>{home}</D:href></C:calendar-home-set>",
                CARD + "addressbook-home-set": f'<A:addressbook-home-set xmlns:A="urn:ietf:params:xml:ns:carddav"><D:href>{home}</D:href></A:addressbook-home-set>',
                C + "calendar-user-address-set": f"<C:calendar-user-address-set><D:href>{home}</D:href></C:calendar-user-address-set>",
                D + "current-user-privilege-set": "<D:current-user-privilege-set><D:privilege><D:all/></D:privilege><D:privilege><D:read/></D:privilege><D:privilege><D:write/></D:privilege></D:current-user-privilege-set>",
                D + "supported-report-set": "<D:supported-report-set>" + "".join(
                    f"<D:supported-report><D:report><{x}/></D:report></D:supported-report>" for x in
                    ("C:calendar-query", "C:calendar-multiget", "D:sync-collection")) + "</D:supported-report-set>"}
        if kind == "cal":
            have[D + "resourcetype"] = "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>"
            have[D + "displayname"] = f"<D:displayname>{cal.name}</D:displayname>"
            have[C + "supported-calendar-component-set"] = '<C:supported-calendar-component-set><C:comp name="VEVENT"/><C:comp name="VTODO"/></C:supported-calendar-component-set>'
            have["{http://calendarserver.org/ns/}getctag"] = f"<CS:getctag>{cal.version}</CS:getctag>"
            have[D + "sync-token"] = f"<D:sync-token>http://fastdav/{cal.version}</D:sync-token>"
            have["{http://apple.com/ns/ical/}calendar-color"] = "<I:calendar-color>#3366cc</I:calendar-color>"
        else:
            have[D + "resourcetype"] = "<D:resourcetype><D:collection/>" + ("<D:principal/>" if kind == "home" else "") + "</D:resourcetype>"
            have[D + "displayname"] = f"<D:displayname>{u}</D:displayname>"
        return have

    def resp(self, p, have, want):
        ok = [have[w] for w in want if w in have] if want else list(have.values())
        out = f"<D:response><D:href>{p}</D:href><D:propstat><D:prop>{''.join(ok)}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>"
        miss = [w for w in want or [] if w not in have]
        if miss:
            out += "<D:propstat><D:prop>" + "".join(
                f'<x:{w.split("}")[1]} xmlns:x="{w[1:].split("}")[0]}"/>' for w in miss) + "</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>"
        return out + "</D:response>"

    def m_PROPFIND(self, p, u, data):
        want = None
        if data.strip():
            pr = ET.fromstring(data).find(D + "prop")
            want = [x.tag for x in pr] if pr is not None else None
        depth = self.headers.get("Depth", "0")
        if p in ("/.well-known/caldav", "/.well-known/caldav/"):
            return self.answer(301, Location="/")
        if not p.endswith("/") and p + "/" in self.store.cals:
            p += "/"
        out = []
        home = f"/{u}/"
        if p in self.store.cals:
            cal = self.store.cals[p]
            out.append(self.resp(p, self.props(p, u, "cal", cal), want))
            if depth != "0":
                out += [i.response(False) for i in list(cal.items.values())]
        elif p.rstrip("/") + "/" == home:
            out.append(self.resp(home, self.props(home, u, "home"), want))
            if depth != "0":
                out += [self.resp(q, self.props(q, u, "cal", c), want) for q, c in self.store.cals.items() if q.startswith(home)]
        elif p == "/":
            out.append(self.resp("/", self.props("/", u, "root"), want))
            if depth != "0":
                out.append(self.resp(home, self.props(home, u, "home"), want))
        elif self.cal_of(p) and p in self.cal_of(p).items:
            out.append(self.cal_of(p).items[p].response(False))
        else:
            return self.answer(404)
        self.answer(207, HEAD + "".join(out) + "</D:multistatus>")

    def m_REPORT(self, p, u, data):
        if not p.endswith("/"):
            p += "/"
        cal = self.store.cals.get(p)
        if cal is None:
            return self.answer(404)
        root = ET.fromstring(data)
        wd = root.find(f"{D}prop/{C}calendar-data") is not None
        if root.tag == C + "calendar-multiget":
            out = []
            for h in root.findall(D + "href"):
                q = quote(unquote(urlsplit(h.text.strip()).path), safe="/:-._~!$&'()*+,;=").replace("@", "%40")
                i = cal.items.get(q)
                out.append(i.response(wd) if i else f"<D:response><D:href>{q}</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>")
        elif root.tag == D + "sync-collection":
            tok = (root.findtext(D + "sync-token") or "").rsplit("/", 1)[-1]
            if tok:
                hs = {h for v, h in cal.log if v > int(tok)}
                out = [cal.items[h].response(wd) if h in cal.items else
                       f"<D:response><D:href>{h}</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>" for h in hs]
            else:
                out = [i.response(wd) for i in list(cal.items.values())]
            out.append(f"<D:sync-token>http://fastdav/{cal.version}</D:sync-token>")
        else:
            comp, a, b, text, prop = None, None, None, None, None
            for f in root.iter(C + "comp-filter"):
                if f.get("name") != "VCALENDAR":
                    comp = f.get("name")
                    tr = f.find(C + "time-range")
                    if tr is not None:
                        a, b = when(tr.get("start")), when(tr.get("end"))
                    for pf in f.findall(C + "prop-filter"):
                        tm = pf.find(C + "text-match")
                        if tm is not None:
                            prop, text = pf.get("name"), (tm.text or "").lower()
            lo, hi = a or dt.datetime.min.replace(tzinfo=UTC), b or dt.datetime.max.replace(tzinfo=UTC)
            out = []
            for i in list(cal.items.values()):
                if comp and comp != i.kind:
                    continue
                if text is not None:
                    if prop == "SUMMARY":
                        hay = i.summary
                    else:
                        hay = "\n".join(re.findall(prop + r"[^:\n]*:(.*)", i.text.replace("\r\n ", ""))).lower()
                    if text not in hay:
                        continue
                if (a or b) and not (i.kind == "VTODO" and not i.occ) and not any(s < hi and e > lo for s, e in i.occ):
                    continue
                out.append(i.response(wd))
        self.answer(207, HEAD + "".join(out) + "</D:multistatus>")

    def cal_of(self, p):
        return self.store.cals.get(p.rsplit("/", 1)[0] + "/")

    def m_GET(self, p, u, data):
        cal = self.cal_of(p)
        i = cal and cal.items.get(p)
        if not i:
            return self.answer(404)
        self.answer(200, i.text, "text/calendar; charset=utf-8", ETag=i.etag)

    m_HEAD = m_GET

    def pre(self, i):
        m, n = self.headers.get("If-Match"), self.headers.get("If-None-Match")
        return not ((m and (not i or (m != "*" and i.etag not in m))) or (n == "*" and i))

    def m_PUT(self, p, u, data):
        cal = self.cal_of(p)
        if cal is None:
            return self.answer(409)
        with self.store.lock:
            old = cal.items.get(p)
            if not self.pre(old):
                return self.answer(412)
            i = Item(p, data.decode("utf-8", "replace"))
            cal.put(i)
        self.answer(204 if old else 201, ETag=i.etag)

    def m_DELETE(self, p, u, data):
        cal = self.cal_of(p)
        with self.store.lock:
            old = cal and cal.items.get(p)
            if not old:
                return self.answer(404)
            if not self.pre(old):
                return self.answer(412)
            del cal.items[p]
            cal.touch(p)
        self.answer(204)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--port", type=int, default=0, help="0: any free port; the base URL is printed")
    ap.add_argument("--sizes", default="100,1000,10000")
    ap.add_argument("--seed", type=int, default=42)
    a = ap.parse_args()
    H.store = Store([int(x) for x in a.sizes.split(",")], a.seed)
    s = ThreadingHTTPServer(("127.0.0.1", a.port), H)
    s.daemon_threads = True
    print(f"ready http://127.0.0.1:{s.server_address[1]}", flush=True)
    s.serve_forever()


if __name__ == "__main__":
    main()
