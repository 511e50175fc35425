"""Writes in the middle of which Radicale or Kalends is killed (SIGKILL): afterwards each resource is the old or the new one,
whole, and what Kalends has said about it is true."""
import base64
import hashlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading

import rigs
from proxy import Proxy

WRITES, SERVER_KILLS, CLIENT_KILLS, SEED = 500, 15, 25, 20261201
AT = {"kind": "zonedDateTime", "value": "2027-03-15T09:00:00", "timeZoneId": "Europe/Berlin"}


class Radicale:
    """one folder, started again and again on one port"""

    def __init__(self):
        self.folder, self.port = tempfile.mkdtemp(prefix="kalends-kill."), rigs.free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        script = os.path.join(rigs.TESTS, "servers", "radicale.sh")
        subprocess.run([script, str(self.port), self.folder], stdout=subprocess.DEVNULL, check=True, timeout=120)

    def kill(self):
        with open(os.path.join(self.folder, "pid")) as f:
            os.kill(int(f.read()), signal.SIGKILL)

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def summary(base, path):
    """what is stored: its title, None if nothing is, and whether it is whole"""
    status, body = rigs.request(base, "GET", path)
    if status == 404:
        return None, True
    text = body.decode()
    lines = text.replace("\r\n", "\n").split("\n")
    titles = [line[8:] for line in lines if line.startswith("SUMMARY:")]
    whole = status == 200 and lines[0] == "BEGIN:VCALENDAR" and text.rstrip().endswith("END:VCALENDAR") and len(titles) == 1
    return (titles or [None])[0], whole


def run(check, a, stdio):
    check.of(f"{WRITES} writes, killed now and then")
    chance, radicale = random.Random(SEED), Radicale()
    marks = chance.sample(range(WRITES), SERVER_KILLS + CLIENT_KILLS)
    server_kills, client_kills = set(marks[:SERVER_KILLS]), set(marks[SERVER_KILLS:])
    proxy, armed = Proxy(radicale.base), []
    # The kill comes some milliseconds after the write has reached the proxy: before, while or after the server does it.
    proxy.on_write = lambda: [threading.Timer(chance.random() * 0.03, kill).start() for kill in (armed.pop() for _ in armed[:])]
    start = lambda: stdio(a, proxy.base + "/", CALDAV_CONFIRMATION_POLICY="never")
    home = "/alice/kills/"
    rigs.make(radicale.base, home, "Kills")
    destination = {"mode": "selected", "calendar": {"by": "href", "href": proxy.base + home}}
    known, told, wrong, torn, server = {}, {}, [], [], start()
    try:
        for number in range(WRITES):
            title, names = f"Title {number}", sorted(known)
            what = chance.choice(["create", *["patch"] * 6, "delete"]) if len(names) > 5 else "create"
            name = f"kill-{number}" if what == "create" else chance.choice(names)
            path = home + base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()).decode().rstrip("=") + ".ics"
            before = known.get(name)
            after = None if what == "delete" else title
            if number in server_kills:
                armed.append(radicale.kill)
            if number in client_kills:
                armed.append(server.p.kill)
            try:
                if what == "create":
                    out = server.call({"tool": "events_create", "args": {"destination": destination, "entity": {
                        "kind": "event", "uid": name, "fields": {"summary": title, "start": AT}}}})
                else:
                    out = server.call({"tool": "calendar_resources_get", "args": {"href": proxy.base + path}})
                    revision = out["result"]["structuredContent"]["snapshot"]["entityRevision"]
                    patch = {"target": {"scope": "master"}, "patch": {"scalars": [{"field": "summary", "operation": "set", "value": title}]}}
                    out = server.call({"tool": "events_patch", "args": {"snapshot": revision, **patch}} if what == "patch" else
                                      {"tool": "calendar_resources_delete", "args": {"revision": revision}})
                state = out["result"]["structuredContent"]["mutationState"]
            except Exception:       # killed: nothing was said
                if server.p.poll() is None and number not in client_kills:
                    raise
                state = "killed"
            if number in client_kills:
                server.p.wait(timeout=30)
                server.close()
                server = start()
            if number in server_kills:
                radicale.start()
            told[state] = told.get(state, 0) + 1
            found, whole = summary(radicale.base, path)
            if not whole or found not in (before, after):
                torn.append((number, what, found))
            true = {"committed": found == after, "not_committed": found == before, "not_attempted": found == before}
            if not true.get(state, True):
                wrong.append((number, what, state, before, found))
            if found is None:
                known.pop(name, None)
            else:
                known[name] = found
    finally:
        server.close()
        radicale.close()
        proxy.shutdown()
    check(f"every resource is the old or the new one, whole: {told}", not torn, torn)
    check("what was said is true", not wrong, wrong)
    check("the kills met writes", told.get("killed", 0) + told.get("unknown", 0) > 10, told)
