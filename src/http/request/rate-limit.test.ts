import { describe, expect, it } from "vitest";
import { createRateLimiter } from "./rate-limit.ts";

const limit = { burst: 2, perSecond: 0.5 } as const;

describe("a rate limit", () => {
  it("lets a burst through, then says how long to wait, then one at a time", () => {
    let now = 0;
    const limiter = createRateLimiter(() => now);
    expect([limiter.take("a", limit), limiter.take("a", limit)]).toEqual([null, null]);
    expect(limiter.take("a", limit)).toBe(2);
    now = 1_999;
    expect(limiter.take("a", limit)).toBe(1);
    now = 2_000;
    expect(limiter.take("a", limit)).toBeNull();
    expect(limiter.take("a", limit)).toBe(2);
    expect(limiter.take("b", limit)).toBeNull();
  });

  it("never saves more than the burst, and a clock that goes back gives nothing", () => {
    let now = 1_000_000;
    const limiter = createRateLimiter(() => now);
    limiter.take("a", limit);
    now = 9_000_000;
    expect([1, 2, 3].map(() => limiter.take("a", limit))).toEqual([null, null, 2]);
    now = 0;
    expect(limiter.take("a", limit)).toBe(2);
  });

  it("remembers a limited number of callers and forgets the least recent one", () => {
    const limiter = createRateLimiter(() => 0, 2);
    limiter.take("a", limit);
    limiter.take("a", limit);
    limiter.take("b", limit);
    limiter.take("a", limit);
    limiter.take("c", limit);
    expect(limiter.take("a", limit)).toBe(2);
    limiter.take("d", limit);
    limiter.take("e", limit);
    expect(limiter.take("a", limit)).toBeNull();
  });
});
