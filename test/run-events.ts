// The reporter of the runner: what a test file tells, a line of JSON for each test that ended.

import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** How a test ended. `error` is null where it passed, `skipped` the reason where it did not run. */
export type Ended = {
  readonly name: string;
  readonly error: string | null;
  readonly skipped: string | null;
};

/** Its error, unless that only says that a test inside it failed. */
function errorOf({ details }: Extract<TestEvent, { type: 'test:fail' }>['data']): string | null {
  const error = details.error as Error & { readonly failureType?: string };
  return error.failureType === 'subtestsFailed' ? null : inspect(error.cause ?? error);
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const line = (ended: Ended): string => `${JSON.stringify(ended)}\n`;
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.details.type !== 'suite') {
      const { name, skip } = data;
      yield line({ name, error: null, skipped: skip === undefined || skip === false ? null : String(skip) });
    } else if (type === 'test:fail') {
      const error = errorOf(data);
      if (error !== null) yield line({ name: data.name, error, skipped: null });
    } else if (type === 'test:diagnostic' && data.message.includes('asynchronous activity after the test')) {
      yield line({ name: 'an error that no test awaits', error: data.message, skipped: null });
    }
  }
}
