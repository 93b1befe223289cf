"""Bourse from Python: whole answers as pandas, polars or Arrow frames.

Each method is written once, as a generator that yields what to do: a request to send, a pause in seconds, a warning, rows that
came, or other generators to run side by side. `Bourse` and `AsyncBourse` run it. Page after page comes as CSV, and is read at once.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import io
import itertools
import json
import logging
import os
import random
import re
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, TypeVar, Union
from urllib.parse import quote

import httpx
import pandas as pd

__version__ = "0.2.0"

When = Union[str, date, datetime]
"""`2025-03-03` is a whole day; a time without an offset is UTC."""

Frames = Literal["pandas", "polars", "arrow"]
Adjust = Literal["none", "split", "dividend", "all"]
Sort = Literal["asc", "desc"]
Impact = Literal["low", "medium", "high", "all"]

_F = TypeVar("_F")
_R = TypeVar("_R")
_T = TypeVar("_T")
_Step = Union[httpx.Request, float, "BourseWarning", "_Rows", "list[_Steps[Any]]"]
_Steps = Generator[_Step, Any, _T]

_LOG = logging.getLogger("bourse")
_PAGE_ROWS = 1000
_SIDE_BY_SIDE = 4
_LATEST_BARS = 10
_LATEST_SYMBOLS = 1000
_LATEST_LETTERS = 16_000
_BACKOFF_SECONDS = 0.25
_CACHE_DAYS = 30
_END_OF_TIME = "2200-12-31"
_SCHEMAS = frozenset(["stock", "future", "crypto", "forex", "option"])
_SESSION_INTERVALS = frozenset(["DAY", "1D", "WEEK", "1W", "MON", "1MO", "MONTH"])

_INSTANTS = frozenset(
    """datetime close_datetime published_date expiration_datetime quote_datetime open_timestamp close_timestamp event_timestamp first_datetime last_datetime
    complete_through from_datetime to_datetime last_modified_date finished_at""".split()
)
_DATES = frozenset("session_date ex_date ex_date__1 declaration_date record_date pay_date calendar_date expiration_date listing_date".split())
_NUMBERS = """open high low close volume vwap adjustment_factor cash_amount reference_price sentiment_score actual_value previous_value
forecast_value change change_percent strike_price contract_value tick_size lot_size min_initial_open_quantity value expected
longest_gap_minutes bid ask last open_interest implied_volatility delta gamma theta vega rho"""
_INTEGERS = """split_from split_to importance priority instrument_id asset_id daily_minute_count price_precision quantity_precision bars
expected_bars run_id run runs rows data_version"""
# A column that is not listed is text: a symbol such as 0700 or NA is no number and not missing.
_READ_AS = {
    **dict.fromkeys(_NUMBERS.split(), "float64"),
    **dict.fromkeys(_INTEGERS.split(), "Int64"),
    **dict.fromkeys(["is_indices", "undone"], "boolean"),
}
_BAR_COLUMNS = ["open", "high", "low", "close", "volume", "vwap", "close_datetime"]
_TOLD = {
    "x-data-version": "data_version",
    "x-as-of": "as_of",
    "x-as-of-limits": "as_of_limits",
    "x-symbol-history": "symbol_history",
    "x-adjust-incomplete": "adjust_incomplete",
    "x-adjusted-by": "adjusted_by",
    "x-adjusted-contracts": "adjusted_contracts",
    "x-no-data": "no_data",
}
_WARNED = ("x-as-of-limits", "x-symbol-history", "x-adjust-incomplete", "x-adjusted-by", "x-adjusted-contracts")


class BourseWarning(UserWarning):
    """The answer is right, but may not be what you expect: `X-Symbol-History`, `X-As-Of-Limits`, `X-Adjust-Incomplete`, `X-Adjusted-By`,
    `X-Adjusted-Contracts`, `X-No-Data`."""


class BourseError(Exception):
    """An error. Each word of the service's errors has a class; a word that this client does not know is a `BourseError`."""

    error: str = "error"
    """The word, such as `unknown_instrument`."""

    def __init__(
        self,
        message: str,
        *,
        error: str | None = None,
        status: int | None = None,
        param: str | None = None,
        hint: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.error = error or type(self).error
        self.message = message
        self.status = status
        """The HTTP status; None where there was no answer."""
        self.param = param
        self.hint = hint
        self.request_id = request_id
        """Names the request in the log of the service."""
        self.retry_after = retry_after
        """Seconds to wait before the next request, if the service gave them."""
        told = [message, hint, f"(request {request_id})" if request_id else None]
        super().__init__(f"{self.error}: {' '.join(part for part in told if part)}")


class MissingKey(BourseError):
    error = "missing_key"


class InvalidKey(BourseError):
    error = "invalid_key"


class Forbidden(BourseError):
    error = "forbidden"


class InvalidParameter(BourseError):
    error = "invalid_parameter"


class InvalidPageKey(BourseError):
    error = "invalid_page_key"


class UnknownInterval(BourseError):
    error = "unknown_interval"


class BadRequest(BourseError):
    error = "bad_request"


class UnknownInstrument(BourseError):
    error = "unknown_instrument"


class UnknownPath(BourseError):
    error = "unknown_path"


class NoData(BourseError):
    error = "no_data"


class MethodNotAllowed(BourseError):
    error = "method_not_allowed"


class RequestTimeout(BourseError):
    error = "timeout"


class UriTooLong(BourseError):
    error = "uri_too_long"


class RangeNotSatisfiable(BourseError):
    error = "range_not_satisfiable"


class HeadersTooLarge(BourseError):
    error = "headers_too_large"


class RateLimited(BourseError):
    error = "rate_limited"


class Unavailable(BourseError):
    error = "unavailable"


class Internal(BourseError):
    error = "internal"


class Unreachable(BourseError):
    """No complete answer came in any attempt."""

    error = "unreachable"


class BadAnswer(BourseError):
    """The answer is not from Bourse, or it is incomplete."""

    error = "bad_answer"


class IgnoredParameter(BourseError):
    """The service does not know a parameter, so its answer would not be the one requested."""

    error = "ignored_parameter"


_ERRORS = {one.error: one for one in BourseError.__subclasses__()}
_WORD_OF_STATUS = {408: "timeout", 429: "rate_limited", 502: "unavailable", 503: "unavailable", 504: "unavailable"}
_TRANSIENT = frozenset([*_WORD_OF_STATUS.values(), "unreachable"])


@dataclass(frozen=True)
class _Page:
    """One answer: its body, and its headers in lower case."""

    body: bytes
    headers: Mapping[str, str]

    @property
    def rows(self) -> int:
        return int(self.headers["x-count"])

    @property
    def has_next(self) -> bool:
        return "x-next-page-key" in self.headers


@dataclass(frozen=True)
class _Form:
    """The frame that a caller wants of bars: their interval, the zone of their times, and their columns."""

    interval: str
    tz: str | None
    columns: list[str] | None

    @classmethod
    def of(cls, interval: str, tz: str | None, columns: str | Iterable[str] | None) -> _Form:
        return cls(interval, tz, columns.split(",") if isinstance(columns, str) else None if columns is None else list(columns))

    @property
    def has_sessions(self) -> bool:
        return self.interval.upper() in _SESSION_INTERVALS

    @property
    def stamp(self) -> str:
        """The column that becomes the index."""
        return "session_date" if self.has_sessions else "datetime"

    def params(self, *needed: str) -> dict[str, Any]:
        """The parameters for the columns of the frame, its index, and others that are needed."""
        if self.columns is None:
            return {"session_date": self.has_sessions}
        others = [name for name in dict.fromkeys([*needed, self.stamp]) if name not in self.columns]
        return {"columns": ",".join([*self.columns, *others])}


@dataclass(frozen=True)
class _Rows:
    """Rows that came."""

    count: int


class _Watched:
    """A call while it runs. Its warnings name the line outside this file that called, whichever thread or task they come from; its progress is
    a bar of tqdm."""

    def __init__(self, bar: Callable[..., Any] | None) -> None:
        frame = sys._getframe()
        while frame.f_back is not None and frame.f_globals is globals():
            frame = frame.f_back
        self._place = (frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__"))
        self._registry = frame.f_globals.setdefault("__warningregistry__", {})
        self._bar = None if bar is None else bar(unit=" rows", desc="bourse")
        self._lock = threading.Lock()

    def warn(self, warning: BourseWarning) -> None:
        file, line, module = self._place
        warnings.warn_explicit(warning, BourseWarning, file, line, module, self._registry)

    def came(self, rows: int) -> None:
        if self._bar is not None:
            with self._lock:
                self._bar.update(rows)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()


@dataclass(frozen=True)
class _Ask:
    """A request without what changes from page to page; `place` is that of the page in its walk."""

    path: str
    params: Mapping[str, str]
    place: int = 0

    @property
    def name(self) -> str:
        return json.dumps([self.path, sorted(self.params.items()), self.place])


class _Cache:
    """Answers in a folder. None is used before the service has said that it still holds."""

    def __init__(self, folder: str | os.PathLike[str], service: str) -> None:
        self._folder = Path(folder).expanduser()
        self._service = service
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        oldest = time.time() - _CACHE_DAYS * 86_400
        for entry in self._folder.glob("*.bourse"):
            if entry.stat().st_mtime < oldest:
                entry.unlink(missing_ok=True)

    def _path(self, ask: _Ask) -> Path:
        return self._folder / f"{hashlib.sha256(f'{self._service} {ask.name}'.encode()).hexdigest()}.bourse"

    def get(self, ask: _Ask) -> _Page | None:
        """What was kept; None where nothing was, or the file is damaged."""
        try:
            head, _, body = self._path(ask).read_bytes().partition(b"\n")
            digest, headers = json.loads(head)
            os.utime(self._path(ask))
        except (OSError, ValueError):
            return None
        return _Page(body, headers) if digest == hashlib.sha256(body).hexdigest() else None

    def put(self, ask: _Ask, page: _Page) -> None:
        head = json.dumps([hashlib.sha256(page.body).hexdigest(), dict(page.headers)])
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
            file.write(head.encode() + b"\n" + page.body)
        os.replace(file.name, self._path(ask))


class _Areas(Generic[_F, _R]):
    """The methods of both clients. `_F` is a frame, `_R` a record or a map of codes; or what is awaited to get one."""

    _client: ClassVar[Any]

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        frames: Frames = "pandas",
        timeout: float = 30.0,
        retries: int = 5,
        retry_seconds_max: float = 60.0,
        cache: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> None:
        """
        Parameters
        ----------
        url : the address of the service, such as `http://127.0.0.1:8080`; by default that of the environment variable `BOURSE_URL`
        key : the text that `bourse keys create` printed; by default that of the environment variable `BOURSE_KEY`
        frames : the kind of frames to return
        timeout : seconds without a byte
        retries : further tries of a request that got no answer, or the answer 429 or 503
        retry_seconds_max : the longest pause; if the service asks for a longer one, such as until tomorrow, the error is raised at once
        cache : a folder for answers; the service sends an answer again only if it has changed
        progress : whether each call shows the rows that came, in a bar of tqdm; without tqdm nothing is shown

        Raises
        ------
        ValueError : an argument cannot be used, or there is no address or no key
        """
        address, secret = _given_or_set(url=url, key=key)
        if not secret or not secret.isascii() or any(not "!" <= letter <= "~" for letter in secret):
            raise ValueError("key: give the text that `bourse keys create` printed, without spaces")
        parts = httpx.URL(address)
        if parts.scheme not in ("http", "https") or not parts.host or parts.query or parts.userinfo:
            raise ValueError("url: give the address alone, such as http://127.0.0.1:8080")
        if frames not in ("pandas", "polars", "arrow"):
            raise ValueError(f"frames: {frames!r} is none of pandas, polars, arrow")

        def authorize(request: httpx.Request) -> httpx.Request:
            request.headers["Authorization"] = f"Bearer {secret}"
            return request

        self._url = address.rstrip("/")
        self._redact: Callable[[str], str] = lambda text: text.replace(secret, "<API_KEY>")
        self._frames = frames
        self._retries = retries
        self._retry_seconds_max = retry_seconds_max
        self._progress = _bars_of_tqdm() if progress else None
        self._cache = None if cache is None else _Cache(cache, self._url)
        # As the client's own authentication, so that no netrc file replaces it and no redirect carries it on.
        self._http = self._client(auth=authorize, timeout=timeout, headers={"User-Agent": f"bourse-python/{__version__}"})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def _call(self, steps: _Steps[Any]) -> Any:
        """Does the steps of a method."""
        return self._whole(steps, _Watched(self._progress))

    def _whole(self, steps: _Steps[Any], call: _Watched) -> Any:
        raise NotImplementedError

    # ---- bars ----

    def bars(
        self,
        symbols: str | Iterable[str],
        interval: str,
        start: When,
        end: When | None = None,
        *,
        adjust: Adjust | None = None,
        adjust_as_of: When | None = None,
        is_eth: bool = False,
        as_of: When | None = None,
        data_version: int | None = None,
        tz: str | None = None,
        columns: str | Iterable[str] | None = None,
    ) -> _F:
        """
        All bars that open in a range, oldest first.

        Parameters
        ----------
        symbols : one symbol, or a list. `US:AAPL` is a stock; others have their asset type before them: `crypto:GLOBAL:BTCUSD`
        interval : such as `5M` or `DAY`
        start, end : the first and the last open, both included; without `end` up to the newest
        adjust, adjust_as_of : the corporate actions that prices are adjusted for, and the last ex-date of them
        is_eth : whether to include extended hours
        as_of : the moment at which the returned data were known
        data_version : the version of the stored data, as in `attrs` of an earlier frame
        tz : the zone of the times, by default UTC
        columns : the columns of the frame, in this order; the service sends no others

        Returns
        -------
        A frame whose index `timestamp` is the open; for DAY, WEEK and MON the date of the session, without a zone. For a list the index is
        (symbol, timestamp). An empty frame is a `BourseWarning` that says why, as `attrs["no_data"]` does.

        Raises
        ------
        UnknownInstrument : a symbol is unknown
        UnknownInterval, InvalidParameter : another argument is invalid

        Examples
        --------
        >>> service.bars("US:GAMMA", "DAY", "2020-08-28", adjust="split", columns=["close", "volume"])
                    close  volume
        timestamp
        2020-08-28  126.0   400.0
        2020-08-31  504.0   400.0
        """
        path = f"from/{_segment(start)}/to/{_segment(end or _END_OF_TIME)}"
        params = {"adjust": adjust, "adjust_as_of": adjust_as_of, "is_eth": is_eth, **_at(as_of, data_version)}
        return self._call(self._bars(symbols, path, params, _Form.of(interval, tz, columns)))

    def latest(
        self,
        symbols: str | Iterable[str],
        interval: str,
        limit: int | None = None,
        *,
        adjust: Adjust | None = None,
        adjust_as_of: When | None = None,
        is_eth: bool = False,
        as_of: When | None = None,
        data_version: int | None = None,
        tz: str | None = None,
        columns: str | Iterable[str] | None = None,
    ) -> _F:
        """
        The newest completed bars of one symbol or a list, oldest first; those of a list are from one version of the data.

        Up to 10 bars of each of 1,000 symbols come in one answer, which counts as one request of a quota. For more symbols the client sends further
        requests, for more bars one for each symbol.

        Parameters
        ----------
        symbols : one symbol, such as `US:AAPL`, or a list
        interval : such as `5M` or `DAY`
        limit : the number of bars of each symbol, 1 to 1000; by default 150 of one symbol, and 1 of each of a list
        adjust, adjust_as_of, is_eth, as_of, data_version, tz, columns : as for `bars`

        Returns
        -------
        A frame like that of `bars`; for a list by symbol, as you wrote it, and time. Its `attrs["missing"]` then lists the symbols without a bar,
        which are a `BourseWarning` too.

        Raises
        ------
        UnknownInstrument : the only symbol is unknown; in a list it counts as missing
        InvalidParameter : a symbol, the interval or the limit is invalid

        Examples
        --------
        >>> service.latest(["US:AAPL", "US:GAMMA"], "DAY", columns="close,volume").round(2)
                             close   volume
        symbol   timestamp
        US:AAPL  2025-03-10  124.0  75952.5
        US:GAMMA 2020-08-31  504.0    400.0
        """
        params = {"adjust": adjust, "adjust_as_of": adjust_as_of, "is_eth": is_eth, **_at(as_of, data_version)}
        form = _Form.of(interval, tz, columns)
        if isinstance(symbols, str):
            return self._call(self._bars(symbols, "latest", {**params, "limit": 150 if limit is None else limit}, form))
        return self._call(self._latest(symbols, 1 if limit is None else limit, params, form))

    def bulk(
        self,
        market: str,
        interval: str,
        start: When,
        end: When | None = None,
        symbols: Iterable[str] | None = None,
        *,
        adjust: Adjust | None = None,
        adjust_as_of: When | None = None,
        is_eth: bool = False,
        as_of: When | None = None,
        data_version: int | None = None,
        tz: str | None = None,
        columns: str | Iterable[str] | None = None,
    ) -> _F:
        """
        All bars of a market, or of some of its symbols, from one answer: much faster than symbol by symbol.

        Parameters
        ----------
        market : `US`, of stocks, or with the asset type before it: `crypto:GLOBAL`
        interval : such as `5M` or `DAY`
        start, end : the first and the last open, both included; without `end` the day `start`
        symbols : symbols of the market, such as `AAPL`; by default all
        adjust, adjust_as_of, is_eth, as_of, data_version, tz, columns : as for `bars`

        Returns
        -------
        A frame like that of `bars` for a list, with symbols such as `US:AAPL`, in their order.

        Raises
        ------
        UnknownInstrument : a symbol is unknown
        InvalidParameter : another argument is invalid, or the answer would be too large

        Examples
        --------
        >>> service.bulk("US", "DAY", "2020-08-27", "2020-08-28", ["GAMMA"], columns="close")
                             close
        symbol   timestamp
        US:GAMMA 2020-08-27  504.0
                 2020-08-28  504.0
        """
        schema, _, country = market.rpartition(":")
        path = f"{_segment(schema or 'stock')}/bulk/bars/{_segment(country)}/{_segment(interval)}"
        params = {
            "symbols": None if symbols is None else ",".join(symbols),
            "adjust": adjust,
            "adjust_as_of": adjust_as_of,
            "is_eth": is_eth,
            **_at(as_of, data_version),
            "format": "csv",
        }
        place = f"{path}/from/{_segment(start)}/to/{_segment(end or start)}"
        return self._call(self._bulk(market, place, params, _Form.of(interval, tz, columns)))

    # ---- instruments ----

    def reference(self, symbol: str, *, as_of: When | None = None, data_version: int | None = None) -> _R:
        """
        The record of an instrument.

        Parameters
        ----------
        symbol : such as `US:AAPL`
        as_of, data_version : as for `bars`

        Returns
        -------
        A dict.

        Raises
        ------
        UnknownInstrument : the symbol is unknown

        Examples
        --------
        >>> service.reference("US:AAPL")["daily_minute_count"]
        390
        """
        schema, name = _instrument(symbol)
        return self._call(self._result(f"{schema}/reference/{_segment(name)}", _at(as_of, data_version)))

    def search(
        self,
        query: str,
        schema: str = "stock",
        *,
        country: str | None = None,
        limit: int = 20,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        Instruments whose symbol or name matches a text.

        Parameters
        ----------
        query : the beginning of a symbol, or words of a name
        schema, country : the asset type; only this country, if given
        limit : the number of instruments, 1 to 100
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each instrument.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> list(service.search("GAM")["symbol"])
        ['GAMMA']
        """
        params = {"query": query, "country_iso_code": country, "limit": limit, **_at(as_of, data_version)}
        return self._call(self._found(f"{_segment(schema)}/reference/search", params))

    def _found(self, path: str, params: Mapping[str, Any]) -> _Steps[Any]:
        rows = (yield from self._result(path, params)).get("data")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise BadAnswer(f"{path}: this is no list; is {self._url} a Bourse?")
        return self._framed(pd.DataFrame(rows))

    def actions(
        self,
        symbol: str,
        start: When = "1900-01-01",
        end: When | None = None,
        *,
        action_type: Literal["dividend", "split", "spinoff", "stock_dividend", "special_dividend"] | None = None,
        extended: bool = False,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        Dividends and splits of a stock, by their ex-dates.

        Parameters
        ----------
        symbol : such as `US:AAPL`
        start, end : the first and the last ex-date
        action_type : only this kind
        extended : whether to include all kinds of actions
        sort : `desc` reverses the order
        limit : the number of actions, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each action.

        Raises
        ------
        UnknownInstrument : the symbol is unknown
        InvalidParameter : another argument is invalid

        Examples
        --------
        >>> service.actions("US:GAMMA")[["ex_date", "action_type", "cash_amount", "split_to"]]
             ex_date action_type  cash_amount  split_to
        0 2020-08-07    dividend         0.82      <NA>
        1 2020-08-31       split          NaN         4
        """
        schema, name = _instrument(symbol)
        if schema != "stock":
            raise ValueError(f"symbol: {symbol} is no stock, and only stocks have corporate actions")
        which: dict[str, Any] = {"from_date": start, "to_date": end, "action_type": action_type, "extended": extended}
        params = {**which, "sort": sort, **_at(as_of, data_version)}
        return self._call(self._list(f"stock/stock_corporate_action/list/{_segment(name)}", params, limit))

    # ---- news ----

    def news(
        self,
        start: When,
        end: When | None = None,
        symbol: str | None = None,
        *,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        News of an instrument, of a market, or all news, by time.

        Parameters
        ----------
        start, end : the first and the last moment of publishing; without `end` up to the newest
        symbol : such as `US:AAPL`, or `US:*` for a market
        sort : `desc` gives the newest first
        limit : the number of items, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each item.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> list(service.news("2025-01-01", limit=3)["title"])
        ['NA', '=1+1', 'a, "b"\\r\\nc']
        """
        params = {"from_date": start, "to_date": end or _END_OF_TIME, "full_symbol": _full(symbol), "sort": sort, **_at(as_of, data_version)}
        return self._call(self._list("news/list", params, limit))

    def latest_news(
        self,
        symbol: str | None = None,
        limit: int = 100,
        *,
        sort: Sort | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        The newest news, oldest first.

        Parameters
        ----------
        symbol : such as `US:AAPL`, or `US:*` for a market; by default all
        limit : the number of items, 1 to 1001
        sort : `desc` gives the newest first
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each item.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> len(service.latest_news("US:AAPL", 5))
        5
        """
        params = {"full_symbol": _full(symbol), "limit": limit, "sort": sort, **_at(as_of, data_version)}
        return self._call(self._list("news/latest", params, is_paged=False))

    # ---- options ----

    def options(
        self,
        symbol: str,
        option_type: Literal["call", "put", "any"] = "any",
        moneyness: Literal["in_the_money", "out_of_the_money", "any"] = "any",
        *,
        ref_asset_price: float | None = None,
        strike_price: float | None = None,
        expiration_date: When | None = None,
        strike_from: float | None = None,
        strike_to: float | None = None,
        expiration_from: When | None = None,
        expiration_to: When | None = None,
        adjusted: bool | None = None,
        quotes: bool | None = None,
        sort_by: str | None = None,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        Option contracts of an underlying: the whole chain, or a part of it.

        Parameters
        ----------
        symbol : the underlying, such as `US:AAPL`
        option_type, moneyness : the type, and the side of the price; by default all contracts
        ref_asset_price : the price to compare strikes with, by default the latest price of the underlying
        strike_price, expiration_date : one strike, and one date
        strike_from, strike_to, expiration_from, expiration_to : ranges of strikes and dates, both ends included
        adjusted : whether to include contracts that a corporate action adjusted
        quotes : whether each contract has its newest quote, with volatility and greeks
        sort_by : such as `"strike_price desc,expiration_date"`; by default by expiration, strike and type, and without `"any"` the next expiration
            first, then the strikes nearest to the price
        sort : `desc` reverses the order
        limit : the number of contracts, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each contract.

        Raises
        ------
        UnknownInstrument : the symbol is unknown
        NoData : `moneyness` needs a price, and none is known
        InvalidParameter : another argument is invalid

        Examples
        --------
        >>> service.options("US:AAPL", strike_from=100, strike_to=100.2, expiration_to="2099-12-31")[["symbol", "strike_price", "option_type"]]
                        symbol  strike_price option_type
        0  AAPL991218C00100000         100.0        call
        1  AAPL991218C00100100         100.1        call
        2  AAPL991218C00100200         100.2        call
        """
        schema, name = _instrument(symbol)
        path = f"option/search/{schema}/{_segment(name)}/{_segment(option_type)}/moneyness/{_segment(moneyness)}"
        params = {
            "ref_asset_price": ref_asset_price,
            "strike_price": strike_price,
            "expiration_date": expiration_date,
            "strike_from": strike_from,
            "strike_to": strike_to,
            "expiration_from": expiration_from,
            "expiration_to": expiration_to,
            "adjusted": adjusted,
            "quotes": quotes,
            "sort_by": sort_by,
            "sort": sort,
            **_at(as_of, data_version),
        }
        return self._call(self._list(path, params, limit))

    def expirations(
        self,
        symbol: str,
        *,
        adjusted: bool | None = None,
        sort: Sort | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        The upcoming expirations of an underlying, nearest first.

        Parameters
        ----------
        symbol : the underlying, such as `US:AAPL`
        adjusted : whether to include contracts that a corporate action adjusted
        sort : `desc` reverses the order
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each expiration.

        Raises
        ------
        UnknownInstrument : the symbol is unknown

        Examples
        --------
        >>> service.expirations("US:AAPL")
          expiration_date       expiration_datetime
        0      2099-12-18 2099-12-18 21:00:00+00:00
        """
        schema, name = _instrument(symbol)
        path = f"option/expiration_date_list/{schema}/{_segment(name)}"
        return self._call(self._list(path, {"adjusted": adjusted, "sort": sort, **_at(as_of, data_version)}, is_paged=False))

    # ---- holidays ----

    def holidays(
        self,
        symbol: str = "US:*",
        start: When | None = None,
        end: When | None = None,
        *,
        holiday_code: str | None = None,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        Closed and shortened days of a market, by date.

        Parameters
        ----------
        symbol : `US:*` for a market, or an instrument
        start, end : the first and the last date; by default all
        holiday_code : only days with this code
        sort : `desc` reverses the order
        limit : the number of days, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each day.

        Raises
        ------
        UnknownInstrument : the symbol is unknown
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> service.holidays("US:*", "2025-11-27", "2025-11-28")[["calendar_date", "session_template"]]
          calendar_date session_template
        0    2025-11-27           CLOSED
        1    2025-11-28      EARLY_CLOSE
        """
        params = {"full_symbol": _full(symbol), "holiday_code": holiday_code, "from_date": start, "to_date": end}
        return self._call(self._list("holiday/list", {**params, "sort": sort, **_at(as_of, data_version)}, limit))

    def holiday_codes(self, country: str, *, as_of: When | None = None, data_version: int | None = None) -> _R:
        """
        The meaning of the holiday codes of a country.

        Parameters
        ----------
        country : such as `US`
        as_of, data_version : as for `bars`

        Returns
        -------
        A dict of codes.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> service.holiday_codes("US")["HOLIDAY_CHRISTMAS"]
        'Christmas Day, and a shortened day after it'
        """
        return self._call(self._result(f"holiday/holiday_codes/{_segment(country)}", _at(as_of, data_version)))

    # ---- economic calendar ----

    def events(
        self,
        start: When | None = None,
        end: When | None = None,
        *,
        country: str | None = None,
        event_code: str | None = None,
        source_id: str | None = None,
        impact: Impact | None = None,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        Economic events, by time.

        Parameters
        ----------
        start, end : the first and the last moment; by default all
        country, event_code, source_id, impact : only events with these values
        sort : `desc` reverses the order
        limit : the number of events, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each event.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> service.events(country="US", impact="high")[["event_name", "actual_value"]]
          event_name  actual_value
        0     Growth           3.1
        """
        params = {**_event_filters(start, end, country, event_code, source_id, impact), "sort": sort, **_at(as_of, data_version)}
        return self._call(self._list("economic_calendar/event_list", params, limit))

    def latest_events(
        self,
        limit: int = 5,
        *,
        country: str | None = None,
        event_code: str | None = None,
        impact: Impact | None = None,
        date_type: Literal["upcoming", "historical", "all"] | None = None,
        sort: Sort | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        The economic events nearest to now.

        Parameters
        ----------
        limit : the number of events, 1 to 1001
        country, event_code, impact : only events with these values
        date_type : `upcoming` for those to come, `historical` for past ones, by default all
        sort : `desc` reverses the order
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each event.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> list(service.latest_events(2, country="US", date_type="historical")["actual_value"])
        [2.1, 3.1]
        """
        filters: dict[str, Any] = {"country_iso_code": country, "event_code": event_code, "impact": impact, "date_type": date_type}
        params = {**filters, "sort": sort, "limit": limit, **_at(as_of, data_version)}
        return self._call(self._list("economic_calendar/latest_event_list", params, is_paged=False))

    def event(
        self,
        *,
        source_id: str | None = None,
        country: str | None = None,
        event_code: str | None = None,
        start: When | None = None,
        end: When | None = None,
        impact: Impact | None = None,
        sort: Sort | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _R:
        """
        One economic event: that of an identifier, or the newest that matches.

        Parameters
        ----------
        source_id : the identifier
        country, event_code, start, end, impact : only events with these values
        sort : `asc` gives the oldest that matches
        as_of, data_version : as for `bars`

        Returns
        -------
        A dict.

        Raises
        ------
        NoData : there is none
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> service.event(event_code="GDP_GROWTH_RATE_QOQ")["actual_value"]
        3.1
        """
        params = {**_event_filters(start, end, country, event_code, source_id, impact), "sort": sort, **_at(as_of, data_version)}
        return self._call(self._result("economic_calendar/event", params))

    def event_codes(self, country: str, *, as_of: When | None = None, data_version: int | None = None) -> _R:
        """
        The meaning of the codes of economic events of a country.

        Parameters
        ----------
        country : such as `US`
        as_of, data_version : as for `bars`

        Returns
        -------
        A dict of codes.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> "GDP_GROWTH_RATE_QOQ" in service.event_codes("US")
        True
        """
        return self._call(self._result(f"economic_calendar/event_codes/{_segment(country)}", _at(as_of, data_version)))

    # ---- what is stored ----

    def coverage(
        self,
        schema: str = "stock",
        *,
        country: str | None = None,
        query: str | None = None,
        interval: str | None = None,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        The stored series of an asset type, ordered by symbol.

        Parameters
        ----------
        schema : the asset type
        country, query, interval : only series with these values; `query` is the beginning of a symbol
        sort : `desc` reverses the order
        limit : the number of series, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each series.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> service.coverage(query="AAPL", interval="1M")[["symbol", "interval", "bars"]]
          symbol interval  bars
        0   AAPL       1M  2340
        """
        which: dict[str, Any] = {"country_iso_code": country, "query": query, "interval": interval}
        params = {**which, "sort": sort, **_at(as_of, data_version)}
        return self._call(self._list(f"{_segment(schema)}/coverage", params, limit))

    def sessions(
        self,
        symbol: str,
        start: When | None = None,
        end: When | None = None,
        *,
        interval: str | None = None,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        The sessions of one instrument: which have bars, did not trade, are missing or still to come.

        Parameters
        ----------
        symbol : such as `US:AAPL`
        start, end : the dates of the first and the last session
        interval : the interval of the series to look at
        sort : `desc` reverses the order
        limit : the number of sessions, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each session.

        Raises
        ------
        UnknownInstrument : the symbol is unknown
        InvalidParameter : another argument is invalid

        Examples
        --------
        >>> service.sessions("US:AAPL", "2025-03-07", "2025-03-10", interval="1M")[["session_date", "bars", "expected_bars"]]
          session_date  bars  expected_bars
        0   2025-03-07   390            390
        1   2025-03-10   390            390
        """
        which: dict[str, Any] = {"interval": interval, "from_date": start, "to_date": end}
        params = {**which, "sort": sort, **_at(as_of, data_version)}
        return self._call(self._list(_of(symbol, "coverage"), params, limit))

    def findings(
        self,
        symbol: str,
        start: When | None = None,
        end: When | None = None,
        *,
        interval: str | None = None,
        kind: str | None = None,
        severity: Literal["info", "warning", "error"] | None = None,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        Findings: possible faults of the stored data of an instrument, ordered by beginning.

        Parameters
        ----------
        symbol : such as `US:AAPL`
        start, end : the range in which findings lie
        interval, kind, severity : only findings with these values
        sort : `desc` reverses the order
        limit : the number of findings, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each finding.

        Raises
        ------
        UnknownInstrument : the symbol is unknown
        InvalidParameter : another argument is invalid

        Examples
        --------
        >>> len(service.findings("US:GAMMA", "2030-01-01"))
        0
        """
        which: dict[str, Any] = {"interval": interval, "from_date": start, "to_date": end, "kind": kind, "severity": severity}
        params = {**which, "sort": sort, **_at(as_of, data_version)}
        return self._call(self._list(_of(symbol, "findings"), params, limit))

    def runs(
        self,
        *,
        sort: Sort | None = None,
        limit: int | None = None,
        as_of: When | None = None,
        data_version: int | None = None,
    ) -> _F:
        """
        The imports and deletions that the data come from, ordered by number.

        Parameters
        ----------
        sort : `desc` gives the newest first
        limit : the number of runs, by default all
        as_of, data_version : as for `bars`

        Returns
        -------
        A frame with a row for each run; its `data_version` is the version of the stored data after the run.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> service.runs(limit=1)[["kind", "dataset", "file"]]
             kind dataset         file
        0  import    bars  minutes.csv
        """
        return self._call(self._list("server/runs", {"sort": sort, **_at(as_of, data_version)}, limit))

    def address_info(self, *, as_of: When | None = None) -> _R:
        """
        The base address and the version of the service.

        Parameters
        ----------
        as_of : as for `bars`

        Returns
        -------
        A dict.

        Raises
        ------
        InvalidParameter : an argument is invalid

        Examples
        --------
        >>> sorted(service.address_info())
        ['base_address', 'version']
        """
        return self._call(self._result("server/address_info", {"as_of": as_of}))

    # ---- from requests to frames ----

    def _bars(self, symbols: str | Iterable[str], path: str, params: Mapping[str, Any], form: _Form) -> _Steps[Any]:
        if isinstance(symbols, str):
            return self._framed((yield from self._series(symbols, path, params, form)))
        names = list(dict.fromkeys(symbols))
        if not names:
            raise ValueError("symbols: there is none")
        found = yield from self._each(names, path, params, form)
        together = pd.concat(found, names=["symbol", "timestamp"])
        together.attrs = {symbol: one.attrs for symbol, one in found.items()}
        return self._framed(together)

    def _each(self, names: list[str], path: str, params: Mapping[str, Any], form: _Form) -> _Steps[dict[str, pd.DataFrame]]:
        """The bars of each symbol, from requests side by side."""
        tables = yield [self._series(name, path, params, form) for name in names]
        return dict(zip(names, tables))

    def _series(self, symbol: str, path: str, params: Mapping[str, Any], form: _Form) -> _Steps[pd.DataFrame]:
        """The bars of one symbol."""
        schema, name = _instrument(symbol)
        whole = f"{schema}/bars/{_segment(name)}/{_segment(form.interval)}/{path}"
        of = f"{symbol} has no such bars at {form.interval}"
        table = yield from self._table(whole, {**params, **form.params()}, is_paged="limit" not in params, empty=of)
        return _indexed(table, form)

    def _latest(self, symbols: Iterable[str], limit: int, params: Mapping[str, Any], form: _Form) -> _Steps[Any]:
        """The newest bars of many symbols, all from one version of the stored data."""
        # The service takes US:AAPL and us:aapl for one symbol.
        names = list({":".join(_instrument(name)).upper(): name for name in symbols}.values())
        if not names:
            raise ValueError("symbols: there is none")
        params = {**params, "limit": min(limit, _LATEST_BARS)}
        parts: list[pd.DataFrame] = []
        having: set[str] = set()
        reasons: list[str] = []
        told: dict[str, Any] = {}
        for schema, some in _requests(names):
            part, of_part, reason = yield from self._newest(schema, some, params, form)
            told = {**part.attrs, **told}
            if "data_version" in told:
                params = {**params, "data_version": told["data_version"]}
            parts.append(part)
            having.update(of_part)
            reasons += [reason] if reason else []
        found = [name for name in names if name in having]
        missing = [name for name in names if name not in having]
        if missing:
            yield BourseWarning(f"{len(missing)} of {len(names)} symbols have no bars at {form.interval}: {'; '.join(reasons)}")
        if limit > _LATEST_BARS and found:
            each = yield from self._each(found, "latest", {**params, "limit": limit}, form)
            together = pd.concat(each, names=["symbol", "timestamp"])
        else:
            together = pd.concat(parts)
            places = together.index.get_level_values("symbol").map({name: at for at, name in enumerate(names)})
            together = together.iloc[places.argsort(kind="stable")]
        together.attrs = {**told, "missing": missing}
        return self._framed(together)

    def _newest(
        self, schema: str, names: list[str], params: Mapping[str, Any], form: _Form
    ) -> _Steps[tuple[pd.DataFrame, list[str], str | None]]:
        """The newest bars of symbols of one asset type, from one answer; the symbols that have some, and why the others have none."""
        path = f"{schema}/bars/latest"
        asked = {_instrument(name)[1].upper(): name for name in names}
        given = {"symbols": ",".join(asked), "interval": form.interval, **params, "format": "csv", **form.params("country_iso_code", "symbol", "datetime")}
        # The CSV alone does not say which symbols are missing: this header asks for it within JSON.
        answer = yield from self._answer(path, _texts(given), {"Accept": "application/json"})
        result = self._result_of(path, answer)
        csv, count, missing = result.get("data"), result.get("count"), result.get("missing")
        if not isinstance(csv, str) or not isinstance(count, int) or not isinstance(missing, list):
            raise BadAnswer(f"{path}: this is no list of bars; is {self._url} a Bourse?")
        told = _told(answer)
        table = _read([_Page(csv.encode(), {**told, "x-count": str(count)})])
        yield _Rows(len(table))
        bars = _indexed(table, form)
        found = [name for symbol, name in asked.items() if symbol not in {str(one).upper() for one in missing}]
        # Where the next symbol begins: its name is another, or, of two names of one instrument, its time goes back.
        same = (table[["country_iso_code", "symbol"]] == table[["country_iso_code", "symbol"]].shift()).all(axis=1)
        begins = ~(same & (table["datetime"] > table["datetime"].shift()))
        if begins.sum() != len(found):
            raise BadAnswer(f"{path}: bars of {begins.sum()} symbols came, and {len(asked) - len(found)} of {len(asked)} are missing")
        owners = [found[at - 1] for at in begins.cumsum()]
        bars.index = pd.MultiIndex.from_arrays([pd.Index(owners, dtype="object"), bars.index], names=["symbol", "timestamp"])
        bars.attrs = _attrs(told)
        yield from _notices(told)
        return bars, found, bars.attrs.pop("no_data", None)

    def _bulk(self, market: str, path: str, params: Mapping[str, Any], form: _Form) -> _Steps[Any]:
        """The bars of many symbols. An answer that breaks off is asked for again, as one that did not come."""
        answer = yield from self._answer(path, _texts({**params, **form.params("symbol")}))
        self._check_csv(path, answer)
        told = _told(answer)
        table = _read([_Page(answer.content, {**told, "x-count": str(answer.content.count(b"\n") - 1)})])
        yield _Rows(len(table))
        table.attrs = _attrs(told)
        yield from _notices(told)
        if "no_data" in table.attrs:
            yield BourseWarning(f"{market} has no such bars at {form.interval}: {table.attrs['no_data']}")
        bars = _indexed(table, form)
        bars.index = pd.MultiIndex.from_arrays([f"{market}:" + table["symbol"], bars.index], names=["symbol", "timestamp"])
        return self._framed(bars)

    def _list(self, path: str, params: Mapping[str, Any], limit: int | None = None, is_paged: bool = True) -> _Steps[Any]:
        return self._framed((yield from self._table(path, params, limit, is_paged)))

    def _table(
        self, path: str, params: Mapping[str, Any], limit: int | None = None, is_paged: bool = True, empty: str = "there are no rows"
    ) -> _Steps[pd.DataFrame]:
        """A whole list, or its first `limit` rows; with what the service said of it as `attrs`. If the frame is empty, `empty` begins its warning."""
        ask = _Ask(path, _texts({**params, "format": "csv"}))
        pages = (yield from self._walk(ask, limit)) if is_paged else [(yield from self._page(ask))]
        table = _read(pages)
        if not is_paged:
            yield _Rows(len(table))
        told = pages[-1].headers
        table.attrs = _attrs(told)
        yield from _notices(told)
        if "no_data" in table.attrs:
            yield BourseWarning(f"{empty}: {table.attrs['no_data']}")
        return table

    def _framed(self, table: pd.DataFrame) -> Any:
        """A table as the frame that was chosen."""
        if self._frames == "pandas":
            return table
        columns = table.reset_index() if any(table.index.names) else table
        columns.attrs = {}
        if self._frames == "polars":
            import polars

            return polars.from_pandas(columns)
        import pyarrow

        return pyarrow.Table.from_pandas(columns, preserve_index=False)

    # ---- from requests to answers ----

    def _walk(self, ask: _Ask, limit: int | None) -> _Steps[list[_Page]]:
        """All pages, or those of the first `limit` rows. If the service no longer accepts a page key, the pages begin again, once."""
        if limit is not None and limit < 1:
            raise ValueError("limit: at least 1 row")
        for is_last_try in (False, True):
            pages: list[_Page] = []
            try:
                yield from self._follow(ask, limit, pages)
                return pages
            except InvalidPageKey:
                if is_last_try or not pages:
                    raise
        raise AssertionError

    def _follow(self, ask: _Ask, limit: int | None, pages: list[_Page]) -> _Steps[None]:
        left = limit
        key: str | None = None
        while True:
            size = _PAGE_ROWS if left is None else min(left, _PAGE_ROWS)
            at = _Ask(ask.path, {**ask.params, "limit": str(size)}, place=len(pages))
            page = yield from self._page(at, key)
            pages.append(page)
            yield _Rows(page.rows)
            before, key = key, page.headers.get("x-next-page-key")
            left = None if left is None else left - page.rows
            if key is None or left == 0:
                return
            if key == before or page.rows == 0:
                raise BadAnswer(f"{ask.path}: the service gives the same page again")

    def _page(self, ask: _Ask, key: str | None = None) -> _Steps[_Page]:
        """One answer in CSV. What is cached is used where the service says that it still holds; which page is next is never cached."""
        kept = self._cache.get(ask) if self._cache else None
        params = {**ask.params, "next_page_key": key} if key else ask.params
        answer = yield from self._answer(ask.path, params, {"If-None-Match": kept.headers["etag"]} if kept else {})
        if kept and answer.status_code == 304 and kept.has_next and "x-next-page-key" not in answer.headers:
            kept = None
            answer = yield from self._answer(ask.path, params)
        if kept and answer.status_code == 304:
            return _Page(kept.body, {**_told(answer), "x-count": kept.headers["x-count"]})
        page = _Page(answer.content, _told(answer))
        self._check_csv(ask.path, answer)
        if not re.fullmatch("[0-9]{1,9}", page.headers.get("x-count", "")) or ("link" in page.headers and not page.has_next):
            raise BadAnswer(f"{ask.path}: X-Count or X-Next-Page-Key is missing; does a proxy remove headers?")
        if self._cache and "etag" in page.headers:
            self._cache.put(ask, page)
        return page

    def _check_csv(self, path: str, answer: httpx.Response) -> None:
        if answer.headers.get("content-type", "").partition(";")[0] != "text/csv":
            raise BadAnswer(f"{path}: this is no CSV; is {self._url} a Bourse?")

    def _result(self, path: str, params: Mapping[str, Any]) -> _Steps[dict[str, Any]]:
        """The `result` of an answer in JSON."""
        answer = yield from self._answer(path, _texts(params))
        yield from _notices(answer.headers)
        return self._result_of(path, answer)

    def _result_of(self, path: str, answer: httpx.Response) -> dict[str, Any]:
        body = _json(answer)
        if body.get("status") != "ok" or not isinstance(body.get("result"), dict):
            raise BadAnswer(f"{path}: the answer is not from a Bourse service; is {self._url} one?")
        return body["result"]

    def _answer(self, path: str, params: Mapping[str, str], headers: Mapping[str, str] = MappingProxyType({})) -> _Steps[httpx.Response]:
        """Asks until there is an answer, with the pauses that the service asks for."""
        request = self._http.build_request("GET", f"{self._url}/api/v2/{path}", params=params, headers=headers)
        for tried in range(self._retries + 1):
            problem: BourseError | None
            try:
                answer: httpx.Response = yield request
            except httpx.RequestError as error:
                problem = Unreachable(self._redact(f"{self._url}: {type(error).__name__}: {error}"))
            else:
                problem = self._problem(answer, "If-None-Match" in headers)
                if problem is None:
                    return answer
            if problem.error not in _TRANSIENT or tried == self._retries or (problem.retry_after or 0) > self._retry_seconds_max:
                raise problem
            pause = (problem.retry_after or 0) + random.uniform(0.5, 1) * _BACKOFF_SECONDS * 2**tried
            # A pause that nobody notices is no news; without a handler Python prints warnings alone.
            level = logging.WARNING if pause >= 1 else logging.INFO
            _LOG.log(level, "%s: %s Try %d of %d in %.1f seconds.", path, problem, tried + 2, self._retries + 1, pause)
            yield pause
        raise AssertionError

    def _problem(self, answer: httpx.Response, may_be_held: bool) -> BourseError | None:
        """What is wrong with an answer; None where it is as asked."""
        if answer.status_code == 200 or (answer.status_code == 304 and may_be_held):
            ignored = answer.headers.get("x-ignored-parameters")
            return IgnoredParameter(f"the service does not know these parameters: {ignored}", status=answer.status_code) if ignored else None
        body = _json(answer)
        detail = _texts_in(body.get("detail"))
        usual = _WORD_OF_STATUS.get(answer.status_code, "bad_answer")
        word = detail.get("error") or usual
        place = f"; it refers to {answer.headers['location']}" if "location" in answer.headers else ""
        return _ERRORS.get(word, BourseError)(
            self._redact(_texts_in(body).get("message") or f"{self._url} answered {answer.status_code}{place}"),
            error=word,
            status=answer.status_code,
            param=detail.get("param"),
            hint=self._redact(detail["hint"]) if "hint" in detail else None,
            request_id=detail.get("request_id") or answer.headers.get("x-request-id"),
            retry_after=_seconds(answer.headers.get("retry-after")),
        )


class Bourse(_Areas[pd.DataFrame, "dict[str, Any]"]):
    """A client of one service. Threads may share it; `close` it, or use it in `with`, to end its connections."""

    _client = httpx.Client

    def _whole(self, steps: _Steps[Any], call: _Watched) -> Any:
        try:
            return self._run(steps, call)
        finally:
            call.end()

    def _run(self, steps: _Steps[Any], call: _Watched) -> Any:
        try:
            step = next(steps)
            while True:
                try:
                    answer = self._do(step, call)
                except httpx.RequestError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as done:
            return done.value

    def _do(self, step: _Step, call: _Watched) -> Any:
        if isinstance(step, (int, float)):
            return time.sleep(step)
        if isinstance(step, httpx.Request):
            return self._http.send(step)
        if isinstance(step, BourseWarning):
            return call.warn(step)
        if isinstance(step, _Rows):
            return call.came(step.count)
        pool = ThreadPoolExecutor(_SIDE_BY_SIDE)
        try:
            return list(pool.map(self._run, step, itertools.repeat(call)))
        finally:
            # An error, or Ctrl-C, waits for no walk that is under way.
            pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Bourse:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncBourse(_Areas[Awaitable[pd.DataFrame], "Awaitable[dict[str, Any]]"]):
    """The same for asyncio: every method is awaited. The event loop waits while a frame is read."""

    _client = httpx.AsyncClient

    async def _whole(self, steps: _Steps[Any], call: _Watched) -> Any:
        try:
            return await self._run(steps, call)
        except BourseError as error:
            raise error.with_traceback(None) from None
        finally:
            call.end()

    async def _run(self, steps: _Steps[Any], call: _Watched) -> Any:
        try:
            step = next(steps)
            while True:
                try:
                    answer = await self._do(step, call)
                except httpx.RequestError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as done:
            return done.value

    async def _do(self, step: _Step, call: _Watched) -> Any:
        if isinstance(step, (int, float)):
            return await asyncio.sleep(step)
        if isinstance(step, httpx.Request):
            return await self._http.send(step)
        if isinstance(step, BourseWarning):
            return call.warn(step)
        if isinstance(step, _Rows):
            return call.came(step.count)
        gate = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def run(steps: _Steps[Any]) -> Any:
            async with gate:
                return await self._run(steps, call)

        tasks = [asyncio.ensure_future(run(steps)) for steps in step]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncBourse:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _brief(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose errors say what went wrong, and not by which lines of this file."""

    @functools.wraps(method)
    def brief(*args: Any, **named: Any) -> Any:
        try:
            return method(*args, **named)
        except BourseError as error:
            raise error.with_traceback(None) from None

    return brief


for _name, _method in list(vars(_Areas).items()):
    if not _name.startswith("_"):
        setattr(_Areas, _name, _brief(_method))


def _bars_of_tqdm() -> Callable[..., Any] | None:
    """What makes a bar; None where tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def _given_or_set(**given: str | None) -> list[str]:
    """The values given, and for each that is None that of its environment variable."""
    variables = {name: f"BOURSE_{name.upper()}" for name in given}
    found = {name: os.environ.get(variables[name]) if value is None else value for name, value in given.items()}
    missing = [name for name, value in found.items() if value is None or (given[name] is None and not value)]
    if missing:
        raise ValueError(
            f"the client has no {' and no '.join(missing)}: give {' and '.join(missing)} to it, or set {' and '.join(variables[name] for name in missing)}"
        )
    return [value for value in found.values() if value is not None]


def _instrument(symbol: str) -> tuple[str, str]:
    """The asset type of a symbol, and its country and symbol."""
    schema, _, rest = symbol.partition(":")
    if schema.lower() in _SCHEMAS and ":" in rest:
        return schema.lower(), rest
    if symbol.upper().startswith("GLOBAL:"):
        raise ValueError(f"symbol: write crypto:{symbol} or forex:{symbol}")
    return "stock", symbol


def _at(as_of: When | None, data_version: int | None) -> dict[str, Any]:
    """The moment, and the version of the stored data, that an answer is of."""
    return {"as_of": as_of, "data_version": data_version}


def _of(symbol: str, area: str) -> str:
    """The path of an area of an instrument."""
    schema, name = _instrument(symbol)
    return f"{schema}/{area}/{_segment(name)}"


def _requests(names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Symbols by asset type, in lists that one request may name."""
    lists: list[tuple[str, list[str]]] = []
    letters: dict[str, int] = {}
    last: dict[str, list[str]] = {}
    for name in names:
        schema, symbol = _instrument(name)
        size = len(_segment(symbol)) + 3
        letters[schema] = letters.get(schema, _LATEST_LETTERS) + size
        if letters[schema] > _LATEST_LETTERS or len(last[schema]) == _LATEST_SYMBOLS:
            letters[schema], last[schema] = size, []
            lists.append((schema, last[schema]))
        last[schema].append(name)
    return lists


def _full(symbol: str | None) -> str | None:
    return None if symbol is None else ":".join(_instrument(symbol))


def _text(value: Any) -> str:
    """A value as a parameter has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)


def _segment(value: Any) -> str:
    """A value as one segment of a path."""
    return quote(_text(value), safe="")


def _texts(params: Mapping[str, Any]) -> dict[str, str]:
    """What is sent of parameters: not those that were left out, and no flag that is off."""
    return {name: _text(value) for name, value in params.items() if value is not None and value is not False}


def _event_filters(
    start: When | None, end: When | None, country: str | None, event_code: str | None, source_id: str | None, impact: str | None
) -> dict[str, Any]:
    which = {"country_iso_code": country, "event_code": event_code, "source_id": source_id, "impact": impact}
    return {**which, "from_date": start, "to_date": end}


def _told(answer: httpx.Response) -> dict[str, str]:
    """The headers of an answer that are kept."""
    names = ("x-count", "x-next-page-key", "link", "etag", *_TOLD)
    return {name: answer.headers[name] for name in names if name in answer.headers}


def _attrs(told: Mapping[str, str]) -> dict[str, Any]:
    """What the service said of an answer, by the names that frames have for it."""
    return {name: told[header] for header, name in _TOLD.items() if header in told}


def _notices(headers: Mapping[str, str]) -> _Steps[None]:
    """Tells what an answer has otherwise than one may think. Python shows a text once, however many symbols have it."""
    for name in _WARNED:
        if name in headers:
            yield BourseWarning(f"{name}: {headers[name]}")


def _json(answer: httpx.Response) -> dict[str, Any]:
    """The object that an answer is; empty where it is none."""
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _texts_in(value: Any) -> dict[str, str]:
    """The texts of an object. What others on the way answer may have anything under the names of a Bourse."""
    return {name: text for name, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After`, a number or a date (RFC 9110, 10.2.3), in seconds from now."""
    if retry_after is None:
        return None
    if re.fullmatch("[0-9]+", retry_after):
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def _read(pages: list[_Page]) -> pd.DataFrame:
    """The rows of all pages. Numbers are those of the service, digit for digit; an empty cell is missing."""
    header = pages[0].body.partition(b"\r\n")[0]
    if any(not page.body.startswith(header + b"\r\n") for page in pages):
        raise BadAnswer("the columns changed from one page to the next: ask again")
    rows = b"".join(page.body[len(header) + 2 :] for page in pages)
    try:
        names = header.decode().split(",")
        table = pd.read_csv(
            io.BytesIO(rows),
            header=None,
            names=names,
            index_col=False,
            dtype={name: _READ_AS.get(name, "str") for name in names},
            keep_default_na=False,
            na_values=[""],
            float_precision="round_trip",
        )
        for name in names:
            if name in _INSTANTS or name in _DATES:
                is_instant = name in _INSTANTS
                stamps = pd.to_datetime(table[name], utc=is_instant)
                # The unit that pandas chooses depends on its version, and on whether there are rows.
                table[name] = stamps.astype("datetime64[ns, UTC]" if is_instant else "datetime64[ns]")
    except (TypeError, ValueError, OverflowError) as error:
        raise BadAnswer(f"the CSV cannot be read: {error}") from error
    if len(table) != sum(page.rows for page in pages):
        raise BadAnswer(f"{len(table)} rows came of {sum(page.rows for page in pages)}")
    return table


def _indexed(table: pd.DataFrame, form: _Form) -> pd.DataFrame:
    """Bars by their open, or by the date of their session."""
    wanted = _BAR_COLUMNS if form.columns is None else form.columns
    if not {*wanted, form.stamp} <= {*table.columns}:
        raise BadAnswer(f"this is no CSV of these bars: {', '.join(table.columns)}")
    bars, stamps = table[wanted].copy(), table[form.stamp]
    if form.tz is not None:
        for name in _INSTANTS.intersection(wanted):
            bars[name] = bars[name].dt.tz_convert(form.tz)
        stamps = stamps if form.has_sessions else stamps.dt.tz_convert(form.tz)
    bars.index = pd.DatetimeIndex(stamps, name="timestamp")
    bars.attrs = table.attrs
    return bars
