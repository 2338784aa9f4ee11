/**
 * Strict order where it is easily lost: two relays at once, and a rail that asks for a retry of every twentieth row.
 * Both relays live in one process, so that the check sees all calls of both in the order in which they happen;
 * for the database they are two ordinary relays.
 */
import { openHeadroom } from "../contenders/headroom.ts";
import { round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const RETRY_SHARE = 0.05;

export const orderedHardSuite: Suite = async ({ url, params, emit }) => {
  const kind = params.text("kind");
  const rows = params.number("rows");
  const headroom = await openHeadroom({ url, keys: params.number("keys") });
  const outcome = await headroom.drainStrictly({
    rows,
    relays: kind.startsWith("two-relays") ? 2 : 1,
    retryShare: kind.endsWith("retries") ? RETRY_SHARE : 0,
    boxMs: params.number("boxMs"),
  });
  emit({
    measure: `ordered/${kind}`,
    who: "headroom",
    variant: kind,
    value: round(outcome.rate),
    unit: "rows/s",
    details: {
      violations: outcome.violations,
      missing: rows - outcome.delivered,
      retries: outcome.retries,
    },
  });
  await headroom.close();
};
