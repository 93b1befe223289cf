// Observations -> log lines: JSON for machines, plain lines on a terminal. No URL and no key is ever among
// them.
import { isatty } from 'node:tty';
import { destination, type Logger, pino } from 'pino';
import type { EndReason, Observation, Observe } from '../../base/observe.ts';
import { cliLimits } from '../shared/limits.ts';
import { STDERR } from '../shared/output.ts';

/** Makes plain lines; loaded only where there is a terminal. */
const pretty = isatty(STDERR) ? (await import('pino-pretty')).default : null;

/** `onDrop` is called for each line that is dropped because those before it are not read. */
function openLogger(level: string, onDrop: () => void): Logger {
  if (pretty === null) {
    const held = destination({
      ...{ dest: STDERR, sync: false },
      ...{ minLength: cliLimits.logBufferBytes, maxLength: cliLimits.logHeldBytesMax },
    });
    held.on('drop', onDrop);
    return pino(
      {
        ...{ level, base: null },
        hooks: {
          // Lines of requests are many, and wait for others; every other one is written at once.
          logMethod(words, log) {
            log.apply(this, words);
            if (words[1] !== 'request') held.flush();
          },
        },
      },
      held,
    );
  }
  const stream = pretty({
    destination: STDERR,
    sync: true,
    ignore: 'pid,hostname',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
  });
  return pino({ level, base: null }, stream);
}

/**
 * Logs ended connections: the first at once, then one line in a while with how many there were of each reason
 * since the one before.
 */
class EndsLog {
  readonly #logger: Logger;
  #counts: { [reason in EndReason]?: number } = {};
  /** Runs during the pause after a line. */
  #pause: NodeJS.Timeout | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(reason: EndReason): void {
    this.#counts[reason] = (this.#counts[reason] ?? 0) + 1;
    if (this.#pause === null) this.flush();
  }

  /** Logs what is not logged yet; nothing where there is nothing. */
  flush(): void {
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = null;
    if (Object.keys(this.#counts).length === 0) return;
    this.#logger.warn(this.#counts, 'connections ended');
    this.#counts = {};
    this.#pause = setTimeout(() => this.flush(), cliLimits.endsLogPauseMs).unref();
  }
}

/**
 * Logs that the store cannot be reached: at most a line a second, with the requests that met it since the
 * line before.
 */
class AwayLog {
  readonly #logger: Logger;
  #requests = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(cause: string): void {
    this.#requests++;
    const nowMs = performance.now();
    if (nowMs - this.#loggedMs < cliLimits.awayLogPauseMs) return;
    this.#logger.error({ requests: this.#requests, cause }, 'unavailable');
    this.#requests = 0;
    this.#loggedMs = nowMs;
  }
}

const WARNINGS: ReadonlySet<string> = new Set(['exposed', 'store made', 'store replaced', 'environment']);

function withoutAddress(observation: Observation): Observation {
  if (observation.kind !== 'request') return observation;
  const { address: _, ...rest } = observation;
  return rest;
}

function tell(logger: Logger, observation: Observation): void {
  const { kind, ...facts } = observation;
  if (observation.kind === 'fault') logger.error(facts, kind);
  else if (WARNINGS.has(kind)) logger.warn(facts, kind);
  else if (observation.kind === 'certificate')
    logger[observation.problem === null ? 'info' : 'warn'](facts, kind);
  else if (observation.kind !== 'request') logger.info(facts, kind);
  else {
    const durationMs = Math.round(observation.durationMs * 100) / 100;
    logger[(observation.status ?? 0) >= 500 ? 'warn' : 'info']({ ...facts, durationMs }, kind);
  }
}

/** The log of a process. */
type Log = {
  readonly observe: Observe;
  /** Lines that nobody read in time, and that were dropped. */
  readonly dropped: number;
  /** Writes out what is still held. */
  flush(): void;
};

/** Opens the log of this process; `addresses`: `off` leaves out those of callers. */
export function openLog(level: string, addresses = 'on'): Log {
  let dropped = 0;
  /** Of these, the ones that a line has told. */
  let told = 0;
  const logger = openLogger(level, () => dropped++);
  const ends = new EndsLog(logger);
  const away = new AwayLog(logger);
  const tellDropped = (): void => {
    if (dropped === told) return;
    const [before, lines] = [dropped, dropped - told];
    logger.warn({ lines }, 'log lines dropped');
    // This line too finds no room while nobody reads: it is none of those that are lost.
    if (dropped === before) told = dropped;
    else dropped = before;
  };
  const timer = setInterval(() => {
    tellDropped();
    logger.flush();
  }, cliLimits.logFlushMs);
  timer.unref();
  return {
    observe: (observation) => {
      if (observation.kind === 'connection') ends.add(observation.reason);
      else if (observation.kind === 'unavailable') away.add(observation.cause);
      else tell(logger, addresses === 'off' ? withoutAddress(observation) : observation);
    },
    get dropped() {
      return dropped;
    },
    flush: () => {
      clearInterval(timer);
      ends.flush();
      tellDropped();
      logger.flush();
    },
  };
}
