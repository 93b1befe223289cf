// Observations -> log lines: JSON for machines, plain lines on a terminal. No URL and no key is ever among them.
import { isatty } from 'node:tty';
import { destination, type Logger, pino } from 'pino';
import type { EndReason, Observation, Observe } from '../base/observe.ts';
import { cliLimits } from './limits.ts';
import { STDERR } from './output.ts';

/** Makes plain lines; loaded only where there is a terminal. */
const pretty = isatty(STDERR) ? (await import('pino-pretty')).default : null;

function openLogger(level: string): Logger {
  if (pretty === null)
    return pino(
      { level, base: null },
      destination({ dest: STDERR, sync: false, minLength: cliLimits.logBufferBytes }),
    );
  const stream = pretty({
    destination: STDERR,
    sync: true,
    ignore: 'pid,hostname',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
  });
  return pino({ level, base: null }, stream);
}

/** Logs ended connections: one line in a while, with how many there were of each reason since the one before. */
function endsLogger(logger: Logger): (reason: EndReason) => void {
  let counts: { [reason in EndReason]?: number } = {};
  let loggedMs = Number.NEGATIVE_INFINITY;
  return (reason) => {
    counts[reason] = (counts[reason] ?? 0) + 1;
    if (performance.now() - loggedMs < cliLimits.endsLogPauseMs) return;
    logger.warn(counts, 'connections ended');
    counts = {};
    loggedMs = performance.now();
  };
}

function tell(logger: Logger, observation: Observation): void {
  const { kind, ...facts } = observation;
  if (observation.kind === 'fault') logger.error(facts, kind);
  else if (observation.kind === 'exposed') logger.warn(facts, kind);
  else if (observation.kind === 'certificate')
    logger[observation.problem === null ? 'info' : 'warn'](facts, kind);
  else if (observation.kind !== 'request') logger.info(facts, kind);
  else {
    const durationMs = Math.round(observation.durationMs * 100) / 100;
    logger[(observation.status ?? 0) >= 500 ? 'warn' : 'info']({ ...facts, durationMs }, kind);
  }
}

/** The log of a process. `flush` writes out what is still held. */
export function openLog(level: string): { observe: Observe; flush: () => void } {
  const logger = openLogger(level);
  const logEnd = endsLogger(logger);
  const timer = setInterval(() => logger.flush(), cliLimits.logFlushMs);
  timer.unref();
  return {
    observe: (observation) =>
      observation.kind === 'connection' ? logEnd(observation.reason) : tell(logger, observation),
    flush: () => {
      clearInterval(timer);
      logger.flush();
    },
  };
}
