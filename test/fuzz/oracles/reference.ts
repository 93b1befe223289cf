// Instruments (contract 8.1, 9.2).
import assert from 'node:assert/strict';
import * as data from '../data.ts';
import { countryOf, lowerAscii, nameOf } from '../grammar.ts';
import { named, type Oracle } from './common.ts';

/** `GET /…/reference/…` */
export const instrumentReference: Oracle = (texts) => {
  const name = nameOf(texts).toUpperCase();
  const [type, country_iso_code, symbol] = name.split(':') as [string, string, string];
  const row = data.instruments.find(
    (one) => `${one.asset_schema}:${one.country_iso_code}:${one.symbol}`.toUpperCase() === name,
  );
  const fields = { ...row, asset_schema: lowerAscii(type), country_iso_code, symbol };
  return named(texts, { list: [{ fields, place: '' }] });
};

/** `GET /…/reference/search` */
export const instrumentSearch: Oracle = (texts) => ({
  faults: [],
  check({ groups: [records] }) {
    const type = lowerAscii(texts.schema_asset!);
    const country = texts.country_iso_code === undefined ? null : countryOf(texts.country_iso_code);
    for (const record of records!) {
      assert.equal(record.asset_schema, type);
      if (country !== null) assert.equal(record.country_iso_code, country);
    }
    const query = texts.query!.toUpperCase();
    if (!/^[A-Z0-9]+$/.test(query)) return;
    const beginsSo = (symbol: unknown): boolean => String(symbol).startsWith(query);
    const wanted = data.names.filter((name) => {
      const [other, where, ...symbol] = name.split(':');
      return other === type && (country === null || where === country) && beginsSo(symbol.join(':'));
    });
    const limit = Number(texts.limit ?? 20);
    const count = records!.filter(({ symbol }) => beginsSo(symbol)).length;
    assert.equal(count, Math.min(limit, wanted.length), 'every symbol that begins so');
    assert.ok(
      records!.slice(0, count).every(({ symbol }) => beginsSo(symbol)),
      'symbols stand before names',
    );
    for (const { name } of records!.slice(count))
      assert.ok(String(name).toUpperCase().includes(query), `${String(name)}`);
  },
});
