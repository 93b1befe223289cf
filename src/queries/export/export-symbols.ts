// The flag by which an import finds the instruments of exported rows again: each row has the present symbol
// of its own (contract 9.6).
import { assetSchemas } from '../../contract/identifiers.ts';
import { instrumentTerms } from '../../store/schema/reference.ts';
import type { Reader } from '../../store/store.ts';

/**
 * `--symbols now` if an instrument of the store had another symbol before: by the day of a row it may be
 * another's.
 */
export async function symbolFlags(reader: Reader): Promise<readonly string[]> {
  for (const asset_schema of assetSchemas) {
    const where = { asset_schema, kind: 'former' };
    const order = [['term', 'asc'] as const];
    if ((await reader.rows(instrumentTerms, { where, order, limit: 1 })).length > 0)
      return ['--symbols', 'now'];
  }
  return [];
}
