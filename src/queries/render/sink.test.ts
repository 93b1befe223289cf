// Texts as bytes in a growing buffer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { allocateFresh } from '../query.ts';
import { Constant, Sink } from './sink.ts';

const sink = new Sink();

test('text of any length and language is kept, and what was taken stays as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 20 }), (texts) => {
      const taken: Uint8Array[] = [];
      for (const text of texts) {
        sink.start();
        sink.text(text);
        assert.equal(sink.at, Buffer.byteLength(text));
        taken.push(sink.take(allocateFresh));
      }
      assert.deepEqual(
        taken.map((bytes) => Buffer.from(bytes).toString()),
        texts,
      );
    }),
  );
});

test('a sink grows past its first size', () => {
  const small = new Sink();
  small.start();
  const text = 'ä'.repeat(300_000);
  small.text(text);
  small.reserve(400);
  const half = new Constant('half a');
  small.at = half.write(small.view, small.at);
  assert.equal(Buffer.from(small.take(allocateFresh)).toString(), `${text}half a`);
});
