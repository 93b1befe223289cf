// Fingerprints: every bound parameter counts, no other does, and one that is declared later breaks no key
// (contract 4.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { defaulted, optional, unbound } from '../../contract/endpoint.ts';
import { contract, type Endpoint } from '../../contract/index.ts';
import * as kind from '../../contract/kinds.ts';
import { fingerprints } from './page-walk.ts';

const paged = Object.entries<Endpoint>(contract).filter(
  ([, { parameters }]) => 'next_page_key' in parameters,
);

for (const [name, { parameters }] of paged) {
  test(`a fingerprint of ${name} changes with each bound parameter and with no other (contract 4.1)`, () => {
    const write = fingerprints(name, parameters);
    const values = Object.fromEntries(Object.keys(parameters).map((parameter) => [parameter, 1]));
    for (const [parameter, { bindsPage }] of Object.entries(parameters)) {
      const changed = write({ ...values, [parameter]: 2 }, {});
      assert.equal(changed !== write(values, {}), bindsPage, parameter);
    }
  });
}

const text = kind.text('x', { min: 1, max: 100 });
const later = {
  venue: optional(text, 'the venue'),
  demo_flag: defaulted(kind.flag, false, 'whether to try'),
  shown: unbound(defaulted(kind.flag, false, 'whether to show more')),
};

for (const [name, { parameters }] of paged) {
  test(`parameters declared later leave the fingerprints of ${name} as they are until they are used (contract 4.1)`, () => {
    const [before, after] = [fingerprints(name, parameters), fingerprints(name, { ...parameters, ...later })];
    const sent = { sort: 'asc', adjust: 'none', demo_flag: false, venue: undefined };
    assert.equal(after({ ...sent, shown: true }, {}), before(sent, {}));
    assert.notEqual(after({ ...sent, demo_flag: true }, {}), before(sent, {}));
    const { venue, demo_flag, shown } = later;
    const reordered = fingerprints(name, { shown, demo_flag, venue, ...parameters });
    const both = { ...sent, demo_flag: true, venue: 'x' };
    assert.equal(reordered(both, {}), after(both, {}));
  });
}

test('an endpoint without a first form has every bound parameter appended (contract 4.1)', () => {
  const write = fingerprints('futureList', later);
  assert.equal(write({ demo_flag: false }, {}), 'futureList');
  assert.equal(write({}, {}), 'futureList');
  assert.equal(write({ demo_flag: true, venue: 'x' }, {}), 'futureList|[["demo_flag","true"],["venue","x"]]');
});

test('no text of a later parameter passes for another parameter (contract 4.1)', () => {
  const write = fingerprints('futureList', { first: optional(text, 'one'), second: optional(text, 'two') });
  const value = fc.option(fc.string({ unit: fc.constantFrom('|', '"', ',', '[', ']', '\\', 'a') }), {
    nil: undefined,
  });
  const values = fc.record({ first: value, second: value });
  fc.assert(
    fc.property(values, values, (one, other) => {
      const isSame = one.first === other.first && one.second === other.second;
      assert.equal(write(one, {}) === write(other, {}), isSame);
    }),
  );
});
