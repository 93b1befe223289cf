// The other process of a test of an engine: it opens a store for writing, runs on it what it is sent, and
// reports the problem or null.

import { openStore } from '../src/store/engines.ts';
import { counters } from '../src/store/schema/internal.ts';

type Work = (store: unknown, datasets: { readonly counters: unknown }) => Promise<void>;

const AsyncFunction = (async () => undefined).constructor as new (...words: string[]) => Work;

async function work({ url, body }: { readonly url: string; readonly body: string }): Promise<void> {
  try {
    const store = await openStore(url, 'write');
    await new AsyncFunction('store', '{ counters }', body)(store, { counters });
    await store.close();
    process.send!(null);
  } catch (error) {
    process.send!(String(error));
  }
}

process.on('message', (asked: Parameters<typeof work>[0]) => void work(asked));
