"""The client against a service: what it gives is what was imported. The folder has the files, which Python's own csv reads."""

import asyncio
import csv
import datetime
import doctest
import importlib.util
import os
import subprocess
import tempfile
import unittest
import warnings
from decimal import Decimal
from pathlib import Path

import pandas as pd

import bourse

URL, KEY, FOLDER = os.environ["BOURSE_TEST_URL"], os.environ["BOURSE_TEST_KEY"], Path(os.environ["BOURSE_TEST_FOLDER"])
UTC = datetime.timezone.utc
NEW_YORK = "America/New_York"
PRICES = ["open", "high", "low", "close", "volume", "vwap"]


def rows_of(name):
    with open(FOLDER / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = bourse.Bourse(URL, KEY)
        cls.addClassCleanup(cls.service.close)

    def assert_bars(self, frame, rows):
        """A frame has the numbers of a file, digit for digit, and no other bars."""
        self.assertEqual(len(frame), len(rows))
        for (_, bar), row in zip(frame.iterrows(), rows):
            for name in PRICES:
                if row.get(name):
                    self.assertEqual(Decimal(repr(float(bar[name]))), Decimal(row[name]), (row, name))
                else:
                    self.assertTrue(pd.isna(bar[name]), (row, name))


class Bars(Service):
    def test_minutes_of_several_pages_are_all_there_by_their_open_in_utc(self):
        rows = rows_of("minutes.csv")
        self.assertGreater(len(rows), 2000)
        frame = self.service.bars("US:AAPL", "1M", "2025-03-03", "2025-03-31")
        self.assert_bars(frame, rows)
        self.assertEqual(list(frame.columns), [*PRICES, "close_datetime"])
        self.assertEqual((frame.index.name, str(frame.index.tz)), ("timestamp", "UTC"))
        self.assertEqual(list(frame.index), [instant(row["datetime"]) for row in rows])
        self.assertTrue((frame["close_datetime"] - frame.index == pd.Timedelta("1min")).all())
        self.assertRegex(frame.attrs["data_version"], r"^\d+$")

    def test_tz_converts_and_names_the_same_instants(self):
        plain = self.service.bars("US:AAPL", "60M", "2025-03-03", "2025-03-03")
        local = self.service.bars("us:aapl", "1h", datetime.date(2025, 3, 3), datetime.date(2025, 3, 3), tz=NEW_YORK)
        self.assertEqual(str(local.index.tz), NEW_YORK)
        self.assertEqual([str(stamp.time()) for stamp in local.index[:2]], ["09:30:00", "10:30:00"])
        self.assertEqual(str(local["close_datetime"].iloc[-1]), "2025-03-03 16:00:00-05:00")
        self.assertEqual(list(local.index), list(plain.index))
        pd.testing.assert_frame_equal(local[PRICES].reset_index(drop=True), plain[PRICES].reset_index(drop=True))

    def test_days_and_above_have_the_dates_of_their_sessions_without_a_zone(self):
        rows = rows_of("days.csv")
        frame = self.service.bars("US:GAMMA", "DAY", "2020-01-01", tz=NEW_YORK)
        self.assert_bars(frame, rows)
        self.assertIsNone(frame.index.tz)
        self.assertEqual([str(stamp.date()) for stamp in frame.index], [row["datetime"] for row in rows])
        for interval in ("1w", "week", "MON"):
            with warnings.catch_warnings():
                # There is no whole month.
                warnings.simplefilter("ignore", bourse.BourseWarning)
                weeks = self.service.bars("US:GAMMA", interval, "2020-08-24", "2020-08-31")
            self.assertIsNone(weeks.index.tz)
        # The Monday of the week, and the first session of August.
        self.assertEqual(str(self.service.bars("US:GAMMA", "WEEK", "2020-08-24", "2020-08-28").index[0]), "2020-08-24 00:00:00")

    def test_times_of_a_range_are_instants_and_dates_are_days_of_the_market(self):
        at = datetime.datetime(2025, 3, 3, 9, 31, tzinfo=datetime.timezone(datetime.timedelta(hours=-5)))
        frame = self.service.bars("US:AAPL", "1M", at, pd.Timestamp("2025-03-03 09:33", tz=NEW_YORK))
        self.assertEqual([str(stamp.time()) for stamp in frame.index], ["14:31:00", "14:32:00", "14:33:00"])

    def test_several_symbols_are_one_frame_by_symbol_and_time_in_their_order(self):
        frame = self.service.bars(["US:GAMMA", "US:AAPL", "US:GAMMA"], "DAY", "2020-01-01", "2025-12-31")
        self.assertEqual(frame.index.names, ["symbol", "timestamp"])
        self.assertEqual(list(dict.fromkeys(frame.index.get_level_values(0))), ["US:GAMMA", "US:AAPL"])
        alone = self.service.bars("US:GAMMA", "DAY", "2020-01-01", "2025-12-31")
        pd.testing.assert_frame_equal(frame.loc["US:GAMMA"], alone, check_freq=False)
        self.assertRegex(frame.attrs["US:AAPL"]["data_version"], r"^\d+$")
        with self.assertRaises(ValueError):
            self.service.bars([], "DAY", "2020-01-01")

    def test_a_market_in_bulk_has_the_bars_of_its_symbols(self):
        frame = self.service.bulk("US", "1M", "2025-03-03", "2025-03-31", ["FIXED", "AAPL"])
        self.assertEqual(frame.index.names, ["symbol", "timestamp"])
        self.assertEqual(list(dict.fromkeys(frame.index.get_level_values("symbol"))), ["US:AAPL", "US:FIXED"])
        for symbol in ("US:AAPL", "US:FIXED"):
            pd.testing.assert_frame_equal(frame.loc[symbol], self.service.bars(symbol, "1M", "2025-03-03", "2025-03-31"))
        self.assertRegex(frame.attrs["data_version"], r"^\d+$")
        days = self.service.bulk("US", "DAY", "2025-03-03")
        self.assertIn("US:BF/B", days.index.get_level_values("symbol"))
        self.assertEqual(set(days.index.get_level_values("timestamp")), {pd.Timestamp("2025-03-03")})
        why = "US:AAPL: nothing is stored between 2001-03-03 and 2001-03-03; stored: 1M 2025-03-03 to 2025-03-10"
        with self.assertWarnsRegex(bourse.BourseWarning, f"US has no such bars at 1M: {why}") as caught:
            none = self.service.bulk("US", "1M", "2001-03-03", symbols=["AAPL"])
        self.assertEqual((caught.filename, none.attrs["no_data"]), (__file__, why))
        self.assertEqual((len(none), list(none.columns)), (0, list(frame.columns)))
        with self.assertRaises(bourse.UnknownInstrument):
            self.service.bulk("US", "1M", "2025-03-03", symbols=["NOSUCH"])

    def test_adjusted_prices_are_those_of_today(self):
        raw = self.service.bars("US:GAMMA", "DAY", "2020-08-27", "2020-08-31")
        adjusted = self.service.bars("US:GAMMA", "DAY", "2020-08-27", "2020-08-31", adjust="split")
        before = self.service.bars("US:GAMMA", "DAY", "2020-08-27", "2020-08-31", adjust="split", adjust_as_of="2020-08-30")
        # A split of 1 to 4 on Monday, 2020-08-31.
        self.assertEqual(list(adjusted["close"] * [4, 4, 1]), list(raw["close"]))
        self.assertEqual(list(adjusted["volume"]), [400, 400, 400])
        self.assertEqual(list(before["close"]), list(raw["close"]))

    def test_as_of_answers_from_what_was_known_then(self):
        # Half an hour after the second open.
        moment = datetime.datetime(2025, 3, 4, 10, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=-5)))
        frame = self.service.bars("US:AAPL", "1M", "2025-03-03", as_of=moment)
        self.assert_bars(frame, rows_of("minutes.csv")[: 390 + 30])
        self.assertEqual(frame.attrs["as_of"], "2025-03-04T15:00:00Z")
        latest = self.service.latest("US:AAPL", "1M", 2, as_of="2025-03-04T15:00:00Z")
        pd.testing.assert_frame_equal(latest, frame.tail(2))
        then = self.service.bars("US:GAMMA", "DAY", "2020-08-27", adjust="split", as_of="2020-08-29T00:00:00Z")
        self.assert_bars(then, rows_of("days.csv")[:2])
        with self.assertWarnsRegex(bourse.BourseWarning, "x-as-of-limits"):
            news = self.service.news("2025-01-01", as_of="2025-01-01T00:09:30Z")
        self.assertEqual(len(news), 10)
        self.assertEqual(list(self.service.actions("US:GAMMA", as_of="2020-08-15T00:00:00Z")["action_type"]), ["dividend"])
        with self.assertRaisesRegex(bourse.InvalidParameter, "as_of"):
            self.service.bars("US:AAPL", "1M", "2025-03-03", as_of="2025-03-04")

    def test_the_newest_bars_come_oldest_first(self):
        frame = self.service.latest("US:AAPL", "1M", 3)
        self.assert_bars(frame, rows_of("minutes.csv")[-3:])
        with self.assertRaisesRegex(bourse.InvalidParameter, "1000"):
            self.service.latest("US:AAPL", "1M", 1001)

    def newest(self, *names, rows=1, **options):
        """The newest bars of each symbol alone, as one frame."""
        alone = {name: self.service.latest(name, limit=rows, **options) for name in names}
        return pd.concat(alone, names=["symbol", "timestamp"])

    def test_the_newest_bars_of_many_symbols_come_from_one_answer(self):
        asked = []
        with bourse.Bourse(URL, KEY) as service:
            service._http.event_hooks = {"request": [lambda request: asked.append(request.url.path)]}
            frame = service.latest(["US:GAMMA", "hk:0700", "US:BF/B", "US:AAPL", "us:gamma"], "DAY", 2)
        self.assertEqual(asked, ["/api/v2/stock/bars/latest"])
        names = ["us:gamma", "hk:0700", "US:BF/B", "US:AAPL"]
        pd.testing.assert_frame_equal(frame, self.newest(*names, rows=2, interval="DAY"))
        self.assertEqual(frame.attrs["missing"], [])
        self.assertRegex(frame.attrs["data_version"], r"^\d+$")
        options = {"interval": "1M", "tz": NEW_YORK, "is_eth": True, "as_of": "2025-04-02T00:00:00Z"}
        frame = self.service.latest(["US:PRE", "US:AAPL"], limit=3, **options)
        pd.testing.assert_frame_equal(frame, self.newest("US:PRE", "US:AAPL", rows=3, **options))
        self.assertEqual(frame.attrs["as_of"], "2025-04-02T00:00:00Z")

    def test_two_notations_of_one_symbol_both_have_its_bars(self):
        # Contract 9.21: one separator finds a symbol with another.
        frame = self.service.latest(["US:BF/B", "US:BF.B", "US:BF-B"], "DAY")
        self.assertEqual(list(frame.index.get_level_values("symbol")), ["US:BF/B", "US:BF.B", "US:BF-B"])
        self.assertEqual(frame["close"].nunique(), 1)

    def test_asset_types_and_more_bars_than_one_answer_has_keep_the_order_of_the_symbols(self):
        names = ["US:AAPL", "crypto:GLOBAL:BTCUSD", "US:FIXED"]
        for rows in (2, 25):
            frame = self.service.latest(names, "1M", rows)
            pd.testing.assert_frame_equal(frame, self.newest(*names, rows=rows, interval="1M"))

    def test_more_than_a_thousand_symbols_are_several_requests_of_one_version(self):
        asked = []
        names = [f"US:NONE{at}" for at in range(1_001)]
        with bourse.Bourse(URL, KEY) as service, self.assertWarnsRegex(bourse.BourseWarning, "1001 of 1002 symbols"):
            service._http.event_hooks = {"request": [lambda request: asked.append(dict(request.url.params))]}
            frame = service.latest([*names, "US:GAMMA"], "DAY")
        self.assertEqual([len(one["symbols"].split(",")) for one in asked], [1_000, 2])
        self.assertEqual([one.get("data_version") for one in asked], [None, frame.attrs["data_version"]])
        self.assertEqual((list(frame.index.get_level_values("symbol")), frame.attrs["missing"]), (["US:GAMMA"], names))

    def test_long_symbols_fit_into_addresses(self):
        names = [f"option:US:SPY{at:06}C00450000" for at in range(700)]
        with self.assertWarns(bourse.BourseWarning):
            self.assertEqual(self.service.latest(names, "DAY").attrs["missing"], names)

    def test_symbols_without_bars_are_missing_and_a_warning(self):
        for rows in (1, 11):
            with self.assertWarnsRegex(bourse.BourseWarning, "2 of 3 symbols have no bars at 1M: US:NONE: unknown; US:GAMMA: finest") as caught:
                frame = self.service.latest(["US:NONE", "us:gamma", "US:AAPL"], "1M", rows)
            self.assertEqual(caught.filename, __file__)
            self.assertEqual(frame.attrs["missing"], ["US:NONE", "us:gamma"])
            self.assertEqual(list(frame.index.get_level_values("symbol")), ["US:AAPL"] * rows)
            with self.assertWarns(bourse.BourseWarning):
                none = self.service.latest(["US:NONE"], "1M", rows)
            self.assertEqual((len(none), list(none.dtypes), none.index.names), (0, list(frame.dtypes), frame.index.names))
        with self.assertRaises(ValueError):
            self.service.latest([], "DAY")
        with self.assertRaises(bourse.InvalidParameter):
            self.service.latest(["AAPL"], "DAY")

    def test_columns_are_those_asked_for_in_their_order(self):
        wanted = ["volume", "close_datetime", "close"]
        for interval in ("1M", "DAY"):
            for symbols in ("US:AAPL", ["US:AAPL", "US:FIXED"]):
                for ask in (lambda **of: self.service.bars(symbols, interval, "2025-03-03", **of), lambda **of: self.service.latest(symbols, interval, 3, **of)):
                    pd.testing.assert_frame_equal(ask(columns=wanted, tz=NEW_YORK), ask(tz=NEW_YORK)[wanted])
            whole = self.service.bulk("US", interval, "2025-03-03")
            pd.testing.assert_frame_equal(self.service.bulk("US", interval, "2025-03-03", columns=wanted), whole[wanted])
        frame = self.service.latest("US:AAPL", "DAY", 1, columns="session_date,symbol")
        self.assertEqual(frame.reset_index().values.tolist(), [[pd.Timestamp("2025-03-10")] * 2 + ["AAPL"]])
        with self.assertRaisesRegex(bourse.InvalidParameter, "columns"):
            self.service.bars("US:AAPL", "DAY", "2025-03-03", columns="clsoe")

    def test_examples_of_the_docstrings_hold(self):
        flags = doctest.NORMALIZE_WHITESPACE
        found = [one for one in doctest.DocTestFinder().find(bourse.Bourse.__mro__[1], "Bourse", globs={"service": self.service}) if one.examples]
        runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
        for example in found:
            printed = []
            runner.run(example, out=printed.append)
            self.assertEqual("".join(printed), "")
        parts = ["Parameters", "Returns", "Raises", "Examples"]
        methods = {name: one.__doc__ for name, one in vars(bourse.Bourse.__mro__[1]).items() if not name.startswith("_") and name != "close"}
        self.assertEqual({name: [part for part in parts if f"        {part}\n        ---" not in doc] for name, doc in methods.items() if doc}, dict.fromkeys(methods, []))
        self.assertEqual({one.name.rpartition(".")[2] for one in found}, {*methods})

    def test_extended_hours_come_where_they_are_asked_for(self):
        # The file of the pre-market has 10 minutes of 2025-04-01.
        with self.assertWarnsRegex(bourse.BourseWarning, "is_eth=true"):
            self.assertEqual(len(self.service.bars("US:PRE", "1M", "2025-04-01", "2025-04-01")), 0)
        self.assertEqual(len(self.service.bars("US:PRE", "1M", "2025-04-01", "2025-04-01", is_eth=True)), 10)

    def test_a_range_without_bars_is_an_empty_frame_of_the_same_kind(self):
        full = self.service.bars("US:AAPL", "1M", "2025-03-03", "2025-03-03", tz=NEW_YORK)
        why = "nothing is stored between 2000-01-03 and 2000-01-03; stored: 1M 2025-03-03 to 2025-03-10"
        with self.assertWarnsRegex(bourse.BourseWarning, f"US:AAPL has no such bars at 1M: {why}") as caught:
            empty = self.service.bars("US:AAPL", "1M", "2000-01-03", "2000-01-03", tz=NEW_YORK)
        self.assertEqual((caught.filename, empty.attrs["no_data"]), (__file__, why))
        self.assertEqual(len(empty), 0)
        self.assertEqual(list(empty.dtypes), list(full.dtypes))
        self.assertEqual(str(empty.index.tz), NEW_YORK)

    def test_symbols_of_every_form_find_their_instrument(self):
        # The file has odd symbols, each with its own close.
        for row in rows_of("odd.csv"):
            symbol = f"{row['country_iso_code']}:{row['symbol']}"
            self.assert_bars(self.service.bars(symbol, "DAY", "2025-03-03", "2025-03-03"), [row])
        crypto = self.service.bars("crypto:GLOBAL:BTCUSD", "1M", "2025-03-01", "2025-03-02")
        self.assert_bars(crypto, rows_of("crypto.csv"))
        with self.assertRaisesRegex(ValueError, "crypto:GLOBAL:BTCUSD"):
            self.service.bars("GLOBAL:BTCUSD", "1M", "2025-03-01")

    def test_a_mistake_is_an_error_of_its_kind(self):
        asked = [
            (bourse.UnknownInstrument, ("US:NONE", "DAY", "2025-01-01")),
            (bourse.UnknownInterval, ("US:AAPL", "7S", "2025-01-01")),
            (bourse.InvalidParameter, ("US:AAPL", "DAY", "2025-02-30")),
            (bourse.InvalidParameter, ("US:AAPL", "DAY", "2025-02-03", "2025-02-01")),
        ]
        for kind, words in asked:
            with self.assertRaises(kind) as caught:
                self.service.bars(*words)
            self.assertIn(caught.exception.status, (400, 404))
            self.assertTrue(caught.exception.request_id)
        with bourse.Bourse(URL, "not-a-key-of-this-service") as other, self.assertRaises(bourse.InvalidKey):
            other.bars("US:AAPL", "DAY", "2025-01-01")

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_arrow_tables_have_the_same_columns_and_rows(self):
        with bourse.Bourse(URL, KEY, frames="arrow") as service:
            table = service.bars(["US:GAMMA"], "DAY", "2020-01-01")
            self.assertEqual(table.column_names, ["symbol", "timestamp", *PRICES, "close_datetime"])
            self.assertEqual(table["close"].to_pylist(), [float(row["close"]) for row in rows_of("days.csv")])
            self.assertEqual(service.event_codes("US"), self.service.event_codes("US"))

    @unittest.skipUnless(importlib.util.find_spec("polars"), "polars is not installed")
    def test_polars_frames_have_the_same_columns_and_rows(self):
        with bourse.Bourse(URL, KEY, frames="polars") as service:
            frame = service.bars("US:AAPL", "1M", "2025-03-03", "2025-03-31")
            self.assertEqual(frame.columns, ["timestamp", *PRICES, "close_datetime"])
            self.assertEqual(frame["timestamp"].to_list(), [instant(row["datetime"]) for row in rows_of("minutes.csv")])

    def test_the_asynchronous_client_gives_the_same(self):
        async def ask():
            async with bourse.AsyncBourse(URL, KEY) as service:
                return await asyncio.gather(service.bars("US:AAPL", "1M", "2025-03-03", "2025-03-31"), service.reference("US:AAPL"))

        frame, record = asyncio.run(ask())
        pd.testing.assert_frame_equal(frame, self.service.bars("US:AAPL", "1M", "2025-03-03", "2025-03-31"))
        self.assertEqual(record["symbol"], "AAPL")

    def test_a_correction_reaches_a_client_that_keeps_answers(self):
        """Last in this class by the order of names would not do: the corrected series is nobody else's."""
        with tempfile.TemporaryDirectory() as folder, bourse.Bourse(URL, KEY, cache=folder) as service:
            sizes = []
            service._http.event_hooks = {"response": [lambda answer: sizes.append(answer.status_code)]}
            ask = lambda: service.bars("US:FIXED", "1M", "2025-03-03", "2025-03-31")  # noqa: E731
            self.assert_bars(ask(), rows_of("fixed.csv"))
            self.assert_bars(ask(), rows_of("fixed.csv"))
            self.assertEqual(sizes, [200, 200, 304, 304])
            command = [os.environ["BOURSE_TEST_COMMAND"], "import", "bars", FOLDER / "corrected.csv"]
            flags = ["--schema", "stock", "--country", "US", "--symbol", "FIXED", "--interval", "1M"]
            subprocess.run([*command, *flags], check=True, capture_output=True)
            corrected = {row["datetime"]: row for row in [*rows_of("fixed.csv"), *rows_of("corrected.csv")]}
            self.assert_bars(ask(), list(corrected.values()))
            self.assertEqual(sizes[4:], [304, 200])


class Stored(Service):
    def test_series_are_listed_with_their_first_and_last_bar(self):
        rows = rows_of("minutes.csv")
        series = self.service.coverage(query="AAPL", interval="1M")
        self.assertEqual(list(series["symbol"]), ["AAPL"])
        self.assertEqual(list(series["bars"]), [len(rows)])
        self.assertEqual(list(series["first_datetime"]), [instant(rows[0]["datetime"])])
        self.assertEqual(list(series["last_datetime"]), [instant(rows[-1]["datetime"])])
        self.assertEqual(list(self.service.coverage("crypto", country="GLOBAL")["symbol"]), ["BTCUSD"])
        self.assertEqual(len(self.service.coverage(limit=2)), 2)

    def test_sessions_say_what_is_known_of_them(self):
        sessions = self.service.sessions("US:AAPL", "2025-03-03", "2025-03-10", interval="1M")
        self.assertEqual([str(day.date()) for day in sessions["session_date"]], [f"2025-03-{day}" for day in ("03", "04", "05", "06", "07", "10")])
        self.assertEqual(set(sessions["bars"]), {390})
        self.assertEqual(set(sessions["file"]), {"minutes.csv"})
        last = self.service.sessions("US:AAPL", end="2025-03-10", interval="1M", sort="desc", limit=1)
        self.assertEqual(list(last["session_date"]), [pd.Timestamp("2025-03-10")])

    def test_findings_have_numbers_and_words(self):
        findings = self.service.findings("US:GAMMA")
        self.assertEqual(list(findings.columns)[:3], ["kind", "severity", "interval"])
        self.assertEqual(len(self.service.findings("US:GAMMA", "2030-01-01")), 0)
        for finding in self.service.findings("US:AAPL", kind="stale", severity="info").itertuples():
            self.assertEqual((finding.kind, finding.severity), ("stale", "info"))

    def test_an_earlier_version_of_the_data_is_asked_for_by_its_number(self):
        runs = self.service.runs()
        self.assertEqual(list(runs["file"])[0], "minutes.csv")
        self.assertEqual(set(runs["undone"]), {False})
        self.assertEqual(list(self.service.runs(sort="desc", limit=1)["run"]), [runs["run"].max()])
        version = int(runs["data_version"].iloc[0])
        first = self.service.bars("US:AAPL", "1M", "2025-03-03", data_version=version)
        self.assertEqual((len(first), first.attrs["data_version"]), (len(rows_of("minutes.csv")), str(version)))
        with self.assertRaises(bourse.UnknownInstrument):
            self.service.latest("US:GAMMA", "DAY", data_version=version)

    def test_the_service_tells_its_address_and_version(self):
        self.assertEqual(self.service.address_info(), {"base_address": URL, "version": bourse.__version__})


class Lists(Service):
    def test_news_of_several_pages_have_their_texts_exactly(self):
        rows = rows_of("news.csv")
        self.assertGreater(len(rows), 1001)
        frame = self.service.news("2025-01-01", "2025-12-31")
        self.assertEqual(list(frame["title"]), [row["title"] for row in rows])
        self.assertEqual(list(frame["text_content"].fillna("")), [row["text_content"] for row in rows])
        self.assertEqual(list(frame["published_date"]), [instant(row["published_date"]) for row in rows])
        self.assertEqual(len(self.service.news("2025-01-01", symbol="US:AAPL")), len(rows))
        self.assertEqual(len(self.service.news("2025-01-01", symbol="UK:*")), 0)

    def test_limit_gives_the_first_rows_of_the_whole_list(self):
        titles = [row["title"] for row in rows_of("news.csv")]
        for limit in (1, 1000, 1001):
            self.assertEqual(list(self.service.news("2025-01-01", limit=limit)["title"]), titles[:limit])
        self.assertEqual(list(self.service.news("2025-01-01", limit=2, sort="desc")["title"]), titles[:-3:-1])
        self.assertEqual(list(self.service.latest_news(limit=2)["title"]), titles[-2:])
        with self.assertRaises(ValueError):
            self.service.news("2025-01-01", limit=0)

    def test_actions_have_dates_numbers_and_what_is_missing(self):
        frame = self.service.actions("US:GAMMA")
        self.assertEqual(list(frame["action_type"]), ["dividend", "split"])
        self.assertEqual([str(day.date()) for day in frame["ex_date"]], ["2020-08-07", "2020-08-31"])
        self.assertEqual(frame["cash_amount"].iloc[0], 0.82)
        self.assertTrue(pd.isna(frame["split_to"].iloc[0]))
        self.assertEqual((frame["split_from"].iloc[1], frame["split_to"].iloc[1]), (1, 4))
        self.assertEqual(frame["adjustment_factor"].iloc[1], 0.25)
        self.assertEqual(len(self.service.actions("US:GAMMA", "2020-08-08", action_type="dividend")), 0)
        with self.assertRaises(ValueError):
            self.service.actions("crypto:GLOBAL:BTCUSD")

    def test_events_and_their_codes(self):
        rows = rows_of("events.csv")
        frame = self.service.events("2025-01-01", "2025-12-31", country="US")
        self.assertEqual(list(frame["event_timestamp"]), [instant(row["event_timestamp"]) for row in rows])
        self.assertEqual(list(frame["actual_value"]), [float(row["actual_value"]) for row in rows])
        self.assertEqual(list(self.service.events(impact="high")["importance"]), [3])
        one = self.service.event(source_id=frame["source_id"].iloc[0])
        self.assertEqual(instant(one["event_timestamp"]), instant(rows[0]["event_timestamp"]))
        self.assertEqual(len(self.service.latest_events(2, country="us", date_type="historical")), 2)
        self.assertIn("GDP_GROWTH_RATE_QOQ", self.service.event_codes("US"))
        with self.assertRaises(bourse.NoData):
            self.service.event(country="JP")

    def test_options_and_expirations(self):
        rows = rows_of("contracts.csv")
        calls = self.service.options("US:AAPL", "call", "in_the_money", ref_asset_price=200.5, sort_by="strike_price desc")
        strikes = sorted((float(row["strike_price"]) for row in rows if float(row["strike_price"]) < 200.5), reverse=True)
        self.assertEqual(list(calls["strike_price"]), strikes)
        self.assertGreater(len(calls), 1000)
        self.assertFalse(calls["is_indices"].any())
        self.assertEqual(len(self.service.options("US:AAPL", "call", "in_the_money", ref_asset_price=200.5, limit=7)), 7)
        chain = self.service.options("US:AAPL")
        self.assertEqual(list(chain["strike_price"]), [float(row["strike_price"]) for row in rows])
        part = self.service.options("US:AAPL", strike_from=100, strike_to=110.5, expiration_from="2099-01-01", expiration_to=datetime.date(2099, 12, 18))
        self.assertEqual(list(part["strike_price"]), [strike for strike in chain["strike_price"] if 100 <= strike <= 110.5])
        self.assertEqual(len(self.service.options("US:AAPL", "put")), 0)
        self.assertEqual([str(day.date()) for day in self.service.expirations("US:AAPL")["expiration_date"]], ["2099-12-18"])

    def test_holidays_and_their_codes(self):
        frame = self.service.holidays("US:*", "2025-11-01", "2025-12-31")
        # NYSE: Thanksgiving, the early close after it, Christmas Eve and Christmas.
        days = ["2025-11-27", "2025-11-28", "2025-12-24", "2025-12-25"]
        self.assertEqual([str(day.date()) for day in frame["calendar_date"]], days)
        self.assertEqual(list(frame["session_template"]), ["CLOSED", "EARLY_CLOSE", "EARLY_CLOSE", "CLOSED"])
        self.assertEqual(frame["close_timestamp"].iloc[1], pd.Timestamp("2025-11-28 18:00", tz="UTC"))
        self.assertTrue(pd.isna(frame["close_timestamp"].iloc[0]))
        self.assertIn("HOLIDAY_CHRISTMAS", self.service.holiday_codes("US"))

    def test_instruments_are_found_and_described(self):
        record = self.service.reference("US:AAPL")
        self.assertEqual((record["symbol"], record["daily_minute_count"]), ("AAPL", 390))
        self.assertEqual(list(self.service.search("GAM")["symbol"]), ["GAMMA"])
        self.assertEqual(len(self.service.search("ZZZZ")), 0)
        with self.assertRaises(bourse.UnknownInstrument):
            self.service.reference("US:NONE")


if __name__ == "__main__":
    unittest.main()
