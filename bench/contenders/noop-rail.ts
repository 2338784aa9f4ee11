/** The benchmark's rail for a relay in its own process: everything is delivered immediately. */
import type { Rail } from "../../src/contract/rail.ts";

export const RAIL = "noop";
export const RAIL_TIMEOUT_MS = 5_000;

const noopRail: Rail = {
  name: RAIL,
  capability: "idempotent",
  timeoutMs: RAIL_TIMEOUT_MS,
  send: () => ({ kind: "delivered" }),
};

export default noopRail;
