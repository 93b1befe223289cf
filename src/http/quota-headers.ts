// Tells a caller the state of its key's quota (contract 7.5), by the RateLimit headers of the IETF draft, in its form with three fields.
import { Refusal } from '../contract/errors.ts';
import type { Quota, Taken } from '../keys/quotas.ts';
import type { HttpResponse } from './message.ts';

/** The refusal of a request whose key has used up a quota. */
export function overQuota({ span, limit, resetSeconds }: Quota): Refusal {
  const requests = limit === 1 ? '1 request' : `${limit} requests`;
  return new Refusal('rate_limited', {
    message: `The key has used up its quota of ${requests} a ${span}: try again in ${resetSeconds} s.`,
  });
}

/** Adds the state of the key's quota. A request that the service itself failed to answer does not count. */
export function withQuota(response: HttpResponse, taken: Taken | null): HttpResponse {
  if (taken === null) return response;
  const quota = response.status >= 500 ? taken.giveBack() : taken.quota;
  return {
    ...response,
    headers: {
      ...response.headers,
      'RateLimit-Limit': String(quota.limit),
      'RateLimit-Remaining': String(quota.remaining),
      'RateLimit-Reset': String(quota.resetSeconds),
      ...(taken.isAdmitted ? {} : { 'Retry-After': String(quota.resetSeconds) }),
    },
  };
}
