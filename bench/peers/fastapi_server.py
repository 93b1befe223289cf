"""FastAPI over the SQLite file of the row server, one process. `--store F --key-hash H --port N`"""

import sqlite3
from argparse import ArgumentParser
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import Optional

import uvicorn
from fastapi import FastAPI, HTTPException, Request

parser = ArgumentParser()
parser.add_argument("--store", required=True)
parser.add_argument("--key-hash", required=True)
parser.add_argument("--port", type=int, required=True)
flags = parser.parse_args()

app = FastAPI()
store = sqlite3.connect(flags.store)
store.row_factory = sqlite3.Row
MINUTE = timedelta(minutes=1)

FIND_INSTRUMENT = "select id, exchange from instruments where asset_schema = ? and country = ? and symbol = ?"
FIND_BARS = """select open_ms, open, high, low, close, volume, vwap from bars
  where instrument_id = ? and interval = ? and open_ms >= ? and open_ms <= ? order by open_ms limit ?"""


def ms_of(text: str) -> int:
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def text_of(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, timezone.utc)


@app.get("/api/v2/{schema}/bars/{name}/{interval}/from/{start}/to/{end}")
async def bars(request: Request, schema: str, name: str, interval: str, start: str, end: str,
               secret_key: str, limit: int = 100, next_page_key: Optional[str] = None):
    if sha256(secret_key.encode()).hexdigest() != flags.key_hash:
        raise HTTPException(401)
    country, symbol = name.split(":")
    instrument = store.execute(FIND_INSTRUMENT, (schema, country, symbol)).fetchone()
    if instrument is None:
        raise HTTPException(404)
    values = (instrument["id"], interval, ms_of(next_page_key or start), ms_of(end), limit + 1)
    rows = store.execute(FIND_BARS, values).fetchall()
    following = text_of(rows.pop()["open_ms"]).isoformat() if len(rows) > limit else None
    path = f"/api/v2/{schema}/bars/{name}/{interval}/from/{start}/to/{end}"
    url = f"{request.base_url}{path[1:]}?limit={limit}&secret_key={secret_key}&next_page_key={following}"
    data = [
        {
            "asset_schema": schema.upper(), "interval": interval, "country_iso_code": country,
            "exchange": instrument["exchange"], "symbol": symbol,
            "datetime": text_of(row["open_ms"]), "close_datetime": text_of(row["open_ms"]) + MINUTE,
            "open": row["open"], "high": row["high"], "low": row["low"], "close": row["close"],
            "volume": row["volume"], "vwap": row["vwap"],
        }
        for row in rows
    ]
    return {
        "status": "ok", "code": 200, "message": "Request processed successfully", "reference": None,
        "result": {"next_page_key": following, "next_page_url": url if following else None,
                   "count": len(rows), "data": data},
    }


uvicorn.run(app, host="127.0.0.1", port=flags.port, log_level="critical", access_log=False)
