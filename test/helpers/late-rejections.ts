/**
 * Lets a test await a refusal a moment after it came. In an interleaving, a call that waits for another is refused when that one commits,
 * and the test awaits the commit first. Node reports a rejection that nobody awaits yet, and Vitest would fail the run for it. Only one
 * that nobody has awaited by the end of its file is a fault.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll } from "vitest";

type Rejections = Map<Promise<unknown>, unknown>;
const name = Symbol.for("headroom.rejections");

// A worker runs many files, and listens once. Vitest leaves what it hears to a listener of the tests.
const shared = globalThis as { [name]?: Rejections };
const rejections = (shared[name] ??= listen());

function listen(): Rejections {
  const unawaited: Rejections = new Map();
  process.on("unhandledRejection", (reason, promise) => void unawaited.set(promise, reason));
  process.on("rejectionHandled", (promise) => void unawaited.delete(promise));
  return unawaited;
}

afterAll(async () => {
  await nextTurn();
  const left = [...rejections.values()];
  rejections.clear();
  if (left.length > 0) throw new AggregateError(left, `Nobody awaited what failed: ${left.map(String).join("; ")}`);
});
