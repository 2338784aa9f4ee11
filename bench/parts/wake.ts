/** How soon an idle worker starts a row after its commit. */
import { CONTENDERS, type Part } from "../model.ts";
import { againstPeers } from "./rows.ts";

export const wakePart: Part = {
  name: "wake",
  about: "from the acknowledged commit to the handler of an idle worker, p50 and p99",
  weight: 18,
  suites: (profile) =>
    CONTENDERS.map((contender) => ({
      id: `${contender}/wake`,
      suite: "wake",
      timeoutMs: 60_000,
      params: { contender, keys: profile.keys, wakes: profile.wakes },
    })),
  rows: (results) =>
    ([50, 99] as const).map((percent) =>
      againstPeers(results, {
        part: "wake",
        label: `wake p${percent}`,
        unit: "ms",
        ours: [`wake/p${percent}`],
        peers: [`wake/p${percent}`],
        comparison: "<=",
        target: percent === 50 ? 1 : 1.2,
        only: "graphile-worker",
      }),
    ),
};
