/** The cost of deciding a request: the workflow's function against the same row writes by others, and in an old archive. */
import { DECIDERS } from "../approvals.ts";
import type { Part, SuiteSpec } from "../model.ts";
import { againstReference } from "./rows.ts";

const CLIENTS = 8;
/** Monthly partitions of the data that is kept forever: of an installation in its first year, and in its tenth. */
const YOUNG = 10;
const OLD = 120;
const approvals = (partitions: number): string => `apply/approve-${partitions}`;

export const applyPart: Part = {
  name: "apply",
  about: "approvals with their Slack messages, one transaction each from 8 clients, against the same writes by others",
  weight: 14,
  suites(profile) {
    // A quick run has no time for it.
    if (profile.name === "quick") return [];
    const suite = (id: string, who: string, partitions: number, rounds?: number): SuiteSpec => ({
      id,
      suite: "apply",
      timeoutMs: 90_000,
      params: { who, clients: CLIENTS, seconds: profile.loadSeconds, partitions },
      ...(rounds === undefined ? {} : { rounds }),
    });
    return [
      ...DECIDERS.map((who) =>
        // "By hand" has no target: one round is enough.
        suite(`${who}/apply`, who, YOUNG, who === "by-hand" && profile.name !== "full" ? 1 : undefined),
      ),
      suite("headroom/apply-old", "headroom", OLD),
    ];
  },
  rows(results, profile) {
    if (profile.name === "quick") return [];
    const against = (label: string, reference: string, referenceLabel: string, target?: number) =>
      againstReference({
        part: "apply",
        label: `apply_capacity_event with two messages, ${CLIENTS} clients, against ${label}`,
        unit: "events/s",
        ours: results.value(approvals(YOUNG), "headroom"),
        reference: results.value(approvals(YOUNG), reference),
        referenceLabel,
        comparison: ">=",
        ...(target === undefined ? {} : { target }),
      });
    return [
      against("the same writes in one plpgsql function", "one-function", "one plpgsql function", 0.5),
      against("the same writes by hand", "by-hand", "the same writes by hand"),
      againstReference({
        part: "apply",
        label: `constant over partitions: apply_capacity_event with ${OLD} of them, against ${YOUNG}`,
        unit: "events/s",
        ours: results.value(approvals(OLD), "headroom"),
        reference: results.value(approvals(YOUNG), "headroom"),
        referenceLabel: `${YOUNG} partitions`,
        comparison: ">=",
        target: 0.9,
      }),
    ];
  },
};
