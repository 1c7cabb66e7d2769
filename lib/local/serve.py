"""Serves the local AWS on a free port of 127.0.0.1 and ends with the process that started it.

Usage: serve.py RUN_FOLDER (the argument is there to be found in the process list). The port is bound here, before
the server is loaded, so that two starts can never want the same one; it is printed as the only line of standard
output. Standard input is the starter's hold on this process: at its end, however the starter ended, this whole
process group (the Lambda workers are in it) is killed. The line "keep" lets go of that.
"""

import asyncio
import os
import signal
import socket
import threading


def end_with_the_starter() -> None:
    # Unbuffered: a thread that waits in sys.stdin would hold its lock when the interpreter ends.
    if os.read(0, 5) != b"keep\n":
        os.killpg(0, signal.SIGKILL)


def main() -> None:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    os.environ["GATEWAY_PORT"] = str(port)
    threading.Thread(target=end_with_the_starter, daemon=True).start()

    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from ministack.app import app

    import corrections

    corrections.apply()

    config = Config()
    # MiniStack's own entry point would also take port 443 where it may.
    config.bind = [f"fd://{listener.fileno()}"]
    config.certfile = os.environ["MINISTACK_SSL_CERT"]
    config.keyfile = os.environ["MINISTACK_SSL_KEY"]
    config.keep_alive_timeout = 75
    config.loglevel = "WARNING"
    print(port, flush=True)
    os.dup2(2, 1)  # The starter reads one line; nothing that is printed later may fail for want of a reader.
    asyncio.run(serve(app, config))


main()
