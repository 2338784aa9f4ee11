/**
 * Strict order per key. `ordered` and `runs-of-one` share their suites: each process measures both layouts, and each layout
 * is compared with the same layout of the peers. In runs of one the peers' best round counts: graphile-worker's local queue
 * sometimes waits for a whole poll interval when the remaining keys are busy: two seconds in a drain of one second.
 */
import { CONTENDERS, type ContenderName, type Part, type Profile, type ResultSet, type SuiteSpec } from "../model.ts";
import { againstPeers, plainRow } from "./rows.ts";

const TIMEOUT_MS = 90_000;
const BOX_MS = 20_000;
const HARD_BOX_MS = 40_000;

function layoutsFor(contender: ContenderName): string {
  return contender === "headroom" ? "bursts,round-robin,singles" : "bursts,round-robin";
}

const sharedSuites = (profile: Profile): SuiteSpec[] =>
  CONTENDERS.map((contender) => ({
    id: `${contender}/ordered`,
    suite: "ordered",
    timeoutMs: TIMEOUT_MS,
    params: {
      contender,
      layouts: layoutsFor(contender),
      rows: profile.drainRows,
      keys: profile.keys,
      warmUpRows: profile.warmUpRows,
      boxMs: BOX_MS,
      // graphile-worker stalls on runs of one queue; its rate shows within seconds.
      burstsBoxMs: contender === "graphile-worker" ? profile.graphileBurstsBoxMs : BOX_MS,
    },
  }));

const HARD = {
  "two-relays": "two relays",
  retries: "5 % retries",
  "two-relays-retries": "two relays and 5 % retries",
} as const;
type HardKind = keyof typeof HARD;

/** A quick run has time for one, and takes the hardest. */
const hardKinds = (profile: Profile): readonly HardKind[] =>
  profile.name === "quick" ? ["two-relays-retries"] : ["two-relays", "retries", "two-relays-retries"];

const hardSuites = (profile: Profile): SuiteSpec[] =>
  hardKinds(profile).map((kind) => ({
    id: `headroom/ordered-${kind}`,
    suite: "ordered-hard",
    timeoutMs: TIMEOUT_MS,
    rounds: profile.name === "quick" ? 1 : 2,
    params: {
      kind,
      rows: profile.name === "quick" ? profile.drainRows / 2 : profile.drainRows,
      keys: profile.keys,
      boxMs: HARD_BOX_MS,
    },
  }));

function violationsRow(results: ResultSet, measures: readonly string[], label: string) {
  const count = (who: ContenderName): number | null => {
    const found = measures.map((measure) => results.detail(measure, who, "violations"));
    const known = found.filter((value) => value !== null);
    // A missing result of ours is treated as a failure; a peer gets the benefit of the doubt.
    const enough = who === "headroom" ? known.length === measures.length : known.length > 0;
    return enough ? known.reduce((sum, value) => sum + value, 0) : null;
  };
  const ours = count("headroom");
  return plainRow({
    part: "ordered",
    label,
    unit: "violations",
    values: { headroom: ours, "graphile-worker": count("graphile-worker"), "pg-boss": count("pg-boss") },
    ratio: ours,
    comparison: "<=",
    target: 0,
  });
}

function incompleteRow(results: ResultSet, kinds: readonly HardKind[]) {
  const missing = kinds.map((kind) => results.detail(`ordered/${kind}`, "headroom", "missing"));
  const sum = missing.some((value) => value === null) ? null : missing.reduce<number>((a, b) => a + (b ?? 0), 0);
  return plainRow({
    part: "ordered",
    label: "rows not delivered with two relays and with retries",
    unit: "rows",
    values: { headroom: sum },
    ratio: sum,
    comparison: "<=",
    target: 0,
  });
}

const BURSTS_LABEL = "strict order, 1,000 keys, 20 events of a key per transaction";

export const orderedPart: Part = {
  name: "ordered",
  about: "strict order over 1,000 keys, 20 events of a key per transaction; also two relays, 5 % retries",
  weight: 24,
  suites: (profile) => [...sharedSuites(profile), ...hardSuites(profile)],
  rows(results, profile) {
    const kinds = hardKinds(profile);
    const speed = (label: string, target: number) =>
      againstPeers(results, {
        part: "ordered",
        label,
        unit: "rows/s",
        ours: ["ordered/bursts"],
        peers: ["ordered/bursts"],
        comparison: ">=",
        target,
      });
    const informs = (measure: string, label: string) =>
      plainRow({
        part: "ordered",
        label,
        unit: "rows/s",
        values: { headroom: results.value(measure, "headroom") },
        ratio: null,
        comparison: ">=",
      });
    return [
      speed(`${BURSTS_LABEL} (first mark)`, 2),
      speed(`${BURSTS_LABEL} (second mark)`, 2.5),
      violationsRow(
        results,
        ["ordered/plain", "ordered/bursts"],
        "order violations, 20 events of a key per transaction",
      ),
      ...kinds.map((kind) => violationsRow(results, [`ordered/${kind}`], `order violations with ${HARD[kind]}`)),
      incompleteRow(results, kinds),
      ...kinds.map((kind) => informs(`ordered/${kind}`, `strict order with ${HARD[kind]}`)),
    ];
  },
};

export const runsOfOnePart: Part = {
  name: "runs-of-one",
  about: "strict order, one row per key and transaction",
  weight: 2,
  suites: sharedSuites,
  rows: (results) => [
    againstPeers(results, {
      part: "runs-of-one",
      label: "strict order, one row per key and transaction, 1,000 keys",
      unit: "rows/s",
      ours: ["ordered/round-robin"],
      peers: ["ordered/round-robin"],
      peerRounds: "best",
      comparison: ">=",
      target: 1,
    }),
    plainRow({
      part: "runs-of-one",
      label: "strict order, 20,000 keys of one row each",
      unit: "rows/s",
      values: { headroom: results.value("ordered/singles", "headroom") },
      ratio: null,
      comparison: ">=",
    }),
  ],
};
