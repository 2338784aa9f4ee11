/** The worker's memory over a million rows: bounded, and no higher at the end than before. */
import type { Part } from "../model.ts";
import { againstReference } from "./rows.ts";

const LIMIT_MB = 150;
/** The tolerance for "flat": the garbage collector's timing moves the curve by about this much. */
const FLAT = 1.15;

export const memoryPart: Part = {
  name: "memory",
  about: "resident memory of the worker while it drains 1M rows",
  fullOnly: true,
  weight: 20,
  suites: (profile) => [
    {
      id: "headroom/memory",
      suite: "memory",
      timeoutMs: 900_000,
      rounds: 1,
      params: { rows: profile.memoryRows, keys: profile.keys },
    },
  ],
  rows(results, profile) {
    const peak = results.value("memory/peak", "headroom");
    return [
      againstReference({
        part: "memory",
        label: `memory of the worker, draining ${profile.memoryRows / 1_000_000}M, at most ${LIMIT_MB} MB`,
        unit: "MB",
        ours: peak,
        reference: LIMIT_MB,
        referenceLabel: "the limit",
        comparison: "<=",
        target: 1,
      }),
      againstReference({
        part: "memory",
        label: "memory of the worker, last quarter against second quarter",
        unit: "MB",
        ours: results.value("memory/late", "headroom"),
        reference: results.value("memory/early", "headroom"),
        referenceLabel: "second quarter",
        comparison: "<=",
        target: FLAT,
      }),
    ];
  },
};
