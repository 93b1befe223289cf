"""A program as users write it. Type checkers find no mistake but in the lines that say so."""

import asyncio
import sys
from datetime import date, datetime
from typing import Any

import pandas as pd

from bourse import AsyncBourse, Bourse, BourseError, RateLimited

if sys.version_info >= (3, 11):
    from typing import assert_type

    with Bourse("http://127.0.0.1:8080", "key", cache="folder", progress=True) as service:
        assert_type(service, Bourse)
        assert_type(service.bars("US:AAPL", "DAY", date(2025, 1, 1), adjust="all", columns=["close"]), pd.DataFrame)
        assert_type(service.bars(["US:AAPL", "US:MSFT"], "5M", datetime(2025, 1, 1), "2025-02-01", tz="America/New_York"), pd.DataFrame)
        assert_type(service.latest(("US:AAPL", "US:MSFT"), "DAY", 3), pd.DataFrame)
        assert_type(service.bulk("US", "DAY", "2025-01-02", symbols=["AAPL"]), pd.DataFrame)
        assert_type(service.options("US:AAPL", strike_from=100, expiration_to=date(2026, 1, 16), quotes=True), pd.DataFrame)
        assert_type(service.sessions("US:AAPL", "2025-01-01", data_version=7), pd.DataFrame)
        assert_type(service.findings("US:AAPL", severity="error"), pd.DataFrame)
        assert_type(service.reference("US:AAPL"), dict[str, Any])
        service.bars("US:AAPL", "DAY")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        service.bars("US:AAPL", "DAY", "2025-01-01", adjust="splits")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        service.bars("US:AAPL", "DAY", "2025-01-01", limit=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        service.options("US:AAPL", "calls")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        Bourse(frames="numpy")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    async def ask() -> None:
        async with AsyncBourse() as service:
            assert_type(await service.bars("US:AAPL", "DAY", "2025-01-01"), pd.DataFrame)
            assert_type(await service.event_codes("US"), dict[str, Any])

    try:
        asyncio.run(ask())
    except RateLimited as error:
        assert_type(error.retry_after, "float | None")
    except BourseError as error:
        assert_type(error.message, str)
