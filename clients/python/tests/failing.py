"""A service that fails as it is told, on a real socket."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Union

HEADER = "asset_schema,interval,country_iso_code,exchange,symbol,datetime,close_datetime,open,high,low,close,volume,vwap"


def bars(first: int, count: int) -> str:
    """Rows of minutes from 14:`first` on, which close at their minute."""
    rows = [
        f"STOCK,1M,US,,AAPL,2025-03-03T14:{minute:02}:00+00:00,2025-03-03T14:{minute + 1:02}:00+00:00,1,99,1,{minute},10,"
        for minute in range(first, first + count)
    ]
    return "\r\n".join([HEADER, *rows, ""])


@dataclass
class Answer:
    """What is sent: a status, a body, and headers. `length` is the length that is told; `seconds` pass before anything is sent."""

    body: Union[str, bytes] = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: Union[int, None] = None
    seconds: float = 0


def page(first: int, count: int, next_key: str | None = None, **headers: str) -> Answer:
    told = {"Content-Type": "text/csv; charset=utf-8; header=present", "X-Count": str(count)}
    if next_key is not None:
        told["X-Next-Page-Key"] = next_key
    return Answer(bars(first, count), headers={**told, **{name.replace("_", "-"): value for name, value in headers.items()}})


def error(status: int, word: str, message: str = "It failed.", **headers: str) -> Answer:
    body = f'{{"status":"error","code":{status},"message":"{message}","reference":null,"result":null,"detail":{{"error":"{word}","request_id":"r1"}}}}'
    return Answer(body, status, {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}})


class FailingServer(ThreadingHTTPServer):
    """Gives its answers in order; a function is called with the path and the headers of the request."""

    daemon_threads = True

    def __init__(self, *answers: Union[Answer, Callable[[str, dict[str, str]], Answer]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, str], float]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.asked]

    def __enter__(self) -> FailingServer:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """A caller that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FailingServer

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.path, headers, time.monotonic()))
        given = self.server.answers.pop(0)
        answer = given if isinstance(given, Answer) else given(self.path, headers)
        time.sleep(answer.seconds)
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 304:
            self.send_header("Content-Length", str(len(body) if answer.length is None else answer.length))
        self.end_headers()
        self.wfile.write(body)
        if answer.length is not None:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass
