/** What deciding a request costs: the workflow's function against the same row writes by hand. */
import type { Part, SuiteSpec } from "../model.ts";
import { againstReference } from "./rows.ts";

const CLIENTS = 8;
const WRITERS = ["headroom", "by-hand"] as const;
const MEASURE = "apply/approve";

export const applyPart: Part = {
  name: "apply",
  about: "approvals with their Slack messages, one transaction each from 8 clients, against the same writes by hand",
  weight: 6,
  suites(profile) {
    // A quick run has no time for it.
    if (profile.name === "quick") return [];
    return WRITERS.map((who): SuiteSpec => ({
      id: `${who}/apply`,
      suite: "apply",
      timeoutMs: 90_000,
      params: { who, clients: CLIENTS, seconds: profile.loadSeconds },
    }));
  },
  rows(results, profile) {
    if (profile.name === "quick") return [];
    return [
      againstReference({
        part: "apply",
        label: `apply_capacity_event with two messages, ${CLIENTS} clients, against the same writes by hand`,
        unit: "events/s",
        ours: results.value(MEASURE, "headroom"),
        reference: results.value(MEASURE, "by-hand"),
        referenceLabel: "the same writes by hand",
        comparison: ">=",
        target: 0.7,
      }),
    ];
  },
};
