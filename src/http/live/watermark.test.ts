/** Events must not be missed whose transaction commits after newer ones. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Watermark } from "./watermark.ts";

const second = 1_000_000;

it("stays before a time while a transaction from then is open, and moves on when it has ended", () => {
  const mark = new Watermark();
  const start = 1_000 * second;
  expect(mark.advance({ at: start, xmin: 10n, next: 10n })).toBe(start - second);
  const held = mark.advance({ at: start + 5 * second, xmin: 10n, next: 12n });
  expect(held).toBe(start - second);
  expect(mark.advance({ at: start + 9 * second, xmin: 10n, next: 15n })).toBe(held);
  expect(mark.advance({ at: start + 10 * second, xmin: 12n, next: 15n })).toBe(start + 4 * second);
});

it("waits for no transaction longer than a minute", () => {
  const mark = new Watermark();
  mark.advance({ at: 1_000 * second, xmin: 10n, next: 11n });
  expect(mark.advance({ at: 2_000 * second, xmin: 10n, next: 99n })).toBe(2_000 * second - 61 * second);
});

/** Transactions that begin, write an event and commit, and polls, in any order. */
const step = fc.oneof(fc.constant("begin" as const), fc.constant("commit" as const), fc.constant("poll" as const));

it("never passes an event that was not visible yet, whatever the interleaving", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(20)), { maxLength: 60 }), (steps) => {
      const mark = new Watermark();
      const open: { xid: bigint; at: number }[] = [];
      let [clock, next, safe] = [1_000 * second, 100n, 0];
      for (const [what, choice] of steps) {
        clock += 1000;
        if (what === "begin") open.push({ xid: next++, at: clock });
        // Everything that becomes visible now must be at or after the time that was reported safe.
        else if (what === "commit") {
          const [done] = open.splice(choice % Math.max(1, open.length), 1);
          if (done !== undefined) expect(done.at).toBeGreaterThanOrEqual(safe);
        } else {
          const xmin = open.reduce((least, { xid }) => (xid < least ? xid : least), next);
          safe = mark.advance({ at: clock, xmin, next });
        }
      }
    }),
  );
});
