"""A server with a few workers and a queue, which has trouble for some time.

    upstream.py WORKERS WORK TROUBLE FROM TO     prints its port, and the seconds that its requests waited, at its end

A request takes WORK seconds of a worker, whether its client is still there or not, as in most servers. The clock begins
with the first request. Between the seconds FROM and TO the TROUBLE is one of: slow (ten times the work), resets (half of
the connections are reset), drops (requests are read and never answered), fails (status 503), none.
"""
import asyncio
import random
import socket
import struct
import sys
import time

workers, work, trouble, begin, end = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], *map(float, sys.argv[4:6])
first = None
chance = random.Random(1)


def is_troubled():
    return begin <= time.monotonic() - first < end


async def serve(reader, writer):
    global first
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            first = first or time.monotonic()
            troubled = trouble if is_troubled() else "none"
            if troubled == "resets" and chance.random() < 0.5:
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if troubled == "drops":
                await reader.read()
                return
            async with places:
                await asyncio.sleep(work * (10 if trouble == "slow" and is_troubled() else 1))
            status = b"503 Service Unavailable" if troubled == "fails" else b"200 OK"
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 5\r\n\r\nhello")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    global places
    places = asyncio.Semaphore(workers)
    server = await asyncio.start_server(serve, "0.0.0.0", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
