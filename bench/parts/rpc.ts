/** What the HTTP server adds to a call: two functions over loopback HTTP, against the same functions called over the driver. */
import type { Part, ReportRow, SuiteSpec } from "../model.ts";
import { againstReference } from "./rows.ts";

const WAYS = ["headroom", "driver"] as const;
const CONNECTIONS = [8, 32] as const;
const CALLS = ["create", "get"] as const;

export const rpcPart: Part = {
  name: "rpc",
  about:
    "create_capacity_request and get_capacity_request over loopback HTTP, 8 and 32 connections, against the driver",
  weight: 8,
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
    return CALLS.flatMap((call) =>
      CONNECTIONS.flatMap((connections): ReportRow[] => {
        const measure = `rpc/${call}-${connections}`;
        const label = `${call}_capacity_request over HTTP, ${connections} connections`;
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
