// Endpoint name -> query, and the one function that runs a request in the query thread.
import { parseParameters } from '../contract/endpoint.ts';
import { Refusal } from '../contract/errors.ts';
import { type AllEndpoints, allEndpoints, type Endpoint } from '../contract/index.ts';
import type { Keep } from '../series/calendars.ts';
import { TrackedReader } from '../store/known-changes.ts';
import { KnownReader } from '../store/past/known-reader.ts';
import { series } from '../store/schema/bars.ts';
import { always } from '../store/schema/dataset.ts';
import { instruments } from '../store/schema/reference.ts';
import type { RowLists, Store } from '../store/store.ts';
import { tellingAdjusted } from './adjusted.ts';
import { barQueries } from './bars.ts';
import { answerBulkBars } from './bulk-bars.ts';
import { answerCorporateActions } from './corporate-actions.ts';
import { answerSeriesCoverage } from './coverage.ts';
import { economicQueries } from './economic.ts';
import { answerFindings } from './findings.ts';
import { holidayQueries } from './holidays.ts';
import { NamedOtherwise } from './known-instrument.ts';
import { Lookup } from './lookup.ts';
import { momentOf, PastVersions, refusedVersion, tellingMoment } from './moment.ts';
import { newsQueries } from './news.ts';
import { optionQueries } from './options.ts';
import { PageKeys } from './pages/page-key.ts';
import {
  type Allocate,
  type Answer,
  allocateFresh,
  barsCounted,
  type LaneBounds,
  noActions,
  type Query,
  type QueryContext,
  type QueryRequest,
} from './query.ts';
import { referenceQueries } from './reference.ts';
import { answerOperateStatus, serverQueries } from './service-state.ts';
import { answerSessionCoverage } from './session-coverage.ts';

const queries: { readonly [N in keyof AllEndpoints]: Query<AllEndpoints[N]> } = {
  ...economicQueries,
  ...referenceQueries,
  ...optionQueries,
  ...barQueries,
  ...newsQueries,
  ...serverQueries,
  ...holidayQueries,
  bulkBars: answerBulkBars,
  corporateActions: answerCorporateActions,
  operateStatus: answerOperateStatus,
  seriesCoverage: answerSeriesCoverage,
  sessionCoverage: answerSessionCoverage,
  findings: answerFindings,
};

const anyRequest: LaneBounds = {
  baseBarsMax: Number.POSITIVE_INFINITY,
  charactersMax: Number.POSITIVE_INFINITY,
};

/**
 * A request as of a moment, which tells whether what is in no store was read of it: the clock, or what the
 * service is called. An answer without either is good until a commit.
 */
function watchedRequest(request: QueryRequest, nowMs: number) {
  let isRead = false;
  const watched: QueryRequest = {
    ...request,
    get nowMs() {
      isRead = true;
      return nowMs;
    },
    get service() {
      isRead = true;
      return request.service;
    },
  };
  return { watched, hasRead: () => isRead };
}

/** The lists that a request sees. */
function knownLists(context: Omit<QueryContext, 'known'>): RowLists {
  const { reader, lookup, moment } = context;
  if (moment === always) return reader;
  const keep: Keep = (name, make) => lookup.ofName(reader, name, make);
  return new KnownReader(reader, moment, { keep, onPassed: barsCounted(context) });
}

/**
 * Answers requests from one store; they may overlap where the store runs several snapshots at the same time.
 */
export class QueryRunner {
  readonly #store: Store;
  readonly #pageKeys: PageKeys;
  readonly #lookup = new Lookup();
  readonly #versions = new PastVersions();
  readonly #lane: LaneBounds;

  constructor(store: Store, pageKeySecret: Uint8Array, lane = anyRequest) {
    this.#store = store;
    this.#pageKeys = new PageKeys(pageKeySecret);
    this.#lane = lane;
  }

  /**
   * Makes two charts of the first stored series, so that nobody waits while their code is loaded and
   * compiled: without it the first chart of a thread takes four times as much processor time. Rejects like a
   * request for these charts.
   */
  async warmUp(nowMs: number): Promise<void> {
    const first = { order: [['instrument_id', 'asc']], limit: 1 } as const;
    const stored = await this.#store.snapshot(async (reader) => {
      const [one] = await reader.rows(series, first);
      if (one === undefined) return undefined;
      return (await reader.rows(instruments, { ...first, where: { instrument_id: one.instrument_id } }))[0];
    });
    if (stored === undefined) return;
    const { asset_schema, country_iso_code, symbol } = stored;
    const named = { schema_asset: asset_schema, country_symbol: `${country_iso_code}:${symbol}` };
    for (const interval of ['60M', 'DAY']) {
      const asked = { ...named, interval, limit: '100' };
      const parameters = parseParameters(allEndpoints.latestBars, new Map(Object.entries(asked)));
      await this.run({ endpoint: 'latestBars', parameters, nowMs, wrapCsv: false });
    }
  }

  /** The answer, or a refusal. Anything else that is thrown is a fault. @throws TooDear */
  async run(request: QueryRequest, allocate: Allocate = allocateFresh): Promise<Answer> {
    // The parameters were parsed by this endpoint's own declaration.
    const name = request.endpoint as keyof AllEndpoints;
    const query = queries[name] as (parameters: unknown, context: QueryContext) => Promise<Answer>;
    const endpoint: Endpoint = allEndpoints[name];
    const asked = PastVersions.askedBy(request);
    const tools = {
      lookup: asked === null ? this.#lookup : this.#versions.lookup(asked),
      pageKeys: this.#pageKeys,
      allocate,
      lane: this.#lane,
    };
    try {
      const moment = momentOf(request);
      const { nowMs: clockMs } = request;
      const { watched, hasRead } = watchedRequest(request, moment === always ? clockMs : moment.ms);
      return await this.#store.snapshot(async (state) => {
        const read = asked === null ? state : await this.#versions.reader(state, request, asked, this.#lane);
        const reader = new TrackedReader(read);
        const adjusted = noActions();
        const facts = {
          endpoint,
          request: watched,
          moment,
          clockMs,
          undated: new Set<string>(),
          adjusted,
          reader,
          ...tools,
        };
        const context = { ...facts, known: knownLists(facts) };
        const given = await query(request.parameters, context).catch((error: unknown) => {
          if (!(error instanceof NamedOtherwise)) throw error;
          return query(error.renamed(request.parameters), context);
        });
        if (given.kind === 'refusal') return given;
        const answer = tellingAdjusted(given, adjusted);
        const told = tellingMoment(answer, context);
        const version = await reader.version();
        if (version === null) return told;
        const versioned = { ...told, dataVersion: version };
        // A backtest asks for each moment once; and only the present data have changes.
        const goodUntilMs = answer.goodUntilMs ?? (hasRead() ? undefined : Number.POSITIVE_INFINITY);
        if (goodUntilMs === undefined || moment !== always || asked !== null) return versioned;
        return { ...versioned, goodUntilMs, source: { id: reader.id, version, parts: reader.noted } };
      });
    } catch (thrown) {
      const error = refusedVersion(thrown, asked, this.#lane);
      if (error instanceof Refusal) return { kind: 'refusal', word: error.word, facts: error.facts };
      throw error;
    }
  }
}
