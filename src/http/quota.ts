// What a caller is told of its key's quota (contract 7.5): the draft of RateLimit headers in its form with three fields.
import { Refusal } from '../contract/errors.ts';
import type { Quota, Taken } from '../keys/quotas.ts';
import type { DoorReply } from './reply.ts';

/** The refusal of a request whose key has used up a quota. */
export function overQuota({ span, limit, resetSeconds }: Quota): Refusal {
  const requests = limit === 1 ? '1 request' : `${limit} requests`;
  return new Refusal('rate_limited', {
    message: `The key has used up its quota of ${requests} a ${span}: try again in ${resetSeconds} s.`,
  });
}

/** A reply with how the key's quota stands; a request that the service itself failed to answer does not count. */
export function withQuota(reply: DoorReply, taken: Taken | null): DoorReply {
  if (taken === null) return reply;
  const quota = reply.status >= 500 ? taken.giveBack() : taken.quota;
  return {
    ...reply,
    headers: {
      ...reply.headers,
      'RateLimit-Limit': String(quota.limit),
      'RateLimit-Remaining': String(quota.remaining),
      'RateLimit-Reset': String(quota.resetSeconds),
      ...(taken.isAdmitted ? {} : { 'Retry-After': String(quota.resetSeconds) }),
    },
  };
}
