// Each sentence of contract 3.9 by a small case, with what is then served written down. Stocks of New York
// from 5 to 9 February 2024, without a holiday: in UTC the pre-market opens at 09:00, regular hours are 14:30
// to 21:00, and the post-market ends at 01:00 of the next day.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DAY_MS, MINUTE_MS } from '../../src/base/instant.ts';
import { TestFolder } from '../stores.ts';
import type { Deletion, FileBar, Stored } from './facts.ts';
import { type Command, dayOf, type Holiday, Journal, type MarketName, type Terms } from './journal.ts';
import type { Asked } from './oracle.ts';
import { lineOf, World } from './world.ts';

const temporary = new TestFolder();
after(() => temporary.close());

/** An instant of February 2024 by day and time of UTC. */
const at = (text: string): number => Date.parse(`2024-02-${text}Z`);
const NEXT_WEEK = at('13T00:00');

/** Bars of so many minutes from one instant up to another. */
function every(symbol: string, minutes: number, from: string, to: string, price = 1): FileBar[] {
  const bars: FileBar[] = [];
  for (let keyMs = at(from); keyMs < at(to); keyMs += minutes * MINUTE_MS)
    bars.push({ symbol, keyMs, price });
  return bars;
}

/** Single bars. */
const some = (symbol: string, ...times: string[]): FileBar[] =>
  times.map((time) => ({ symbol, keyMs: at(time), price: 1 }));

/** DAY bars of some dates. */
const days = (symbol: string, dates: string, price = 1): FileBar[] =>
  dates.split(' ').map((date) => ({ symbol, keyMs: dayOf(`2024-02-${date}`) * DAY_MS, price }));

/** What the cases need of a store, or of a journal alone. */
type Kept = {
  import(command: Command): unknown;
  delete(symbol: string, interval: Stored | null, range: Deletion['range']): unknown;
  holiday(holiday: Holiday): unknown;
  terms(terms: Terms): unknown;
  undo(place: number): unknown;
};

/** The lines of what is served next week. */
type Serving = (symbol: string, interval: Asked, isEth: boolean) => Promise<string[]>;

/** One market, with short words for what the cases do. */
class Case {
  readonly #kept: Kept;
  readonly #serving: Serving;

  constructor(kept: Kept, serving: Serving) {
    this.#kept = kept;
    this.#serving = serving;
  }

  /** Imports one file at a moment. */
  async file(
    moment: string,
    interval: Stored,
    bars: readonly FileBar[],
    flags: { zone?: string; from?: string; through?: string; symbol?: string } = {},
  ): Promise<void> {
    const { zone = null, from, through, symbol } = flags;
    await this.#kept.import({
      ...{ startMs: at(moment), interval, zone, files: [bars] },
      ...{
        fromMs: from === undefined ? null : at(from),
        throughMs: through === undefined ? null : at(through),
      },
      ...(symbol !== undefined && { symbol }),
    });
  }

  /** Imports several files by one command. */
  async files(moment: string, interval: Stored, ...files: readonly FileBar[][]): Promise<void> {
    await this.#kept.import({ startMs: at(moment), interval, files });
  }

  async terms(symbol: string, terms: Partial<Terms>): Promise<void> {
    await this.#kept.terms({ symbol, listing: null, delisting: null, isInactive: false, ...terms });
  }

  /** What becomes of a session: a close, or none. */
  async holiday(date: string, close: string | null): Promise<void> {
    const template = close === null ? 'CLOSED' : 'EARLY_CLOSE';
    await this.#kept.holiday({ day: dayOf(date), template, closeMs: close === null ? null : at(close) });
  }

  /** Deletes the bars of a symbol on a date, or from one instant up to another. */
  async delete(symbol: string, ...range: [date: string] | [from: string, to: string]): Promise<void> {
    const [from, to] = range;
    const day = dayOf(`2024-02-${from}`);
    await this.#kept.delete(
      symbol,
      null,
      to === undefined ? { fromDay: day, toDay: day } : { fromMs: at(from), toMs: at(to) },
    );
  }

  /** Takes the live run of some place back, the last one by default. */
  async undo(place = -1): Promise<void> {
    await this.#kept.undo(place);
  }

  /** What is served next week: the open of each bar in UTC, and of how many bars it is made. */
  async served(symbol: string, interval: Asked, isEth = false): Promise<string[]> {
    const lines = await this.#serving(symbol, interval, isEth);
    return lines.map((line) => `${line.slice(8, 16)} ${line.slice(line.lastIndexOf('x'))}`);
  }
}

/**
 * A sentence of the contract, which the service keeps, and so does the reading that the random test compares
 * it with.
 */
function sentence(words: string, work: (one: Case) => Promise<void>, market: MarketName = 'stock'): void {
  test(words, async () => {
    const world = await World.open(temporary, market);
    try {
      await work(
        new Case(world, (symbol, interval, isEth) => world.bars(symbol, interval, isEth, NEXT_WEEK)),
      );
    } finally {
      await world.close();
    }
  });
  test(`a direct reading: ${words}`, async () => {
    const journal = new Journal(market);
    const serving: Serving = async (symbol, interval, isEth) =>
      journal.oracle.served(symbol, interval, isEth, NEXT_WEEK).map(lineOf);
    await work(new Case(journal, serving));
  });
}

/** The 13 half hours of Wednesday, and those up to noon in New York. */
const wednesday = (symbol: string, price = 1): FileBar[] => every(symbol, 30, '07T14:30', '07T21:00', price);
const noon = (symbol: string, price = 1): FileBar[] => every(symbol, 30, '07T14:30', '07T17:00', price);

// (1) Files.

sentence(
  'a file covers whole sessions, from that of its first bar through that of its last, extended hours included (contract 3.9 (1))',
  async (one) => {
    await one.file('08T01:00', '30M', wednesday('A'));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x13']);
    assert.deepEqual(await one.served('A', 'DAY', true), ['07T09:00 x13']);
    assert.deepEqual(
      await one.served('A', 'WEEK'),
      [],
      'Monday, Tuesday, Thursday and Friday are not covered',
    );
    await one.file('10T02:00', '30M', every('A', 30, '09T14:30', '09T15:30'));
    await one.file('10T02:30', '30M', every('A', 30, '05T14:30', '05T15:30'));
    assert.deepEqual(await one.served('A', 'WEEK'), [], 'no file spans Tuesday and Thursday');
    const all = [...some('A', '05T14:30'), ...wednesday('A'), ...some('A', '09T14:30')];
    await one.file('10T03:00', '30M', all);
    assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x17']);
    assert.deepEqual(await one.served('A', 'WEEK', true), ['05T09:00 x17']);
  },
);

sentence(
  'a delayed feed finishes nothing early: its last session is covered through the close of its last bar (contract 3.9 (1))',
  async (one) => {
    await one.file('07T21:05', '1M', every('A', 1, '07T14:30', '07T20:47'));
    assert.deepEqual(await one.served('A', 'DAY'), []);
    assert.equal((await one.served('A', '5M')).at(-1), '07T20:40 x5');
    assert.equal((await one.served('A', '60M')).at(-1), '07T19:30 x60');
  },
);

sentence(
  'a run that begins after the regular close, in the post-market, finishes the regular hours alone (contract 3.9 (1))',
  async (one) => {
    await one.file('08T00:59', '30M', wednesday('A'));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x13']);
    assert.deepEqual(await one.served('A', 'DAY', true), []);
  },
);

sentence(
  'one bar of the future, and a bar that is still going on, finish nothing of a delayed feed (contract 3.9 (1), (5))',
  async (one) => {
    const rows = every('A', 1, '07T14:30', '07T20:45');
    await one.file('07T21:05', '1M', [...rows, ...some('B', '09T15:00', '07T21:05')]);
    assert.deepEqual(await one.served('A', 'DAY'), []);
  },
);

sentence('a file covers only its own interval (contract 3.9 (1))', async (one) => {
  await one.file('07T17:05', '30M', noon('A'));
  await one.file('10T02:00', '60M', every('A', 60, '08T14:30', '08T21:00'));
  await one.file('10T03:00', 'DAY', days('A', '06 08 09'));
  assert.deepEqual(await one.served('A', 'DAY'), ['06T14:30 x1', '08T14:30 x1', '09T14:30 x1']);
});

sentence(
  'a day of a market with a closing auction waits for the auction (contract 3.9, 3.13)',
  async (one) => {
    // In London regular hours are 08:00 to 16:30.
    const rows = every('A', 30, '07T08:00', '07T16:30');
    await one.file('07T16:35', '30M', rows);
    assert.equal((await one.served('A', '30M')).length, 17);
    assert.deepEqual(await one.served('A', 'DAY'), []);
    await one.undo();
    await one.file('07T17:30', '30M', rows);
    assert.deepEqual(await one.served('A', 'DAY'), ['07T08:00 x17']);
  },
  'london',
);

const firstSessions: readonly (readonly [words: string, bars: FileBar[], isDay: boolean])[] = [
  ['15 minutes after the open, dense', every('A', 1, '07T14:45', '07T14:55'), true],
  ['16 minutes after the open, dense', every('A', 1, '07T14:46', '07T14:56'), false],
  ['three bars in five minutes, 60 %', some('A', '07T14:46', '07T14:48', '07T14:50'), true],
  ['four bars in five minutes, 80 %', some('A', '07T14:46', '07T14:47', '07T14:48', '07T14:50'), false],
  ['two bars beside each other', some('A', '07T14:46', '07T14:47'), true],
  ['one of two series is dense', [...some('A', '07T14:46'), ...every('B', 1, '07T15:00', '07T15:10')], false],
  [
    'a bar of the pre-market, then a dense part',
    [...some('A', '07T13:00'), ...every('A', 1, '07T15:00', '07T15:10')],
    true,
  ],
];
for (const [words, bars, isDay] of firstSessions)
  sentence(
    `the first session of a file is covered from its first bar where a window begins in it: ${words} (contract 3.9 (1))`,
    async (one) => {
      await one.file('08T02:00', '1M', bars);
      assert.equal((await one.served('A', 'DAY')).length, isDay ? 1 : 0);
    },
  );

sentence(
  'a file of a series that trades seldom began in the middle of a session where all files of its command did (contract 3.9 (1))',
  async (one) => {
    // A window from ten o'clock of New York on, a file for each symbol.
    await one.files('08T02:00', '1M', every('A', 1, '07T15:00', '07T15:10'), some('B', '07T15:40'));
    assert.deepEqual(await one.served('A', 'DAY'), []);
    assert.deepEqual(await one.served('B', 'DAY'), [], 'of B it tells as little of what was before');
    await one.undo();
    await one.undo();
    // Files of the whole session.
    await one.files('08T02:00', '1M', every('A', 1, '07T14:30', '07T15:10'), some('B', '07T15:40'));
    assert.deepEqual(await one.served('B', 'DAY'), ['07T14:30 x1']);
    await one.undo();
    await one.undo();
    // One of the files has the session from its beginning, without a bar in its first minutes.
    const earlier = [...some('C', '06T14:30'), ...some('C', '07T15:20')];
    await one.files('08T02:00', '1M', every('D', 1, '07T15:00', '07T15:10'), some('E', '07T15:40'), earlier);
    assert.deepEqual(await one.served('E', 'DAY'), ['07T14:30 x1']);
  },
);

sentence('only the first session of a file may begin in its middle (contract 3.9 (1))', async (one) => {
  await one.file('08T02:00', '1M', [...some('A', '06T14:30'), ...every('A', 1, '07T15:00', '07T15:10')]);
  assert.deepEqual(await one.served('A', 'DAY'), ['06T14:30 x1', '07T14:30 x10']);
});

sentence(
  'an earlier bar of another live run shows that a file began in the middle of its first session (contract 3.9 (1))',
  async (one) => {
    await one.file('08T02:00', '1M', some('A', '07T16:00', '07T17:00'));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x2']);
    await one.file('08T03:00', '1M', some('B', '07T15:59'));
    assert.deepEqual(await one.served('A', 'DAY'), []);
    assert.deepEqual(
      await one.served('A', '60M'),
      ['07T16:30 x1'],
      'of 15:30 to 16:30 there is only the second half',
    );
    await one.undo();
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x2']);
    await one.file('08T04:00', '1M', some('B', '06T15:59'));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x2'], 'one of another session says nothing');
  },
);

sentence('a stock that is first traded at eleven has its first day (contract 3.9 (1))', async (one) => {
  const rows = every('A', 1, '07T16:00', '07T16:30');
  await one.file('08T02:00', '1M', rows);
  assert.deepEqual(await one.served('A', 'DAY'), []);
  await one.terms('A', { listing: dayOf('2024-02-07') });
  assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x30']);
  await one.undo();
  await one.terms('A', { listing: dayOf('2024-02-06') });
  assert.deepEqual(await one.served('A', 'DAY'), []);
});

sentence(
  'the day of a listing counts only where it is that of all that the file holds (contract 3.9 (1))',
  async (one) => {
    await one.file('08T02:00', '1M', [
      ...every('A', 1, '07T16:00', '07T16:30'),
      ...every('B', 1, '07T16:00', '07T16:30'),
    ]);
    await one.terms('A', { listing: dayOf('2024-02-07') });
    assert.deepEqual(await one.served('A', 'DAY'), []);
    await one.terms('B', { listing: dayOf('2024-02-07') });
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x30']);
  },
);

sentence(
  'files cut at midnight of UTC cover a session of currencies from and through it, together all of it (contract 3.9 (1))',
  async (one) => {
    // The session of Wednesday is from 22:00 of Tuesday to 22:00.
    await one.file('08T00:30', '30M', every('A', 30, '07T00:30', '07T23:30'));
    assert.deepEqual(await one.served('A', 'DAY'), []);
    assert.equal((await one.served('A', '60M'))[0], '07T00:00 x1');
    await one.file('07T00:10', '30M', every('A', 30, '06T00:00', '06T23:30'));
    assert.deepEqual(await one.served('A', 'DAY'), ['06T22:00 x46']);
    assert.deepEqual((await one.served('A', '60M')).slice(22, 24), ['06T22:00 x2', '06T23:00 x1']);
  },
  'forex',
);

const cutEnds: readonly (readonly [words: string, begun: string, last: string, isDay: boolean])[] = [
  ['its last bar closes at midnight', '07T00:10', '07T00:00', true],
  ['its last bar closes within the hour before', '07T00:10', '06T23:30', true],
  ['its last bar closes earlier', '07T00:10', '06T22:30', false],
  ['it began before midnight', '06T23:55', '06T23:30', false],
];
for (const [words, begun, last, isDay] of cutEnds)
  sentence(
    `a file cut by date covers through midnight: ${words} (contract 3.9 (1))`,
    async (one) => {
      await one.file('08T10:00', '30M', every('A', 30, '07T00:00', '08T00:00'));
      await one.file(begun, '30M', every('A', 30, '06T00:00', last));
      assert.equal((await one.served('A', 'DAY')).length, isDay ? 1 : 0);
    },
    'forex',
  );

sentence(
  'a file cut at midnight of its own zone covers a day of coins from and through it (contract 3.9 (1))',
  async (one) => {
    const zone = 'America/New_York';
    // 00:00 in New York is 05:00.
    const rows = every('A', 30, '07T05:30', '08T05:00');
    await one.file('08T09:00', '30M', rows, { zone });
    assert.deepEqual(await one.served('A', 'DAY'), []);
    await one.file('07T09:00', '30M', every('A', 30, '06T05:00', '07T04:30'), { zone });
    assert.deepEqual(await one.served('A', 'DAY'), ['07T00:00 x46']);
  },
  'crypto',
);

sentence(
  'in shorter sessions a file is cut at midnight only by a bar exactly at it (contract 3.9 (1))',
  async (one) => {
    await one.file('07T09:00', '30M', [...some('A', '06T00:00', '06T14:30'), ...some('A', '06T23:30')]);
    assert.deepEqual(await one.served('A', 'DAY'), ['06T14:30 x1']);
    assert.deepEqual(await one.served('A', 'DAY', true), []);
    await one.file('08T09:00', '30M', [...some('A', '07T00:00', '07T14:30', '07T23:00')]);
    assert.deepEqual(await one.served('A', 'DAY', true), ['06T09:00 x3', '07T09:00 x2']);
  },
);

sentence(
  'in shorter sessions one session of one series is not cut at midnight (contract 3.9 (1))',
  async (one) => {
    await one.file('07T09:00', '30M', some('A', '06T14:30', '06T23:30'));
    assert.deepEqual(await one.served('A', 'DAY', true), ['06T09:00 x2']);
    await one.file('08T09:00', '30M', [...some('A', '07T14:30', '07T23:30'), ...some('B', '07T14:30')]);
    assert.deepEqual(await one.served('A', 'DAY', true), ['06T09:00 x2'], 'several series are');
  },
);

sentence(
  '--complete-from says from when a window covers its first session (contract 3.9 (1))',
  async (one) => {
    const rows = every('A', 1, '07T15:00', '07T15:10');
    await one.file('08T02:00', '1M', rows, { from: '07T14:30' });
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x10']);
    assert.deepEqual(await one.served('A', 'DAY', true), [], 'the pre-market is not covered');
    await one.undo();
    await one.file('08T02:00', '1M', rows, { from: '07T15:00' });
    assert.deepEqual(await one.served('A', 'DAY'), []);
  },
);

sentence(
  'a week is not covered where a stored day of it is not, by what its file was said to have (contract 3.9 (1))',
  async (one) => {
    await one.file('07T02:00', 'DAY', days('A', '05 06'));
    await one.file('10T02:00', 'DAY', days('A', '07 08 09'));
    assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x5']);
    await one.undo();
    await one.file('10T02:00', 'DAY', days('A', '07 08 09'), { from: '07T14:35' });
    assert.deepEqual(await one.served('A', 'WEEK'), []);
  },
);

sentence(
  '--complete-through says through when a delayed feed covers its last session, at most through its own start (contract 3.9 (1))',
  async (one) => {
    const rows = every('A', 30, '07T14:30', '07T20:00');
    await one.file('07T21:05', '30M', rows, { through: '07T21:00' });
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x11']);
    await one.undo();
    await one.file('07T20:40', '30M', rows, { through: '09T00:00' });
    assert.deepEqual(await one.served('A', 'DAY'), []);
    assert.equal((await one.served('A', '60M')).at(-1), '07T19:30 x1');
    assert.equal((await one.served('A', '30M')).length, 11);
    await one.undo();
    await one.file('08T02:00', '30M', rows, { through: '07T20:30' });
    assert.deepEqual(await one.served('A', 'DAY'), [], 'it says less than its bars');
  },
);

sentence(
  'with both flags a file may be without rows: it covers a time without a trade (contract 3.9 (1))',
  async (one) => {
    await one.file('07T17:05', '30M', noon('A'));
    await one.file('08T02:00', '30M', [], { symbol: 'A', from: '07T17:00', through: '07T21:00' });
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x5']);
    await one.undo();
    assert.deepEqual(await one.served('A', 'DAY'), []);
  },
);

sentence('flags are about the series that the file names (contract 3.9 (1))', async (one) => {
  await one.file('07T17:05', '30M', [...noon('A'), ...noon('B')]);
  await one.file('08T02:00', '30M', some('B', '07T18:00'), { from: '07T14:30', through: '07T21:00' });
  assert.deepEqual(await one.served('A', 'DAY'), []);
  assert.deepEqual(await one.served('B', 'DAY'), ['07T14:30 x6']);
});

sentence('the same bytes again cover no more than they did (contract 3.9 (1))', async (one) => {
  await one.file('07T17:05', '30M', noon('A'));
  await one.file('08T02:00', '30M', noon('A'));
  assert.deepEqual(await one.served('A', 'DAY'), []);
  await one.undo(0);
  assert.deepEqual(
    await one.served('A', 'DAY'),
    ['07T14:30 x5'],
    'nothing tells any more when it was exported',
  );
});

sentence(
  'the same bytes again, with the end that flags say, cover through it (contract 3.9 (1))',
  async (one) => {
    await one.file('07T17:05', '30M', noon('A'));
    await one.file('08T02:00', '30M', noon('A'), { through: '08T01:00' });
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x5']);
  },
);

sentence('other bytes with the same bars cover the whole session (contract 3.9 (1))', async (one) => {
  await one.file('07T17:05', '30M', noon('A'));
  await one.file('08T02:00', '30M', [...noon('A'), ...some('B', '07T20:30')]);
  assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x5']);
});

// (3) Series.

sentence(
  'the next day’s file of the same symbol does not finish half a day (contract 3.9 (3a))',
  async (one) => {
    await one.file('05T17:00', '1M', every('A', 10, '05T14:30', '05T17:00'));
    await one.file('07T02:00', '1M', every('A', 10, '06T14:30', '06T21:00', 2));
    assert.deepEqual(await one.served('A', 'DAY'), ['06T14:30 x39']);
  },
);

sentence('live runs cover a time together, without a hole between them (contract 3.9 (3a))', async (one) => {
  await one.file('07T17:05', '30M', noon('A'));
  await one.file('08T02:00', '30M', every('A', 30, '07T17:30', '07T21:00'));
  assert.deepEqual(await one.served('A', 'DAY'), [], 'of 17:00 to 17:30 there is nothing');
  await one.undo();
  await one.file('08T02:00', '30M', every('A', 30, '07T17:00', '07T21:00'));
  assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x13']);
  await one.undo(0);
  assert.deepEqual(await one.served('A', 'DAY'), [], 'its own window begins at 17:00');
});

sentence('a correction of one symbol says nothing of the others (contract 3.9 (3b))', async (one) => {
  await one.file(
    '07T17:05',
    '30M',
    ['A', 'B', 'C'].flatMap((symbol) => noon(symbol)),
  );
  await one.file('08T02:00', '30M', noon('A', 9));
  assert.deepEqual(await one.served('B', 'DAY'), []);
});

const week = 'AA BB CC'.split(' ').flatMap((symbol) => days(symbol, '05 06 07'));
const vouching: readonly (readonly [words: string, symbols: string, isWeek: boolean])[] = [
  ['two series that both hold', 'BB CC', true],
  ['two of three of the other’s', 'BB CC DD', true],
  ['two of four of the other’s', 'BB CC DD EE', false],
  ['one series', 'BB', false],
  ['one of two of the first, and another', 'BB DD', false],
  ['others', 'DD EE FF', false],
];
for (const [words, symbols, isWeek] of vouching)
  sentence(
    `a market's file says that a stock did not trade by two thirds of each other's series: ${words} (contract 3.9 (3b))`,
    async (one) => {
      await one.file('08T02:00', 'DAY', week);
      await one.file(
        '10T02:00',
        'DAY',
        symbols.split(' ').flatMap((symbol) => days(symbol, '08 09')),
      );
      assert.deepEqual(await one.served('AA', 'WEEK'), isWeek ? ['05T14:30 x3'] : []);
    },
  );

sentence(
  'only series that are listed at both times count as those of the other (contract 3.9 (3b))',
  async (one) => {
    await one.file('08T02:00', 'DAY', week);
    await one.file(
      '10T02:00',
      'DAY',
      'BB CC DD EE'.split(' ').flatMap((symbol) => days(symbol, '08 09')),
    );
    assert.deepEqual(await one.served('AA', 'WEEK'), []);
    await one.terms('DD', { listing: dayOf('2024-02-08') });
    assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x3']);
    await one.undo();
    await one.terms('EE', { listing: dayOf('2024-02-09') });
    await one.terms('DD', { delisting: dayOf('2024-02-05') });
    assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x3']);
  },
);

sentence('a series of both counts only where it is listed at both times (contract 3.9 (3b))', async (one) => {
  await one.file('08T02:00', 'DAY', week);
  await one.file(
    '10T02:00',
    'DAY',
    'BB CC DD'.split(' ').flatMap((symbol) => days(symbol, '08 09')),
  );
  assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x3']);
  await one.terms('BB', { delisting: dayOf('2024-02-08') });
  assert.deepEqual(await one.served('AA', 'WEEK'), []);
});

sentence('a file that was there before says it too (contract 3.9 (3b))', async (one) => {
  await one.file(
    '10T02:00',
    'DAY',
    ['BB', 'CC'].flatMap((symbol) => days(symbol, '08 09')),
  );
  await one.file('10T03:00', 'DAY', week);
  assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x3']);
  await one.undo(0);
  assert.deepEqual(await one.served('AA', 'WEEK'), []);
});

const afternoon = (symbol: string): FileBar[] => every(symbol, 30, '07T17:00', '07T21:00');

sentence(
  'a market’s file of the afternoon says that a stock of the morning did not trade in it (contract 3.9 (3b))',
  async (one) => {
    await one.file('07T17:05', '30M', [...noon('AA'), ...noon('BB'), ...noon('CC')]);
    assert.deepEqual(await one.served('AA', 'DAY'), []);
    await one.file('08T02:00', '30M', [...afternoon('BB'), ...afternoon('CC')]);
    assert.deepEqual(await one.served('AA', 'DAY'), ['07T14:30 x5']);
    // A bar that this file lacks: it says nothing about this series.
    await one.file('07T18:35', '30M', some('AA', '07T18:00'));
    assert.deepEqual(await one.served('AA', 'DAY'), []);
    await one.undo();
    assert.deepEqual(await one.served('AA', 'DAY'), ['07T14:30 x5']);
  },
);

sentence(
  'files of one command count as one that says that a stock did not trade (contract 3.9 (3b))',
  async (one) => {
    const [aa, bb, cc] = [days('AA', '05 06 07'), days('BB', '05 06 07 08 09'), days('CC', '05 06 07 08 09')];
    await one.files('10T02:00', 'DAY', aa, bb, cc);
    assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x3']);
    await one.undo();
    assert.deepEqual(await one.served('AA', 'WEEK'), [], 'one other series is left');
  },
);

sentence(
  'files of several commands are several runs: one series says nothing of others (contract 3.9 (3b))',
  async (one) => {
    await one.file('10T02:00', 'DAY', days('AA', '05 06 07'));
    await one.file('10T02:01', 'DAY', days('BB', '05 06 07 08 09'));
    await one.file('10T02:02', 'DAY', days('CC', '05 06 07 08 09'));
    assert.deepEqual(await one.served('AA', 'WEEK'), []);
  },
);

sentence(
  'a file says nothing of a stock of which bars were deleted after it (contract 3.9 (3b))',
  async (one) => {
    await one.file('08T02:00', 'DAY', week);
    await one.file(
      '10T02:00',
      'DAY',
      ['BB', 'CC'].flatMap((symbol) => days(symbol, '08 09')),
    );
    await one.file('10T03:00', 'DAY', days('AA', '09'));
    assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x4']);
    await one.delete('AA', '09');
    assert.deepEqual(await one.served('AA', 'WEEK'), []);
    await one.file(
      '10T04:00',
      'DAY',
      ['BB', 'CC'].flatMap((symbol) => days(symbol, '09', 2)),
    );
    assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x3'], 'a later one does');
    await one.undo();
    await one.undo();
    assert.deepEqual(await one.served('AA', 'WEEK'), ['05T14:30 x4']);
  },
);

sentence('before its listing date a stock is covered (contract 3.9 (3c))', async (one) => {
  await one.file('10T02:00', 'DAY', days('A', '07 08 09'));
  assert.deepEqual(await one.served('A', 'WEEK'), []);
  await one.terms('A', { listing: dayOf('2024-02-06') });
  assert.deepEqual(await one.served('A', 'WEEK'), []);
  await one.terms('A', { listing: dayOf('2024-02-07') });
  assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x3']);
  await one.undo();
  assert.deepEqual(await one.served('A', 'WEEK'), []);
});

sentence('after its delisting date a stock is covered (contract 3.9 (3c))', async (one) => {
  await one.file('08T02:00', 'DAY', days('A', '05 06 07'));
  await one.terms('A', { delisting: dayOf('2024-02-07') });
  assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x3']);
  await one.terms('A', { delisting: dayOf('2024-02-08') });
  assert.deepEqual(await one.served('A', 'WEEK'), [], 'no file tells of Thursday');
});

sentence(
  'from its last bar to its delisting date a stock is covered by a run that began after that (contract 3.9 (3c))',
  async (one) => {
    await one.file('12T02:00', 'DAY', days('A', '05 06 07'));
    await one.terms('A', { delisting: dayOf('2024-02-09') });
    assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x3']);
  },
);

sentence(
  'a last bar more than 60 sessions before the delisting date tells nothing (contract 3.9 (3c))',
  async (one) => {
    // From Tuesday, 7 November 2023 to Friday, 2 February 2024 there are 60 sessions.
    const monday = [{ symbol: 'A', keyMs: dayOf('2023-11-06') * DAY_MS, price: 1 }];
    await one.file('12T02:00', 'DAY', monday);
    await one.terms('A', { delisting: dayOf('2024-02-02') });
    assert.deepEqual(await one.served('A', 'WEEK'), ['06T14:30 x1']);
    await one.terms('A', { delisting: dayOf('2024-02-05') });
    assert.deepEqual(await one.served('A', 'WEEK'), []);
  },
);

sentence(
  'an inactive stock without a date is covered after its last bar (contract 3.9 (3c))',
  async (one) => {
    await one.file('07T18:05', '30M', every('A', 30, '05T14:30', '05T17:00'));
    assert.deepEqual(await one.served('A', 'WEEK'), []);
    await one.terms('A', { isInactive: true });
    assert.deepEqual(await one.served('A', 'DAY'), ['05T14:30 x5']);
    assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x5']);
    await one.terms('A', { isInactive: true, delisting: dayOf('2024-02-09') });
    assert.deepEqual(
      await one.served('A', 'WEEK'),
      [],
      'the date is known: no file tells of the days before it',
    );
  },
);

// (4) Deletions and undos.

sentence('a deletion leaves a hole until a later file brings it (contract 3.9 (4))', async (one) => {
  await one.file('08T02:00', '30M', [...wednesday('A'), ...wednesday('B')]);
  await one.delete('A', '07T15:30', '07T16:30');
  assert.deepEqual(await one.served('A', 'DAY'), []);
  assert.deepEqual(await one.served('A', '60M'), [
    ...['07T14:30 x2', '07T16:30 x2', '07T17:30 x2', '07T18:30 x2', '07T19:30 x2', '07T20:30 x1'],
  ]);
  assert.deepEqual(await one.served('B', 'DAY'), ['07T14:30 x13'], 'of the named series');
  await one.file('08T03:00', '30M', some('A', '07T15:30'));
  assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x12']);
  await one.undo();
  await one.undo();
  assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x13']);
});

sentence('a file after a deletion brings what it had before (contract 3.9 (4), 11)', async (one) => {
  await one.file('10T02:00', 'DAY', days('A', '05 06 07 08 09'));
  await one.delete('A', '07');
  assert.deepEqual(await one.served('A', 'WEEK'), []);
  await one.file('10T03:00', 'DAY', days('A', '05 06 07 08 09'));
  assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x5']);
});

sentence(
  'an undo of a part leaves the whole day to the file that has it (contract 3.9 (4), 10)',
  async (one) => {
    await one.file('07T17:05', '30M', noon('A'));
    await one.file('08T02:00', '30M', [...noon('A'), ...every('A', 30, '07T17:00', '07T21:00', 30)]);
    await one.undo(0);
    await one.file('09T02:00', '30M', every('A', 30, '08T14:30', '08T21:00', 40));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x13', '08T14:30 x13']);
    await one.undo(0);
    assert.deepEqual(await one.served('A', 'DAY'), ['08T14:30 x13']);
  },
);

sentence(
  'minutes of midday become no day by other symbols’ or years’ files (contract 3.9 (4))',
  async (one) => {
    await one.file('07T17:05', '30M', noon('A'));
    await one.file('08T02:00', '30M', wednesday('B'));
    const old = every('A', 30, '07T14:30', '07T21:00').map((bar) => ({
      ...bar,
      keyMs: bar.keyMs - 364 * DAY_MS,
    }));
    await one.file('08T03:00', '30M', old);
    assert.deepEqual(await one.served('A', 'DAY'), ['08T14:30 x13'], 'that of the year before');
  },
);

sentence('importing more takes no finished day away (contract 3.9 (4))', async (one) => {
  await one.file('08T02:00', '30M', wednesday('A'));
  await one.file('07T17:05', '30M', noon('A'));
  await one.file('08T03:00', '30M', every('A', 30, '08T14:30', '08T16:00'));
  await one.file('08T15:05', '30M', some('A', '08T14:30'));
  await one.file('08T03:00', '30M', wednesday('B'));
  assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x13']);
});

// (5) Bars that were stored before they closed.

sentence(
  'the DAY row of today is not served until a later run of other bytes holds it (contract 3.9 (5))',
  async (one) => {
    await one.file('07T16:45', 'DAY', days('A', '07', 5));
    assert.deepEqual(await one.served('A', 'DAY'), []);
    await one.file('08T02:00', 'DAY', days('A', '07', 5));
    assert.deepEqual(await one.served('A', 'DAY'), [], 'the same bytes');
    await one.file('08T03:00', 'DAY', [...days('A', '06'), ...days('A', '07', 5)]);
    assert.deepEqual(await one.served('A', 'DAY'), ['06T14:30 x1', '07T14:30 x1']);
    await one.undo();
    assert.deepEqual(await one.served('A', 'DAY'), []);
    await one.file('08T04:00', 'DAY', days('A', '07', 6));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x1']);
  },
);

sentence(
  'a later run that itself began before the close leaves the bar as it is (contract 3.9 (5))',
  async (one) => {
    await one.file('07T16:45', 'DAY', days('A', '07', 5));
    await one.file('07T17:45', 'DAY', [...days('A', '07', 5), ...days('B', '06')]);
    assert.deepEqual(await one.served('A', 'DAY'), []);
  },
);

sentence(
  'an hour that has just begun is not served, feeds nothing and makes no part of its day the whole (contract 3.9 (5))',
  async (one) => {
    const hours = every('A', 60, '07T14:30', '07T21:00');
    await one.file('07T16:45', '60M', hours.slice(0, 3));
    assert.deepEqual(await one.served('A', '60M'), ['07T14:30 x1', '07T15:30 x1']);
    await one.file('08T02:00', '60M', hours.slice(3));
    assert.deepEqual(await one.served('A', 'DAY'), [], 'of the third hour there is nothing');
    await one.file('08T03:00', '60M', hours.slice(2, 3));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x7']);
  },
);

sentence(
  'a day that is not finished is taken as not stored: minutes serve it (contract 3.8, 3.9 (5))',
  async (one) => {
    await one.file('07T16:45', 'DAY', days('A', '07', 5));
    await one.file('08T02:00', '30M', wednesday('A'));
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x13']);
    assert.deepEqual(await one.served('A', 'DAY', true), ['07T09:00 x13']);
  },
);

sentence(
  'what a run under a wrong clock holds as it is stays finished; what it changes is not (contract 3.9 (5))',
  async (one) => {
    await one.file('08T02:00', '30M', wednesday('A'));
    await one.file('01T00:00', '30M', [
      ...wednesday('A').slice(0, 12),
      ...every('A', 30, '07T20:30', '07T21:00', 2),
    ]);
    assert.equal((await one.served('A', '30M')).length, 12);
    await one.undo();
    assert.equal((await one.served('A', '30M')).length, 13);
  },
);

// The calendar as it is now.

sentence(
  'an early close that is known later finishes its session, and no more once it is taken back (contract 3.9)',
  async (one) => {
    await one.file('07T23:00', '30M', every('A', 30, '07T14:30', '07T18:00'));
    assert.deepEqual(await one.served('A', 'DAY'), []);
    await one.holiday('2024-02-07', '07T18:00');
    assert.deepEqual(await one.served('A', 'DAY'), ['07T14:30 x7']);
    assert.deepEqual(await one.served('A', 'DAY', true), ['07T09:00 x7']);
    await one.undo();
    assert.deepEqual(await one.served('A', 'DAY'), []);
  },
);

sentence('a week does not wait for a day that the market has closed since (contract 3.9)', async (one) => {
  await one.file('09T02:00', 'DAY', days('A', '05 06 07 08'));
  assert.deepEqual(await one.served('A', 'WEEK'), []);
  await one.holiday('2024-02-09', null);
  assert.deepEqual(await one.served('A', 'WEEK'), ['05T14:30 x4']);
});
