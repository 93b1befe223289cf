// A crowd of callers that are slow, silent or greedy: what it costs the server and its ordinary callers.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage, Agent as PlainAgent } from 'node:http';
import { Agent, get as getSecurely } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { issue } from '../certificates.ts';
import { readExposition } from '../exposition.ts';
import { type Server, Workshop } from '../service.ts';
import type { CrowdOutcome, CrowdPlan } from './crowd-callers.ts';
import { fill, largePage } from './load.ts';
import { aimed, type Figure } from './minutes.ts';

/** The size of a crowd. */
export type CrowdCheck = { readonly callers: number; readonly seconds: number };

/** What a crowd came to. */
export type CrowdFigures = {
  readonly crowd: CrowdOutcome;
  /** The most memory that the server has had resident. */
  readonly residentPeakMegabytes: number;
  /** The most bytes of unsent answers that the server counted. */
  readonly unsentPeakBytes: number;
  readonly connectionsPeak: number;
  /** Connections that it ended, by the reason. */
  readonly ended: Readonly<Record<string, number>>;
  /** Milliseconds of 99 of 100 ordinary requests, alone and meanwhile; and the status of those meanwhile. */
  readonly aloneMs: number;
  readonly meanwhileMs: number;
  readonly statuses: Readonly<Record<string, number>>;
};

const KEYS = 3;
const ORDINARY = 4;
const ORDINARY_PAUSE_MS = 10;
const NEWS = 1_001;
const NEWS_CHARACTERS = 8_000;

/** The targets: memory, and how much longer ordinary requests may take than without a crowd. */
export const crowdTargets = { megabytes: 1_024, times: 10 } as const;

/** What the callers of a crowd ask for. */
export type CrowdTargets = Pick<CrowdPlan, 'largest' | 'large'> & { readonly ordinary: readonly string[] };

/** Fills a store with bars and with news whose largest page has 8 MB. */
export async function fillForCrowd(shop: Workshop): Promise<CrowdTargets> {
  const targets = await fill(shop, 1);
  const startMs = Date.parse('2025-01-01T00:00:00Z');
  const news = Array.from({ length: NEWS }, (_, index) => ({
    published_date: new Date(startMs + index * 60_000).toISOString(),
    title: `Item ${index}`,
    publisher_url: `https://news.example.com/${index}`,
    text_content: `${index} `.repeat(NEWS_CHARACTERS).slice(0, NEWS_CHARACTERS - 100),
  }));
  writeFileSync(shop.path('news.ndjson'), news.map((item) => `${JSON.stringify(item)}\n`).join(''));
  await shop.must('import', 'news', shop.path('news.ndjson'));
  const names = Array.from({ length: KEYS }, (_, index) => `crowd-${index}`);
  const keys: string[] = [];
  for (const name of names) keys.push(await shop.must('keys', 'create', name));
  const withKey = (target: string, key: string): string =>
    `${target.split('secret_key=')[0]}secret_key=${key}`;
  const page = `/api/v2/news/list?from_date=2025-01-01&to_date=2026-01-01&limit=${NEWS}&`;
  return {
    ordinary: targets.fast,
    largest: keys.map((key) => withKey(page, key)),
    large: keys.map((key) => withKey(largePage(targets), key)),
  };
}

/** Asks in turn, a few callers at a time, until told to stop; milliseconds and statuses. */
async function askOrdinarily(url: string, targets: readonly string[], work: { done: boolean }) {
  const times: number[] = [];
  const statuses: Record<string, number> = {};
  const isSecure = url.startsWith('https:');
  const options = { keepAlive: true, maxSockets: ORDINARY, rejectUnauthorized: false };
  const agent = isSecure ? new Agent(options) : new PlainAgent(options);
  const ask = (target: string): Promise<string> =>
    new Promise((resolve) => {
      const receive = (response: IncomingMessage): void => {
        response.resume();
        response.once('end', () => resolve(String(response.statusCode)));
        response.once('error', () => resolve('broken'));
      };
      const asked = isSecure
        ? getSecurely(url + target, { agent }, receive)
        : get(url + target, { agent }, receive);
      asked.once('error', () => resolve('broken'));
    });
  let next = 0;
  const call = async (): Promise<void> => {
    while (!work.done) {
      const startedMs = performance.now();
      const status = await ask(targets[next++ % targets.length]!);
      times.push(performance.now() - startedMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
      await sleep(ORDINARY_PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: ORDINARY }, call));
  agent.destroy();
  times.sort((a, b) => a - b);
  return { p99: times[Math.ceil(times.length * 0.99) - 1] ?? 0, statuses };
}

/** The metrics of a server while a crowd is there: peaks of two gauges, and the connections that it ended. */
async function watchMetrics(url: string, work: { done: boolean }) {
  const seen = { unsentPeakBytes: 0, connectionsPeak: 0, ended: {} as Record<string, number> };
  for (let isLast = false; !isLast; ) {
    isLast = work.done;
    const metrics = readExposition(await (await fetch(url)).text());
    const gauge = (name: string): number => metrics.get(name)?.samples[0]?.value ?? 0;
    seen.unsentPeakBytes = Math.max(seen.unsentPeakBytes, gauge('bourse_unsent_bytes'));
    seen.connectionsPeak = Math.max(seen.connectionsPeak, gauge('bourse_connections'));
    for (const { labels, value } of metrics.get('bourse_connections_ended_total')?.samples ?? [])
      seen.ended[labels.reason!] = value;
    await sleep(250);
  }
  return seen;
}

async function crowdOf(plan: CrowdPlan): Promise<CrowdOutcome> {
  const child = spawn(process.execPath, [new URL('./crowd-callers.ts', import.meta.url).pathname], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(plan));
  return JSON.parse(await text(child.stdout)) as CrowdOutcome;
}

const residentPeakOf = ({ pid }: Server): number =>
  Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

/** Lets a crowd at a server of its own. */
export async function crowd(
  shop: Workshop,
  { ordinary, ...targets }: CrowdTargets,
  { callers, seconds }: CrowdCheck,
  isSecure: boolean,
): Promise<CrowdFigures> {
  const files = isSecure ? issue(shop.folder, 'crowd') : null;
  const tls = files === null ? [] : ['--tls-cert', files.cert, '--tls-key', files.key];
  const server = await shop.serve('--metrics-port', '0', ...tls);
  const metricsUrl = await server.metricsUrl();
  const alone = { done: false };
  const before = askOrdinarily(server.url, ordinary, alone);
  await sleep(Math.min(seconds, 5) * 1_000);
  alone.done = true;
  const { p99: aloneMs } = await before;
  const work = { done: false };
  const [together, metrics, outcome] = await Promise.all([
    askOrdinarily(server.url, ordinary, work),
    watchMetrics(metricsUrl, work),
    crowdOf({ url: server.url, callers, seconds, ...targets }).finally(() => {
      work.done = true;
    }),
  ]);
  const residentPeakMegabytes = residentPeakOf(server);
  await server.stop();
  return {
    crowd: outcome,
    residentPeakMegabytes,
    ...metrics,
    aloneMs,
    meanwhileMs: together.p99,
    statuses: together.statuses,
  };
}

/** A crowd on HTTP, then one on HTTPS. */
export async function checkCrowd(check: CrowdCheck): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    const targets = await fillForCrowd(shop);
    const figures: Figure[] = [];
    for (const isSecure of [false, true]) {
      const found = await crowd(shop, targets, check, isSecure);
      const name = isSecure ? 'HTTPS' : 'HTTP';
      figures.push(
        aimed(
          `${name}: most memory`,
          `${found.residentPeakMegabytes} MB`,
          found.residentPeakMegabytes < crowdTargets.megabytes,
          `less than ${crowdTargets.megabytes} MB`,
        ),
        [`${name}: most unsent bytes, connections`, `${found.unsentPeakBytes}, ${found.connectionsPeak}`],
        [`${name}: connections ended`, JSON.stringify(found.ended)],
        aimed(
          `${name}: 99 of 100 ordinary requests`,
          `${found.aloneMs.toFixed(1)} ms alone, ${found.meanwhileMs.toFixed(1)} ms meanwhile`,
          found.meanwhileMs <= crowdTargets.times * found.aloneMs,
          `at most ${crowdTargets.times} times as long as alone`,
        ),
        [`${name}: their statuses`, JSON.stringify(found.statuses)],
        [`${name}: the crowd`, JSON.stringify(found.crowd)],
      );
    }
    return figures;
  } finally {
    shop.close();
  }
}
