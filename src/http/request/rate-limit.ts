/**
 * Token buckets in memory, one for each route and client address. Their number is bounded, and so is the length of their keys.
 *
 * Owns: counting. Does not own: which route has which limit, nor the answer. Each process counts for itself.
 */
import type { RateLimit } from "../route.ts";

export interface RateLimiter {
  /** Null when the request may pass, otherwise the seconds to wait. With `cost` 0 it only checks that nothing is owed. */
  take(key: string, limit: RateLimit, cost?: number): number | null;
  /** Charges a cost that is known only afterwards: a caller in debt waits until the tokens are refilled. */
  charge(key: string, limit: RateLimit, cost: number): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

export function createRateLimiter(now: () => number, maxBuckets = 10_000): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const bucketOf = (key: string, { burst, perSecond }: RateLimit): Bucket => {
    const at = now();
    const known = buckets.get(key);
    const bucket = known ?? { tokens: burst, at };
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, at - bucket.at) / 1000) * perSecond);
    bucket.at = at;
    // The map keeps insertion order: the latest caller is last, and the least recent one is dropped first.
    buckets.delete(key);
    if (buckets.size >= maxBuckets) buckets.delete(buckets.keys().next().value ?? "");
    buckets.set(key, bucket);
    return bucket;
  };
  return {
    take(key, limit, cost = 1) {
      const bucket = bucketOf(key, limit);
      if (bucket.tokens < cost) return Math.max(1, Math.ceil((cost - bucket.tokens) / limit.perSecond));
      bucket.tokens -= cost;
      return null;
    },
    charge(key, limit, cost) {
      bucketOf(key, limit).tokens -= cost;
    },
  };
}
