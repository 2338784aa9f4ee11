/** Claim, settle and reap over an archive of ten million lines, against their own speed on an empty one. */
import type { Part, SuiteSpec } from "../model.ts";
import { againstReference } from "./rows.ts";

const ORDERS = ["unordered", "ordered"] as const;
const STEPS = ["claim", "settle", "reap"] as const;

export const archivePart: Part = {
  name: "archive",
  about: "claim, settle and reap with an archive of 10M lines against an empty one",
  fullOnly: true,
  weight: 40,
  suites: (profile) =>
    // The empty archive is measured before and after the full one, and both form one measurement.
    (["empty-before", "filled", "empty-after"] as const).map((kind): SuiteSpec => ({
      id: `headroom/archive-${kind}`,
      suite: "archive",
      timeoutMs: 1_500_000,
      rounds: 1,
      params: {
        kind: kind === "filled" ? "filled" : "empty",
        archiveLines: kind === "filled" ? profile.archiveRows : 0,
        keys: profile.keys,
      },
    })),
  rows: (results) =>
    ORDERS.flatMap((order) =>
      STEPS.map((step) =>
        againstReference({
          part: "archive",
          label: `${step}, ${order}, with an archive of 10M lines`,
          unit: "rows/s",
          ours: results.value(`archive/filled-${order}-${step}`, "headroom"),
          reference: results.value(`archive/empty-${order}-${step}`, "headroom"),
          referenceLabel: "own speed on an empty archive",
          comparison: ">=",
          target: 0.9,
        }),
      ),
    ),
};
