/** A slice of 5,000 rows in front of, or behind, very many others: Headroom against its own speed without them. */
import { CONTENDERS, type ContenderName, type Part, type Profile, type SuiteSpec } from "../model.ts";
import { againstReference, plainRow } from "./rows.ts";

type Kind = "baseline" | "ready" | "future" | "blocked";
type Order = "ordered" | "unordered";

const LABELS: Record<Exclude<Kind, "baseline">, string> = {
  ready: "pending behind it",
  future: "due tomorrow",
  blocked: "blocked: 10 % of the keys",
};

interface Place {
  readonly kind: Kind;
  readonly order: Order;
  /** A quick run skips the cases in which an ordered queue behaves like the other. */
  readonly quick: boolean;
}

/** Each backlog has a baseline on either side of it, so that the machine's drift hits both. */
const SEQUENCE: readonly Place[] = [
  { kind: "baseline", order: "unordered", quick: true },
  { kind: "ready", order: "unordered", quick: true },
  { kind: "future", order: "unordered", quick: true },
  { kind: "baseline", order: "unordered", quick: false },
  { kind: "baseline", order: "ordered", quick: true },
  { kind: "ready", order: "ordered", quick: false },
  { kind: "future", order: "ordered", quick: false },
  { kind: "blocked", order: "ordered", quick: true },
  { kind: "baseline", order: "ordered", quick: false },
];

const placesOf = (profile: Profile): readonly Place[] =>
  SEQUENCE.filter((place) => place.quick || profile.name !== "quick");

const suiteFor = (contender: ContenderName, { kind, order }: Place, index: number, profile: Profile): SuiteSpec => ({
  id: `${contender}/slice-${kind}-${order}-${index}`,
  suite: "slice",
  timeoutMs: profile.name === "full" ? 600_000 : 90_000,
  // The median is over the slices of one queue; filling it repeatedly would only take time.
  rounds: 1,
  params: {
    contender,
    kind,
    layout: order,
    keys: profile.keys,
    sliceRows: profile.sliceRows,
    slices: profile.slices,
    backlogRows: profile.backlogRows,
    baselineRows: profile.baselineRows,
  },
});

const hasPeers = (profile: Profile): boolean => profile.name === "full";

const amount = (rows: number): string => (rows >= 1_000_000 ? `${rows / 1_000_000}M` : `${rows / 1_000}k`);

export const backlogPart: Part = {
  name: "backlog",
  about: "slices of 5,000 with many rows pending, due tomorrow, or blocked",
  weight: 34,
  suites(profile) {
    const ours = placesOf(profile).map((place, index) => suiteFor("headroom", place, index, profile));
    if (!hasPeers(profile)) return ours;
    const peers = CONTENDERS.filter((name) => name !== "headroom").flatMap((name) =>
      SEQUENCE.slice(0, 3).map((place, index) => suiteFor(name, place, index, profile)),
    );
    return [...ours, ...peers];
  },
  rows(results, profile) {
    const own = placesOf(profile).flatMap(({ kind, order }) => {
      if (kind === "baseline") return [];
      return againstReference({
        part: "backlog",
        label: `slice of 5k, ${order}, with ${amount(profile.backlogRows)} ${LABELS[kind]}`,
        unit: "rows/s",
        ours: results.value(`slice/${kind}-${order}`, "headroom"),
        reference: results.value(`slice/baseline-${order}`, "headroom"),
        referenceLabel: "own speed at 20k",
        comparison: ">=",
        target: 0.9,
      });
    });
    if (!hasPeers(profile)) return own;
    const side = (["baseline", "ready", "future"] as const).map((kind) =>
      plainRow({
        part: "backlog",
        label: `slice of 5k beside the peers: ${kind === "baseline" ? "20k" : `${amount(profile.backlogRows)} ${LABELS[kind]}`}`,
        unit: "rows/s",
        values: Object.fromEntries(CONTENDERS.map((name) => [name, results.value(`slice/${kind}-unordered`, name)])),
        ratio: null,
        comparison: ">=",
      }),
    );
    return [...own, ...side];
  },
};
