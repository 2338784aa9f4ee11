/** Emptying a queue of no-ops: with default settings, and the best each can do. */
import { CONTENDERS, type Part, type SuiteSpec } from "../model.ts";
import { againstPeers } from "./rows.ts";

const TIMEOUT_MS = 60_000;
const BOX_MS = 20_000;

export const drainPart: Part = {
  name: "drain",
  about: "20,000 no-ops, default settings against default settings and best against best",
  weight: 18,
  suites: (profile) =>
    (["default", "best"] as const).flatMap((mode) =>
      CONTENDERS.map((contender): SuiteSpec => {
        // work() with its defaults polls twice a second: warming it up would only use up the time.
        const polls = contender === "pg-boss" && mode === "default";
        return {
          id: `${contender}/drain-${mode}`,
          suite: "drain",
          timeoutMs: TIMEOUT_MS,
          ...(polls ? { rounds: 1 } : {}),
          params: {
            contender,
            mode,
            rows: profile.drainRows,
            keys: profile.keys,
            warmUpRows: polls ? 0 : profile.warmUpRows,
            boxMs: polls ? profile.pgBossDefaultBoxMs : BOX_MS,
          },
        };
      }),
    ),
  rows(results) {
    const row = (mode: string, label: string, target: number) =>
      againstPeers(results, {
        part: "drain",
        label,
        unit: "rows/s",
        ours: [`drain/${mode}`],
        peers: [`drain/${mode}`],
        comparison: ">=",
        target,
      });
    return [
      row("default", "drain, default settings against default settings", 5),
      row("best", "drain, best against best", 1.5),
    ];
  },
};
