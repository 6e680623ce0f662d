"""A receiver of webhooks, with nothing but Python (3.7 or newer):

    SECRET='the secret of the webhook' PORT=8090 python3 examples/webhook-receiver/receiver.py

It prints each event as a line of JSON, once. Where it refuses one, stderr and the answer say why.
It keeps the bytes of the body as they came, checks the signature over them, and only then parses.
"""

import hashlib
import hmac
import json
import os
import sys
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("SECRET", "")
PORT = int(os.environ.get("PORT", "8090"))

# Longer bodies are refused before they are read.
BODY_BYTES_MAX = 1_048_576
# As much of them is read and thrown away, so that the answer arrives.
UNREAD_BYTES_MAX = 16 * BODY_BYTES_MAX
# Older events are refused: a delivery that somebody recorded cannot be sent again later.
AGE_MAX = timedelta(hours=float(os.environ.get("MAX_AGE_HOURS", "48")))
# How far the clock of the service may be ahead of ours.
AHEAD_MAX = timedelta(minutes=5)
# Events that were seen: a delivery comes again when its answer did not arrive. The oldest is
# forgotten first.
SEEN_MAX = 100_000
seen = {}
seen_lock = threading.Lock()


def is_signed(body, headers):
    """Whether the signature fits. There are two while a secret is replaced."""
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest().encode()
    found = False
    for name in ("X-Service-Signature", "X-Service-Signature-Next"):
        given = headers.get(name, "")
        if given.startswith("sha256="):
            given = given[len("sha256=") :]
        found |= hmac.compare_digest(given.encode("utf-8", "replace"), expected)
    return found


def event_of(body):
    """What identifies an event, and its time.

    Raises ValueError, KeyError, TypeError, AttributeError or RecursionError for anything else.
    """
    event = json.loads(body.decode())
    timestamp, resource_id = event["timestamp"], event["data"].get("id")
    # The emitted format has no id of the event, and no Z behind its time.
    event_id = event.get("eventId") or f"{event.get('event_type')} {resource_id} {timestamp}"
    hash(event_id)
    sent = datetime.strptime(timestamp.rstrip("Z"), "%Y-%m-%dT%H:%M:%S.%f")
    return event_id, sent.replace(tzinfo=timezone.utc)


def answer_to_body(body, headers):
    """The status of the answer, and what to say about it."""
    if not is_signed(body, headers):
        return 401, "the signature does not fit: is SECRET the secret of this webhook?"
    try:
        event_id, sent = event_of(body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 400, "the body is not an event"
    age = datetime.now(timezone.utc) - sent
    if age > AGE_MAX:
        return 400, "the event is too old"
    if age < -AHEAD_MAX:
        return 400, "the event is of the future: compare the clocks"
    with seen_lock:
        if event_id in seen:
            return 200, "the event was seen before"
        # Where it fails, the event is not seen yet: the delivery comes again.
        handle(body.decode())
        if len(seen) >= SEEN_MAX:
            del seen[next(iter(seen))]
        seen[event_id] = True
    return 204, None


def handle(line):
    """Put your work here.

    Answer soon, and work later: after 30 seconds without an answer the delivery comes again.
    """
    print(line, flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Seconds that a client may be silent.
    timeout = 30

    def do_POST(self):
        length = self.headers.get("Content-Length")
        if length is None:
            return self.answer(411, "the length of the body is missing", unread=0)
        if not length.isdecimal() or len(length) > 15:
            return self.answer(400, "the length of the body is not a number", unread=0)
        if int(length) > BODY_BYTES_MAX:
            return self.answer(413, "the body is too long", unread=int(length))
        self.answer(*answer_to_body(self.rfile.read(int(length)), self.headers))

    def refuse_method(self):
        self.answer(405, "the method is not POST", unread=0)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = refuse_method

    def answer(self, status, remark, unread=None):
        if remark is not None:
            print(status, remark, file=sys.stderr, flush=True)
        # The remark is answered, too: the service shows it with the delivery.
        body = (remark or "").encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        if unread is not None:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        # What is still coming is thrown away, so that the answer arrives.
        unread = min(unread or 0, UNREAD_BYTES_MAX)
        while unread:
            chunk = self.rfile.read(min(unread, 65_536))
            if not chunk:
                break
            unread -= len(chunk)

    def log_message(self, *_):
        """Says nothing of its own."""


if __name__ == "__main__":
    if SECRET == "":
        sys.exit("set SECRET to the secret of the webhook")
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    print("listening on port", server.server_port, file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
