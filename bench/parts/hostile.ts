/** The cost to others of a client that sends each route the worst inputs. */
import type { Part } from "../model.ts";
import { againstReference, plainRow } from "./rows.ts";

const KINDS = ["unauthenticated", "member", "provider", "slow readers"] as const;
const REFERENCES = { idle: "nobody attacking", beside: "a bare server attacked" } as const;
const CONNECTIONS = [1, 8] as const;

export const hostilePart: Part = {
  name: "hostile",
  about:
    "what two members wait while one client sends every route 1 MiB of the worst there is for it, and while a thousand never read",
  fullOnly: true,
  weight: 60,
  suites: () =>
    CONNECTIONS.map((connections) => ({
      id: `headroom/hostile-${connections}`,
      suite: "hostile",
      timeoutMs: 900_000,
      rounds: 1,
      params: { seconds: 1, connections },
    })),
  rows: (results) =>
    CONNECTIONS.flatMap((connections) => [
      ...KINDS.flatMap((kind) =>
        Object.entries(REFERENCES).map(([reference, referenceLabel]) =>
          againstReference({
            part: "hostile",
            label: `a list while a client attacks on ${connections}, ${kind}, p99`,
            unit: "ms",
            ours: results.value(`hostile/${kind}-${connections}`, "headroom"),
            reference: results.value(`hostile/${reference}-${connections}`, "headroom"),
            referenceLabel,
            comparison: "<=",
            target: 2,
          }),
        ),
      ),
      plainRow({
        part: "hostile",
        label: `most memory of the server, attacked on ${connections}`,
        unit: "MB",
        values: { headroom: results.value(`hostile/memory-${connections}`, "headroom") },
        ratio: results.value(`hostile/memory-${connections}`, "headroom"),
        comparison: "<=",
      }),
    ]),
};
