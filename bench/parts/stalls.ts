/** What a blocked receiver or producer costs unrelated rows. */
import type { Part } from "../model.ts";
import { againstReference } from "./rows.ts";

const IN_THE_WAY = ["nobody", "slow receiver", "open producer"] as const;

export const stallsPart: Part = {
  name: "stalls",
  about: "how long rows that go elsewhere wait while a receiver is slow, and while a producer does not commit",
  weight: 14,
  suites: () =>
    IN_THE_WAY.map((inTheWay) => ({
      id: `headroom/stalls-${inTheWay}`,
      suite: "stalls",
      timeoutMs: 150_000,
      rounds: 1,
      params: { inTheWay },
    })),
  rows: (results) =>
    IN_THE_WAY.slice(1).flatMap((inTheWay) =>
      ([50, 100] as const).map((percent) =>
        againstReference({
          part: "stalls",
          label: `wait elsewhere, ${inTheWay} in the way, ${percent === 100 ? "longest" : "p50"}`,
          unit: "ms",
          ours: results.value(`stalls/${inTheWay}-p${percent}`, "headroom"),
          reference: results.value(`stalls/nobody-p${percent}`, "headroom"),
          referenceLabel: "nobody in the way",
          comparison: "<=",
          target: 10,
        }),
      ),
    ),
};
