// A single result in the envelope: a record or a map (contract 6.1).
import type { Allocate, Answer } from '../query.ts';
import { ENVELOPE_TAIL, envelopeHead, JSON_TYPE } from './envelope.ts';

/** An answer whose `result` is one value; `cached` where it came from a cache (spec 2.1). */
export function renderResult(result: unknown, allocate: Allocate, reference: 'cached' | null = null): Answer {
  const text = Buffer.from(`${envelopeHead(reference)}${JSON.stringify(result)}${ENVELOPE_TAIL}`);
  const body = allocate(text.length);
  body.set(text);
  return { kind: 'answer', contentType: JSON_TYPE, headers: {}, body, next: null };
}
