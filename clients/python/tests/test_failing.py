"""What the client does with a service that fails, or is none."""

import asyncio
import contextlib
import gzip
import importlib.util
import io
import itertools
import json
import os
import re
import sys
import tempfile
import threading
import time
import traceback
import unittest
import warnings
from email.utils import formatdate
from pathlib import Path
from unittest import mock

import pandas as pd

import bourse
from failing import Answer, FailingServer, bars, error, page

KEY = "a-key-that-nobody-may-ever-read-in-a-log"


def client(server, **options):
    return bourse.Bourse(server.url, KEY, **options)


def minutes(service):
    return service.bars("US:AAPL", "1M", "2025-03-03", "2025-03-03")


def closes(frame):
    return [int(close) for close in frame["close"]]


class Retries(unittest.TestCase):
    def assert_waited(self, server, seconds):
        (_, _, first), (_, _, second) = server.asked
        self.assertGreaterEqual(second - first, seconds)

    def test_a_503_is_asked_again_after_the_seconds_of_retry_after(self):
        with FailingServer(error(503, "unavailable", Retry_After="1"), page(30, 2)) as server:
            self.assertEqual(closes(minutes(client(server))), [30, 31])
            self.assert_waited(server, 1)

    def test_retry_after_may_be_a_date(self):
        def later(*_):
            return error(503, "unavailable", Retry_After=formatdate(time.time() + 2, usegmt=True))

        with FailingServer(later, page(30, 1)) as server:
            minutes(client(server))
            self.assert_waited(server, 0.9)

    def test_a_429_is_asked_again_and_no_row_is_lost_in_the_middle_of_a_walk(self):
        answers = [page(30, 2, "k1"), error(429, "rate_limited", Retry_After="0"), page(32, 2, "k2"), Answer(status=502), page(34, 1)]
        with FailingServer(*answers) as server:
            self.assertEqual(closes(minutes(client(server))), [30, 31, 32, 33, 34])

    def test_a_quota_that_is_used_up_until_tomorrow_is_an_error_at_once(self):
        with FailingServer(error(429, "rate_limited", Retry_After="40000")) as server:
            with self.assertRaises(bourse.RateLimited) as caught:
                minutes(client(server))
            self.assertEqual((caught.exception.retry_after, caught.exception.status), (40000, 429))

    def test_retries_end(self):
        with FailingServer(*[error(503, "unavailable", Retry_After="0")] * 3) as server:
            with self.assertRaises(bourse.Unavailable):
                minutes(client(server, retries=2))
            self.assertEqual(len(server.asked), 3)

    def test_a_mistake_of_the_caller_and_a_fault_of_the_service_are_asked_once(self):
        for status, word, kind in [(400, "invalid_parameter", bourse.InvalidParameter), (500, "internal", bourse.Internal)]:
            with FailingServer(error(status, word)) as server:
                with self.assertRaises(kind) as caught:
                    minutes(client(server))
                found = caught.exception
                self.assertEqual((found.error, found.status, found.request_id, found.message), (word, status, "r1", "It failed."))

    def test_a_body_that_was_cut_off_is_asked_again(self):
        whole = page(30, 5)
        half = Answer(whole.body[:300], headers=whole.headers, length=len(whole.body))
        with FailingServer(half, whole) as server:
            self.assertEqual(closes(minutes(client(server))), [30, 31, 32, 33, 34])
        with FailingServer(half, half) as server, self.assertRaises(bourse.Unreachable):
            minutes(client(server, retries=1))

    def test_a_slow_answer_ends_at_the_timeout(self):
        slow = Answer(seconds=20)
        with FailingServer(slow, slow) as server:
            begun = time.monotonic()
            with self.assertRaises(bourse.Unreachable):
                minutes(client(server, retries=1, timeout=0.1))
            self.assertLess(time.monotonic() - begun, 15)

    def test_nobody_listens(self):
        with FailingServer() as server:
            pass
        with self.assertRaises(bourse.Unreachable) as caught:
            minutes(client(server, retries=0))
        self.assertIsNone(caught.exception.status)


class Shown(unittest.TestCase):
    """What Python, or a notebook, prints of a failure."""

    def assert_brief(self, word, *answers, **options):
        async def later(url):
            async with bourse.AsyncBourse(url, KEY, **options) as service:
                await service.bars(["US:AAPL", "US:MSFT"], "1M", "2025-03-03")

        for ask in (
            lambda url: minutes(bourse.Bourse(url, KEY, **options)),
            lambda url: bourse.Bourse(url, KEY, **options).bars(["US:AAPL", "US:MSFT"], "1M", "2025-03-03"),
            lambda url: asyncio.run(later(url)),
        ):
            printed = ""
            with FailingServer(*answers * 2) as server:
                if not answers:
                    server.server_close()
                try:
                    ask(server.url)
                except bourse.BourseError:
                    printed = traceback.format_exc()
            self.assertEqual((printed.count(bourse.__file__), printed.count("Traceback")), (1, 1), printed)
            self.assertIn(f": {word}: ", printed.splitlines()[-1])

    def test_it_is_one_line_of_the_client_and_the_sentence(self):
        refused = [(400, "invalid_parameter"), (401, "invalid_key"), (403, "forbidden"), (404, "unknown_instrument"), (409, "a_new_word"), (500, "internal")]
        for status, word in refused:
            self.assert_brief(word, error(status, word))
        for status, word in [(429, "rate_limited"), (503, "unavailable")]:
            self.assert_brief(word, *[error(status, word, Retry_After="0")] * 2, retries=1)
        self.assert_brief("unreachable", retries=0)
        self.assert_brief("unreachable", Answer(seconds=1), retries=0, timeout=0.1)
        unread = page(30, 1)
        unread.body = unread.body.replace(",99,", ",x,")
        for answer in (Answer("<html>", headers={"Content-Type": "text/html"}), Answer("<html>", 404), unread):
            self.assert_brief("bad_answer", answer)


class Told(unittest.TestCase):
    """What a call tells while it goes on."""

    def test_a_pause_is_a_line_of_the_log_and_no_key_is_in_it(self):
        quota = error(429, "rate_limited", message=f"The quota of {KEY} is used up.", Retry_After="1")
        with FailingServer(quota, Answer(status=502), page(30, 1)) as server, self.assertLogs("bourse", "INFO") as caught:
            minutes(client(server))
        first, second = caught.records
        self.assertEqual((first.levelname, second.levelname), ("WARNING", "INFO"))
        asked = "stock/bars/US%3AAAPL/1M/from/2025-03-03/to/2025-03-03: "
        self.assertRegex(first.getMessage(), f"^{asked}rate_limited: The quota of <API_KEY> is used up. .*Try 2 of 6 in 1.[0-9] seconds.$")
        self.assertRegex(second.getMessage(), f"^{asked}unavailable: .* answered 502 Try 3 of 6 in 0.[0-9] seconds.$")

    def test_an_answer_at_once_and_an_error_at_once_are_no_lines(self):
        with FailingServer(page(30, 1), error(404, "unknown_instrument")) as server, self.assertNoLogs("bourse", "DEBUG"):
            minutes(client(server))
            with self.assertRaises(bourse.UnknownInstrument):
                minutes(client(server))

    def bars_of(self, ask, *answers):
        """What is told to tqdm, here a stand-in: the rows of each update, and whether the bar was closed."""
        bar = mock.Mock()
        modules = {"tqdm": mock.Mock(), "tqdm.auto": mock.Mock(tqdm=mock.Mock(return_value=bar))}
        with FailingServer(*answers) as server, mock.patch.dict(sys.modules, modules):
            ask(server)
        bar.close.assert_called_once_with()
        return sorted(rows for (rows,), _ in bar.update.call_args_list)

    def test_progress_counts_the_rows_of_all_pages_and_symbols(self):
        pages = [page(30, 2, "k"), page(32, 3)]
        self.assertEqual(self.bars_of(lambda server: minutes(client(server, progress=True)), *pages), [2, 3])

        async def ask(server):
            async with bourse.AsyncBourse(server.url, KEY, progress=True) as service:
                await service.bars(["US:A", "US:B"], "1M", "2025-03-03")

        self.assertEqual(self.bars_of(lambda server: asyncio.run(ask(server)), page(30, 4), page(30, 5)), [4, 5])

        def fails(server):
            with self.assertRaises(bourse.Internal):
                minutes(client(server, progress=True))

        self.assertEqual(self.bars_of(fails, page(30, 2, "k"), error(500, "internal")), [2])

    def test_without_tqdm_progress_shows_nothing(self):
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), FailingServer(page(30, 2)) as server:
            self.assertEqual(closes(minutes(client(server, progress=True))), [30, 31])

    @unittest.skipUnless(importlib.util.find_spec("tqdm"), "tqdm is not installed")
    def test_tqdm_shows_the_rows(self):
        shown = io.StringIO()
        with FailingServer(page(30, 2)) as server, contextlib.redirect_stderr(shown):
            minutes(client(server, progress=True))
        self.assertRegex(shown.getvalue(), "2 rows")


class Walks(unittest.TestCase):
    def test_a_walk_whose_page_key_has_expired_begins_again_once(self):
        expired = error(400, "invalid_page_key")
        with FailingServer(page(30, 2, "old"), expired, page(30, 2, "new"), page(32, 1)) as server:
            self.assertEqual(closes(minutes(client(server))), [30, 31, 32])
            self.assertEqual(["next_page_key" in path for path in server.paths], [False, True, False, True])
        with FailingServer(page(30, 2, "old"), expired, page(30, 2, "new"), expired) as server:
            with self.assertRaises(bourse.InvalidPageKey):
                minutes(client(server))

    def test_a_service_that_gives_a_page_again_is_not_followed_for_ever(self):
        with FailingServer(page(30, 2, "k"), page(30, 2, "k")) as server, self.assertRaises(bourse.BadAnswer):
            minutes(client(server))

    def test_a_page_whose_paging_a_proxy_has_removed_is_never_taken_for_all(self):
        linked = page(30, 2, Link='</api/v2/next>; rel="next"')
        uncounted = page(30, 2)
        del uncounted.headers["X-Count"]
        for answer in (linked, uncounted):
            with FailingServer(answer) as server, self.assertRaises(bourse.BadAnswer):
                minutes(client(server))

    def test_fewer_rows_than_were_told_are_an_error(self):
        whole = page(30, 5)
        short = Answer(bars(30, 4), headers=whole.headers)
        packed = gzip.compress(whole.body.encode())[:-30]
        cut = Answer(packed, headers={**whole.headers, "Content-Encoding": "gzip"})
        for answer in (short, cut):
            with FailingServer(answer) as server, self.assertRaises(bourse.BadAnswer):
                minutes(client(server))

    def test_other_columns_in_the_middle_of_a_walk_are_an_error(self):
        other = page(32, 1)
        other.body = other.body.replace("open,high", "high,open")
        with FailingServer(page(30, 2, "k"), other) as server, self.assertRaises(bourse.BadAnswer):
            minutes(client(server))

    def test_what_is_no_csv_is_an_error_whatever_its_status(self):
        login = Answer("<html>Log in</html>", headers={"Content-Type": "text/html"})
        garbage = Answer('"', headers={"Content-Type": "text/csv", "X-Count": "0"})
        for answer in (login, garbage, Answer("<html>", 404), Answer(status=204)):
            with FailingServer(answer) as server, self.assertRaises(bourse.BadAnswer):
                minutes(client(server))
        with FailingServer(login) as server, self.assertRaises(bourse.BadAnswer):
            client(server).reference("US:AAPL")

    def test_an_answer_of_another_program_is_a_bad_answer_whatever_its_form(self):
        told = {"Content-Type": "application/json"}
        bodies: list[object] = ["Not Found", [{"loc": ["path"], "msg": "no"}], None, 7, {"error": {}, "hint": None, "param": 3, "request_id": []}]
        refusals = [json.dumps(one) for detail in bodies for one in ({"detail": detail, "message": detail}, detail)]
        lists = [json.dumps({"status": "ok", "result": one}) for one in (None, 7, [], {"data": 7}, {"data": [7]}, {})]
        answers = [*[(404, body) for body in (*refusals, "[" * 100_000, b"\xff")], *[(200, body) for body in lists]]
        pauses = itertools.cycle(["\xb2", "-1", "soon", "9" * 400, "Wed, 21 Oct 2015 07:28:00 +" + "9" * 18])
        asks = (minutes, lambda service: service.search("a"), lambda service: service.bulk("US", "1M", "2025-03-03"))
        given = [Answer(body, status, {**told, "Retry-After": pause}) for (status, body), pause in zip(answers, pauses)]
        with FailingServer(*[answer for answer in given for _ in asks]) as server:
            service = client(server, retries=0)
            for answer in given:
                for ask in asks:
                    with self.assertRaises(bourse.BadAnswer, msg=f"{answer.body!r:.80} {answer.headers}"):
                        ask(service)

    def test_a_csv_of_another_program_is_a_bad_answer(self):
        told = {"Content-Type": "text/csv"}
        for count in ("\xb2", "9" * 5_000, "-1", "1.0", ""):
            with FailingServer(Answer("a,b\r\n1,2\r\n", headers={**told, "X-Count": count})) as server, self.assertRaises(bourse.BadAnswer):
                minutes(client(server))
        one = {**told, "X-Count": "1"}
        rows = [b"a,b\r\n1,2\r\n", b"\xff,\xfe\r\n1,2\r\n", b"importance,b\r\n1.5,2\r\n", b"a,a\r\n1,2\r\n", b"datetime,b\r\n9999999999,1\r\n"]
        for body in rows:
            with FailingServer(*[Answer(body, headers=one)] * 2) as server:
                for ask in (minutes, lambda service: service.bulk("US", "1M", "2025-03-03")):
                    with self.assertRaises(bourse.BadAnswer, msg=repr(body)):
                        ask(client(server))

    def test_a_parameter_that_the_service_does_not_know_is_an_error(self):
        with FailingServer(page(30, 1, X_Ignored_Parameters="as_of")) as server:
            with self.assertRaisesRegex(bourse.IgnoredParameter, "as_of"):
                client(server).bars("US:AAPL", "1M", "2025-03-03", as_of="2025-03-04T00:00:00Z")

    def test_what_the_service_says_of_an_answer_is_told(self):
        told = page(30, 1, X_Symbol_History="FB was META", X_Data_Version="7", X_As_Of_Limits="forecasts")
        with FailingServer(told) as server, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            frame = minutes(client(server))
        self.assertEqual(frame.attrs, {"symbol_history": "FB was META", "data_version": "7", "as_of_limits": "forecasts"})
        self.assertEqual(len([one for one in caught if one.category is bourse.BourseWarning]), 2)


class Warned(unittest.TestCase):
    """A warning names the line that called, also from the threads and tasks of several symbols."""

    empty = page(30, 0, X_No_Data="not finished yet")

    def lines(self, ask):
        with FailingServer(self.empty, self.empty) as server, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask(server)
        told = [one for one in caught if one.category is bourse.BourseWarning]
        self.assertEqual({str(one.message) for one in told}, {f"US:{name} has no such bars at 1M: not finished yet" for name in "AB"})
        return [(one.filename, one.lineno) for one in told]

    @staticmethod
    def here(below):
        frame = sys._getframe(1)
        return [(__file__, frame.f_lineno + below)] * 2

    def test_of_the_client(self):
        def ask(server):
            self.place = self.here(1)
            client(server).bars(["US:A", "US:B"], "1M", "2025-03-03")

        self.assertEqual(self.lines(ask), self.place)

    def test_of_the_asynchronous_client_whose_call_is_awaited_elsewhere(self):
        async def called(server):
            async with bourse.AsyncBourse(server.url, KEY) as service:
                self.place = self.here(1)
                later = service.bars(["US:A", "US:B"], "1M", "2025-03-03")
                await asyncio.gather(later)

        self.assertEqual(self.lines(lambda server: asyncio.run(called(server))), self.place)

    def test_as_an_error_it_ends_the_call(self):
        with FailingServer(self.empty) as server, warnings.catch_warnings():
            warnings.simplefilter("error", bourse.BourseWarning)
            with self.assertRaisesRegex(bourse.BourseWarning, "not finished yet"):
                client(server).bars(["US:A"], "1M", "2025-03-03")


class Newest(unittest.TestCase):
    def test_an_answer_whose_bars_belong_to_nobody_is_a_bad_answer(self):
        csv = bars(30, 2)
        whole = {"count": 2, "data": csv, "missing": []}
        wrong = [{}, {**whole, "missing": ["US:AAPL"]}, {**whole, "missing": None}, {**whole, "count": 3}, {**whole, "data": 7}]
        for result in wrong:
            answer = Answer(json.dumps({"status": "ok", "result": result}), headers={"Content-Type": "application/json"})
            with FailingServer(answer) as server, self.assertRaises(bourse.BadAnswer, msg=str(result)):
                client(server).latest(["US:AAPL"], "1M", 2)


class Columns(unittest.TestCase):
    cells = {"number": "1.5", "integer": "7", "boolean": "true", "date": "2025-03-03", "date-time": "2025-03-03T14:30:00Z", "text": "0700"}
    day = pd.Timestamp("2025-03-03")
    read = {"number": 1.5, "integer": 7, "boolean": True, "date": day, "date-time": pd.Timestamp("2025-03-03T14:30:00Z"), "text": "0700"}

    def test_every_field_of_the_contract_has_its_type(self):
        for endpoint, kinds in json.loads(os.environ["BOURSE_FIELDS"]).items():
            row = ",".join(self.cells[kind] for kind in kinds.values())
            body = f"{','.join(kinds)}\r\n{row}\r\n{',' * (len(kinds) - 1)}\r\n"
            told = {"Content-Type": "text/csv", "X-Count": "2"}
            with FailingServer(Answer(body, headers=told)) as server:
                frame = client(server).events()
            for name, kind in kinds.items():
                self.assertEqual(frame[name][0], self.read[kind], f"{name} of {endpoint}")
                self.assertTrue(pd.isna(frame[name][1]), f"{name} of {endpoint}")


class SeveralSymbols(unittest.TestCase):
    symbols = [f"US:S{number}" for number in range(4)]

    def meeting(self):
        """Answers that come once two requests wait for theirs."""
        barrier = threading.Barrier(2, timeout=60)

        def together(path, _):
            barrier.wait()
            return page(30 + int(re.search(r"S(\d)/", path)[1]), 1)

        return [together] * len(self.symbols)

    def test_they_are_asked_side_by_side_and_keep_their_order(self):
        with FailingServer(*self.meeting()) as server:
            frame = client(server).bars(self.symbols, "1M", "2025-03-03")
            self.assertEqual(list(frame.index.get_level_values(0)), self.symbols)
            self.assertEqual(closes(frame), [30, 31, 32, 33])

        async def ask(server):
            async with bourse.AsyncBourse(server.url, KEY) as service:
                return await service.bars(self.symbols, "1M", "2025-03-03")

        with FailingServer(*self.meeting()) as server:
            self.assertEqual(closes(asyncio.run(ask(server))), [30, 31, 32, 33])

    def test_the_error_of_one_is_the_error_of_all(self):
        answers = [error(404, "unknown_instrument")] * 40

        async def ask(server):
            async with bourse.AsyncBourse(server.url, KEY) as service:
                await service.bars([f"US:S{number}" for number in range(40)], "1M", "2025-03-03")

        with FailingServer(*answers) as server, self.assertRaises(bourse.UnknownInstrument):
            client(server).bars([f"US:S{number}" for number in range(40)], "1M", "2025-03-03")
        self.assertLess(len(server.asked), 40)
        with FailingServer(*answers) as server, self.assertRaises(bourse.UnknownInstrument):
            asyncio.run(ask(server))
        self.assertLess(len(server.asked), 40)

    def test_an_error_waits_for_no_other_symbol(self):
        def answer(path, _):
            return error(404, "unknown_instrument") if "S0/" in path else Answer(seconds=20)

        with FailingServer(answer, answer) as server:
            service = client(server, retries=0, timeout=6)
            begun = time.monotonic()
            with self.assertRaises(bourse.UnknownInstrument):
                service.bars(["US:S0", "US:S1"], "1M", "2025-03-03")
            self.assertLess(time.monotonic() - begun, 5)


class Keys(unittest.TestCase):
    def test_no_error_and_no_text_of_the_client_has_the_key(self):
        echo = error(401, "invalid_key", message=f"{KEY} is no key")
        with FailingServer(echo) as server:
            service = client(server)
            try:
                minutes(service)
            except bourse.InvalidKey as caught:
                told = "".join(traceback.format_exception(type(caught), caught, caught.__traceback__))
                self.assertIn("<API_KEY> is no key", told)
                self.assertNotIn(KEY, told + repr(caught) + str(vars(caught)))
            self.assertNotIn(KEY, repr(service) + str(vars(service)) + repr(service._http.headers))
            self.assertNotIn(KEY, server.paths[0])

    def test_a_redirect_is_not_followed(self):
        with FailingServer() as other:
            away = Answer(status=301, headers={"Location": f"{other.url}/elsewhere"})
            with FailingServer(away) as server, self.assertRaisesRegex(bourse.BadAnswer, "301.*elsewhere"):
                minutes(client(server))
            self.assertEqual(other.asked, [])

    def test_a_netrc_file_does_not_replace_the_key(self):
        with tempfile.TemporaryDirectory() as folder, FailingServer(page(30, 1)) as server:
            netrc = Path(folder, "netrc")
            netrc.write_text("machine 127.0.0.1 login someone password secret\n")
            os.environ["NETRC"] = str(netrc)
            try:
                minutes(client(server))
            finally:
                del os.environ["NETRC"]
            self.assertEqual(server.asked[0][1]["authorization"], f"Bearer {KEY}")

    def test_what_can_be_no_key_or_address_is_said_at_once_and_not_repeated(self):
        for key in ("", f"{KEY}\n", f"{KEY} ", "schlüssel"):
            with self.assertRaises(ValueError) as caught:
                bourse.Bourse("http://127.0.0.1", key)
            self.assertNotIn(KEY, str(caught.exception))
        for url in ("127.0.0.1:8080", "ftp://x", "http://a:b@x", "http://x?secret_key=abc"):
            with self.assertRaises(ValueError):
                bourse.Bourse(url, KEY)

    def test_what_is_not_given_comes_from_the_environment(self):
        def made(variables, *given, **named):
            with mock.patch.dict(os.environ, variables):
                return bourse.Bourse(*given, **named)

        with FailingServer(page(30, 1), page(31, 1)) as server:
            both = {"BOURSE_URL": server.url, "BOURSE_KEY": KEY}
            minutes(made(both))
            minutes(made({**both, "BOURSE_URL": "http://127.0.0.1:1"}, server.url))
            self.assertEqual({headers["authorization"] for _, headers, _ in server.asked}, {f"Bearer {KEY}"})
        cases = [
            ({}, {}, "no url and no key: give url and key to it, or set BOURSE_URL and BOURSE_KEY$"),
            ({"BOURSE_URL": "http://x", "BOURSE_KEY": ""}, {}, "no key: give key to it, or set BOURSE_KEY$"),
            ({}, {"key": KEY}, "no url: give url to it, or set BOURSE_URL$"),
            ({"BOURSE_KEY": KEY}, {"url": "http://x", "key": ""}, "bourse keys create"),
        ]
        for client_of in (bourse.Bourse, bourse.AsyncBourse):
            for variables, given, words in cases:
                with mock.patch.dict(os.environ, {"BOURSE_URL": "", "BOURSE_KEY": "", **variables}):
                    with self.assertRaisesRegex(ValueError, words):
                        client_of(**given)

    def test_every_word_of_the_service_has_its_class(self):
        words = json.loads(os.environ["BOURSE_WORDS"])
        with FailingServer(*[error(status, word) for word, status in words.items()]) as server:
            service = client(server, retries=0)
            for word, status in words.items():
                with self.assertRaises(bourse.BourseError) as caught:
                    minutes(service)
                self.assertIsNot(type(caught.exception), bourse.BourseError, word)
                self.assertEqual((caught.exception.error, caught.exception.status), (word, status))
        with FailingServer(error(418, "a_new_word")) as server, self.assertRaises(bourse.BourseError) as caught:
            minutes(client(server))
        self.assertEqual(caught.exception.error, "a_new_word")


class Caches(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.server = self.enterContext(FailingServer())

    def asking(self, *answers):
        """The closes of a client that keeps answers, and for each request the tag that it held."""
        self.server.answers, self.server.asked = list(answers), []
        found = closes(minutes(client(self.server, cache=self.folder.name)))
        return found, [headers.get("if-none-match") for _, headers, _ in self.server.asked]

    def test_pages_that_hold_are_not_sent_again_and_the_walk_goes_on_as_of_now(self):
        first = self.asking(page(30, 2, "k1", ETag='W/"a"'), page(32, 2, ETag='W/"b"'))
        self.assertEqual(first, ([30, 31, 32, 33], [None, None]))
        held = [Answer(status=304, headers={"ETag": 'W/"a"', "X-Next-Page-Key": "k2"}), Answer(status=304, headers={"ETag": 'W/"b"'})]
        self.assertEqual(self.asking(*held), ([30, 31, 32, 33], ['W/"a"', 'W/"b"']))
        grown = [held[0], page(32, 3, "k3", ETag='W/"c"'), page(35, 1)]
        self.assertEqual(self.asking(*grown), ([30, 31, 32, 33, 34, 35], ['W/"a"', 'W/"b"', None]))

    def test_a_304_that_does_not_say_which_page_is_next_is_asked_again(self):
        self.asking(page(30, 2, "k1", ETag='W/"a"'), page(32, 2))
        again = self.asking(Answer(status=304, headers={"ETag": 'W/"a"'}), page(30, 2, "k2", ETag='W/"a"'), page(32, 1))
        self.assertEqual(again, ([30, 31, 32], ['W/"a"', None, None]))

    def test_a_damaged_file_is_asked_for_again(self):
        self.asking(page(30, 2, ETag='W/"a"'))
        (file,) = Path(self.folder.name).iterdir()
        kept = file.read_bytes()
        for damaged in (kept.replace(b",30,10,", b",39,10,"), b"", kept[:40]):
            file.write_bytes(damaged)
            self.assertEqual(self.asking(page(30, 2, ETag='W/"a"')), ([30, 31], [None]))

    def test_the_files_have_no_key_and_old_ones_are_removed(self):
        self.asking(page(30, 2, ETag='W/"a"'))
        (file,) = Path(self.folder.name).iterdir()
        self.assertNotIn(KEY.encode(), file.read_bytes())
        self.assertNotIn(KEY, file.name)
        os.utime(file, (0, 0))
        other = Path(self.folder.name, "mine.txt")
        other.touch()
        os.utime(other, (0, 0))
        bourse.Bourse("http://127.0.0.1", KEY, cache=self.folder.name)
        self.assertEqual(list(Path(self.folder.name).iterdir()), [other])


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_it_waits_and_walks_as_the_other_does(self):
        answers = [error(503, "unavailable", Retry_After="1"), page(30, 2, "k1"), page(32, 1)]
        with FailingServer(*answers) as server:
            async with bourse.AsyncBourse(server.url, KEY) as service:
                waiting = asyncio.ensure_future(minutes(service))
                await asyncio.sleep(0.5)
                self.assertFalse(waiting.done())
                self.assertEqual(closes(await waiting), [30, 31, 32])

    async def test_errors_are_the_same(self):
        with FailingServer(error(404, "unknown_instrument")) as server:
            async with bourse.AsyncBourse(server.url, KEY) as service:
                with self.assertRaises(bourse.UnknownInstrument):
                    await minutes(service)
        async with bourse.AsyncBourse(server.url, KEY, retries=1) as service:
            with self.assertRaises(bourse.Unreachable):
                await minutes(service)

    async def test_what_is_cancelled_ends_at_once(self):
        with FailingServer(Answer(seconds=20)) as server:
            async with bourse.AsyncBourse(server.url, KEY) as service:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(minutes(service), 0.1)


if __name__ == "__main__":
    unittest.main()
