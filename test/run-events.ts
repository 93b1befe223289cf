// The reporter of the runner: what a test file tells, a line of JSON for each test that ended.

import { join, relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

const root = join(import.meta.dirname, '..');

/** How a test ended. `error` is null where it passed, `skipped` the reason where it did not run. */
export type Ended = {
  /** The file that makes it, from the root of the repository; empty where it cannot be told. */
  readonly file: string;
  readonly name: string;
  readonly error: string | null;
  readonly skipped: string | null;
};

/** A diagnostic of a test, such as its seed or a figure. */
export type Note = { readonly note: string };

/** Totals of a file, which the runner counts itself. */
const TOTALS = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** Its error, unless that only says that a test inside it failed. */
function errorOf({ details }: Extract<TestEvent, { type: 'test:fail' }>['data']): string | null {
  const error = details.error as Error & { readonly failureType?: string };
  return error.failureType === 'subtestsFailed' ? null : inspect(error.cause ?? error);
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const line = (ended: Ended | Note): string => `${JSON.stringify(ended)}\n`;
  for await (const { type, data } of events) {
    const file =
      data !== undefined && 'file' in data && data.file !== undefined ? relative(root, data.file) : '';
    if (type === 'test:pass') {
      const { name, skip, details } = data;
      const skipped = skip === undefined || skip === false ? null : String(skip);
      // A suite is no test; where it is skipped, none of its tests ends.
      if (details.type !== 'suite' || skipped !== null) yield line({ file, name, error: null, skipped });
    } else if (type === 'test:fail') {
      const error = errorOf(data);
      if (error !== null) yield line({ file, name: data.name, error, skipped: null });
    } else if (type === 'test:diagnostic' && data.message.includes('asynchronous activity after the test')) {
      yield line({ file, name: 'an error that no test awaits', error: data.message, skipped: null });
    } else if (type === 'test:diagnostic' && !TOTALS.test(data.message)) {
      yield line({ note: data.message });
    }
  }
}
