/** What the HTTP server adds: two functions and two lists over loopback HTTP, against the same calls over the driver. */
import type { Part, ReportRow, SuiteSpec } from "../model.ts";
import { againstReference } from "./rows.ts";

const WAYS = ["headroom", "driver"] as const;
const CONNECTIONS = [8, 32] as const;
const CALLS = {
  create: "create_capacity_request",
  get: "get_capacity_request",
  "list-service": "a list of 50 requests by a machine",
  "list-member": "a list of 50 requests by a member",
} as const;

export const rpcPart: Part = {
  name: "rpc",
  about:
    "create_capacity_request, get_capacity_request and lists of 50 over loopback HTTP, 8 and 32 connections, against the driver",
  weight: 12,
  suites(profile) {
    // A quick run has no time for it.
    if (profile.name === "quick") return [];
    return WAYS.map((who): SuiteSpec => ({
      id: `${who}/rpc`,
      suite: "rpc",
      timeoutMs: 90_000,
      rounds: profile.name === "full" ? 3 : 1,
      params: { who, seconds: profile.loadSeconds },
    }));
  },
  rows(results, profile) {
    if (profile.name === "quick") return [];
    return Object.entries(CALLS).flatMap(([call, words]) =>
      CONNECTIONS.flatMap((connections): ReportRow[] => {
        const measure = `rpc/${call}-${connections}`;
        const label = `${words} over HTTP, ${connections} connections`;
        const row = (what: string, unit: string, read: (who: string) => number | null) =>
          againstReference({
            part: "rpc",
            label: `${label}${what}`,
            unit,
            ours: read("headroom"),
            reference: read("driver"),
            referenceLabel: "the driver",
            comparison: unit === "ms" ? "<=" : ">=",
          });
        return [
          row("", "calls/s", (who) => results.value(measure, who)),
          row(", p99", "ms", (who) => results.detail(measure, who, "p99Ms")),
        ];
      }),
    );
  },
};
