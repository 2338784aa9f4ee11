/** A forgotten open transaction keeps vacuum from cleaning up: how much slower do claim and settle get? */
import type { Part } from "../model.ts";
import { againstReference } from "./rows.ts";

const ORDERS = ["unordered", "ordered"] as const;

export const heldOpenPart: Part = {
  name: "held-open",
  about: "claim + settle p50 at 2,000 rows/s under a transaction held open for 90 s",
  fullOnly: true,
  weight: 20,
  suites: (profile) =>
    ORDERS.map((order) => ({
      id: `headroom/held-open-${order}`,
      suite: "held-open",
      timeoutMs: (profile.heldOpenSeconds + 90) * 1_000,
      rounds: 1,
      params: { order, seconds: profile.heldOpenSeconds, rowsPerSecond: 2_000, keys: profile.keys },
    })),
  rows: (results, profile) =>
    ORDERS.map((order) =>
      againstReference({
        part: "held-open",
        label: `claim + settle p50, ${order}, with a transaction open for ${profile.heldOpenSeconds} s`,
        unit: "ms",
        ours: results.value(`held-open/${order}-end`, "headroom"),
        reference: results.value(`held-open/${order}-start`, "headroom"),
        referenceLabel: "own p50 before",
        comparison: "<=",
        target: 8,
      }),
    ),
};
