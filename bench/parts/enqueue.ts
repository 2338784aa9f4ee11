/** The cost of enqueueing: our function against the same row writes by hand, and against one bare INSERT. */
import { CONTENDERS, type Part, type SuiteSpec } from "../model.ts";
import { againstPeers, againstReference } from "./rows.ts";

const CLIENTS = 32;
const WRITERS = ["headroom", "by-hand", "bare-insert"] as const;
const ORDERS = ["unordered", "ordered"] as const;

export const enqueuePart: Part = {
  name: "enqueue",
  about: "one transaction each from 32 clients, against the same writes by hand and against a bare INSERT",
  weight: 20,
  suites(profile) {
    const bySql = ORDERS.flatMap((order) =>
      WRITERS.map((who): SuiteSpec => ({
        id: `${who}/enqueue-${order}`,
        suite: "enqueue-sql",
        timeoutMs: 60_000,
        params: { order, who, clients: CLIENTS, seconds: profile.loadSeconds, keys: profile.keys },
      })),
    );
    const byNode = CONTENDERS.map((contender): SuiteSpec => ({
      id: `${contender}/enqueue-node`,
      suite: "enqueue-node",
      timeoutMs: 60_000,
      rounds: profile.name === "full" ? 3 : 1,
      params: { contender, keys: profile.keys, seconds: profile.loadSeconds },
    }));
    return profile.name === "quick" ? bySql : [...bySql, ...byNode];
  },
  rows(results, profile) {
    const own = ORDERS.flatMap((order) => {
      const row = (reference: string, referenceLabel: string, target: number) =>
        againstReference({
          part: "enqueue",
          label: `enqueue, ${order}, ${CLIENTS} clients, against ${referenceLabel}`,
          unit: "rows/s",
          ours: results.value(`enqueue/${order}`, "headroom"),
          reference: results.value(`enqueue/${order}`, reference),
          referenceLabel,
          comparison: ">=",
          target,
        });
      return [row("by-hand", "the same writes by hand", 0.9), row("bare-insert", "a bare INSERT", 0.6)];
    });
    if (profile.name === "quick") return own;
    const side = (measure: string, label: string) =>
      againstPeers(results, {
        part: "enqueue",
        label,
        unit: "rows/s",
        ours: [measure],
        peers: [measure],
        comparison: ">=",
      });
    return [
      ...own,
      side("enqueue/node-single", "enqueue from Node, one transaction each, 10 connections"),
      side("enqueue/node-bulk", "enqueue from Node, 1,000 per call"),
    ];
  },
};
