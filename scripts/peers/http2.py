"""An HTTP/2 server over TLS whose responses break off in every way that the protocol allows. By path:

    /ok            200, `ok`
    /cut/HOW       200 and ten bytes of a body, then HOW; /cut/HOW/100 announces a hundred bytes first
                   HOW: reset, cancel, no-error (RST_STREAM), goaway, close (the connection ends), tcp-reset,
                   broken (a frame that is invalid for the whole connection, which stays open)
    /refuse/HOW    the same before the head
    /refuse-once/N the stream is refused (REFUSED_STREAM), and 200, `ok` for the next request with that path
    /counted/WORD  the number of requests so far whose path ends in the word
    /hold          200 and ten bytes, then nothing until a request for /release on any connection: then ten more
    /release       ends every /hold
    /barrier/N     responds when N requests wait on this connection
    /waiting       the number of requests that wait on this connection
    /resets        the number of streams that clients have reset so far, in total
    /trailers      200, `ok` and a field after the body; /trailers/2 announces the two bytes first
    /early/HOW     `early` and the end of the stream after the first bytes of the body, HOW: reset (200, and RST_STREAM
                   with NO_ERROR), length (200, with Content-Length), 413
    /echo          200, and each piece of the request's body as it comes
    /speak/N       200 and one byte; for each piece of the request's body another one, and after N the end and
                   RST_STREAM with NO_ERROR
    /hints         103 twice, the first with two fields, then 200, `ok`
    /one-each      200, and GOAWAY: the connection accepts no further request
    /http1/NAME    over HTTP/2, resets the stream with HTTP_1_1_REQUIRED; over HTTP/1.1, 200 with how many requests of
                   this name were refused, and how many bytes the body has

Over HTTP/1.1 it responds to /early in one chunk, and resets every connection at the first bytes of any other request.

    http2.py ADDRESS PORT CERTIFICATE KEY
"""
import asyncio
from collections import Counter
import socket
import ssl
import struct
import sys

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes

held = set()
resets = 0
# How many requests were to come over HTTP/1.1, by path.
refused = Counter()
paths = []


class Peer(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.waiting = []
        # How many more bytes each stream that speaks with its client gets; None for one that echoes.
        self.turns = {}
        # How a stream ends early, once its request's body has begun.
        self.early = {}
        self.received = b""
        self.speaks_http2 = transport.get_extra_info("ssl_object").selected_alpn_protocol() == "h2"
        if not self.speaks_http2:
            return
        self.http = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.http.local_settings[SettingCodes.MAX_CONCURRENT_STREAMS] = 200
        self.http.initiate_connection()
        self.flush()

    def connection_lost(self, error):
        for entry in [entry for entry in held if entry[0] is self]:
            held.discard(entry)

    def flush(self):
        self.transport.write(self.http.data_to_send())

    def data_received(self, data):
        global resets
        if not self.speaks_http2:
            self.received += data
            self.answer_http1()
            return
        try:
            events = self.http.receive_data(data)
        except ProtocolError:
            self.flush()
            self.transport.close()
            return
        for event in events:
            if isinstance(event, RequestReceived):
                self.answer(event.stream_id, dict(event.headers)[":path"])
            elif isinstance(event, DataReceived) and event.stream_id in self.early:
                self.end_early(event.stream_id, self.early.pop(event.stream_id))
            elif isinstance(event, DataReceived) and event.stream_id in self.turns:
                self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                self.take_turn(event.stream_id, event.data)
            elif isinstance(event, StreamEnded) and self.turns.get(event.stream_id, 0) is None:
                self.http.end_stream(event.stream_id)
            elif isinstance(event, StreamReset):
                resets += 1
                held.discard((self, event.stream_id))
        self.flush()

    def take_turn(self, stream, piece):
        left = self.turns[stream]
        if left is None:
            self.http.send_data(stream, piece)
        elif left > 0:
            self.turns[stream] = left - 1
            self.http.send_data(stream, b"A", end_stream=left == 1)
            if left == 1:
                self.http.reset_stream(stream, ErrorCodes.NO_ERROR)

    def end_early(self, stream, how):
        self.head(stream, 5 if how == "length" else None, how if how.isdigit() else "200")
        self.http.send_data(stream, b"early", end_stream=True)
        if how == "reset":
            self.http.reset_stream(stream, ErrorCodes.NO_ERROR)

    def answer_http1(self):
        head, end, body = self.received.partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode() if head.count(b" ") > 1 else ""
        if path.startswith("/early/"):
            if body and not self.turns:
                self.turns[0] = 0
                self.transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\n\r\n")
            return
        if not path.startswith("/http1/"):
            self.reset()
            return
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        if end and len(body) == int(fields.get(b"content-length", 0)):
            text = b"%d %d" % (refused[path], len(body))
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
            self.received = b""

    def head(self, stream, length=None, status="200"):
        fields = [(":status", status)]
        if length is not None:
            fields.append(("content-length", str(length)))
        self.http.send_headers(stream, fields)

    def whole(self, stream, text):
        self.head(stream, len(text))
        self.http.send_data(stream, text, end_stream=True)

    def answer(self, stream, path):
        name, *rest = path.strip("/").split("/")
        if name == "counted":
            self.whole(stream, str(sum(known.endswith(rest[0]) for known in paths)).encode())
            return
        paths.append(path)
        if name == "cut":
            self.head(stream, int(rest[1]) if len(rest) > 1 else None)
            self.http.send_data(stream, b"0123456789")
            self.end(stream, rest[0])
        elif name == "refuse":
            self.end(stream, rest[0])
        elif name == "refuse-once":
            if paths.count(path) == 1:
                self.end(stream, "refused")
            else:
                self.whole(stream, b"ok")
        elif name == "hold":
            self.head(stream)
            self.http.send_data(stream, b"0123456789")
            held.add((self, stream))
        elif name == "release":
            for peer, other in list(held):
                peer.http.send_data(other, b"0123456789", end_stream=True)
                peer.flush()
            held.clear()
            self.whole(stream, b"ok")
        elif name == "barrier":
            self.waiting.append(stream)
            if len(self.waiting) >= int(rest[0]):
                for other in self.waiting:
                    self.whole(other, b"ok")
                self.waiting = []
        elif name == "waiting":
            self.whole(stream, str(len(self.waiting)).encode())
        elif name == "resets":
            self.whole(stream, str(resets).encode())
        elif name == "trailers":
            self.head(stream, int(rest[0]) if rest else None)
            self.http.send_data(stream, b"ok")
            self.http.send_headers(stream, [("x-after", "the body")], end_stream=True)
        elif name == "early":
            self.early[stream] = rest[0]
        elif name == "echo":
            self.head(stream)
            self.turns[stream] = None
        elif name == "speak":
            self.head(stream)
            self.turns[stream] = int(rest[0])
            self.take_turn(stream, b"")
        elif name == "hints":
            self.http.send_headers(stream, [(":status", "103"), ("link", "</a>; rel=preload"), ("x-first", "1")])
            self.http.send_headers(stream, [(":status", "103"), ("link", "</b>; rel=preload")])
            self.whole(stream, b"ok")
        elif name == "http1":
            refused[path] += 1
            self.end(stream, "http1")
        elif name == "one-each":
            self.whole(stream, b"ok")
            self.http.close_connection(last_stream_id=stream)
        else:
            self.whole(stream, b"ok")

    def end(self, stream, how):
        # The client must first read the data sent so far: an end in the same packet may hide it.
        self.flush()
        asyncio.get_running_loop().call_later(0.05, self.end_now, stream, how)

    def end_now(self, stream, how):
        if self.transport.is_closing():
            return
        codes = {
            "reset": ErrorCodes.INTERNAL_ERROR,
            "cancel": ErrorCodes.CANCEL,
            "no-error": ErrorCodes.NO_ERROR,
            "refused": ErrorCodes.REFUSED_STREAM,
            "http1": ErrorCodes.HTTP_1_1_REQUIRED,
        }
        if how in codes:
            self.http.reset_stream(stream, codes[how])
            self.flush()
        elif how == "tcp-reset":
            self.reset()
        elif how == "broken":
            # WINDOW_UPDATE with an increment of 0 on stream 0 (RFC 9113 section 6.9).
            self.transport.write(b"\0\0\4\x08" + bytes(9))
        else:
            if how == "goaway":
                self.http.close_connection(ErrorCodes.INTERNAL_ERROR, last_stream_id=stream)
                self.flush()
            self.transport.close()

    def reset(self):
        raw = self.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


async def main():
    address, port, certificate, key = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Peer, address, int(port), ssl=context, backlog=512)
    async with server:
        await server.serve_forever()


asyncio.run(main())
