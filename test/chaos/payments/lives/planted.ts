/**
 * Plausible bugs about money over time: each replaces one function of the product in the database of the lives, and
 * names the subject of the lives that reveal it. The oracle must find it within a few lives, and nothing without it.
 */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Findings } from "../../kit/findings.ts";
import { ownCodeDir } from "../../kit/patch.ts";
import type { PlantedBug, PlantedSuite } from "../../kit/planted.ts";
import type { Fault } from "./judge.ts";
import { focusedLife, type Focus, type Life } from "./life.ts";
import { openPlace, type Place } from "./place.ts";
import { play } from "./play.ts";
import { quietWorld, type Rest, type World } from "./world.ts";

interface Plant {
  readonly function: string;
  readonly find: string;
  readonly replace: string;
}

/** Its scene is the kind of world. */
export interface PlantedLife extends PlantedBug<keyof typeof worlds> {
  readonly plant: readonly Plant[];
  /** In turn. */
  readonly focus: readonly Focus[];
  /** Some weeks are enough for bugs that need no renewal. */
  readonly until: number;
  readonly caughtAs: string;
}

const days = 10;
const twoMonths = 24;
const worlds = {
  quiet: quietWorld,
  /** Around the end of the first month, so that a month whose event was lost is not known yet. */
  "without a sweep": {
    ...quietWorld,
    rests: new Map(Array.from({ length: 8 }, (_, at) => [at + 17, "the sweep"] as [number, Rest])),
  },
  "goes live": { ...quietWorld, goesLiveAt: 2 },
} satisfies Record<string, World>;
const allInvoices = ["invoice.paid"] as const;

export const plantedLives: readonly PlantedLife[] = [
  {
    name: "what the bank returned is not opened again while another refund is pending",
    scene: "quiet",
    plant: [
      {
        function: "billing.reopen_refund",
        find: "billing.open_refund(p_payment, p_failed.reason, p_failed.amount, p_failed.asked_by, p_failed.why_hash,",
        replace: "billing.refund(p_payment, p_failed.reason, p_failed.amount, p_failed.asked_by, null,",
      },
    ],
    focus: [
      {
        pay: "the customer pays, and refunds take days",
        story: [
          "an operator refunds a part",
          "the bank settles a refund",
          "an operator refunds a part",
          "the bank returns the first refund",
        ],
      },
    ],
    until: 14,
    caughtAs: "what an operator sends back goes back",
  },
  {
    name: "a comparison goes by when something was created",
    scene: "quiet",
    plant: [
      { function: "billing.read_page", find: ",changes}", replace: "}" },
      {
        function: "billing.apply_subscription",
        find: "perform billing.look(v_subscription.workspace_id, 'invoices', v_subscription.stripe_id);",
        replace: "null;",
      },
    ],
    focus: [
      {
        monthly: true,
        story: ["the next renewal fails", "a month", "the bill is paid"],
        loses: ["invoice.paid", "customer.subscription.updated"],
      },
    ],
    until: twoMonths,
    caughtAs: "each invoice that is paid is a payment here, and no other",
  },
  {
    name: "a month that was paid before the end goes back",
    scene: "without a sweep",
    plant: [
      {
        function: "billing.take_renewal",
        find: "> p_subscription.cancel_asked_at, false)",
        replace: "> '-infinity' and p_subscription.cancel_asked_at is not null, false)",
      },
    ],
    focus: [{ monthly: true, story: ["a month", "an operator ends it"], loses: allInvoices }],
    until: twoMonths,
    caughtAs: "a month that was paid before the end is kept",
  },
  {
    name: "a request that failed keeps the months that are heard of later",
    scene: "without a sweep",
    plant: [{ function: "billing.judge_renewal", find: "when p_state = 'FAILED' then 'failed'", replace: "" }],
    focus: [
      {
        monthly: true,
        end: null,
        story: ["a month", "it is ended in the dashboard", "setting it up fails"],
        loses: allInvoices,
      },
    ],
    until: twoMonths,
    caughtAs: "a request that ended keeps no money",
  },
  {
    name: "a refund that was cancelled is sent again",
    scene: "quiet",
    plant: [
      {
        function: "billing.apply_refund",
        find: "'canceled' then 'cancelled'",
        replace: "'canceled' then 'failed'",
      },
    ],
    focus: [
      {
        pay: "the customer pays, and refunds take days",
        story: ["an operator refunds", "a refund is cancelled in the dashboard"],
      },
    ],
    until: days,
    caughtAs: "a refund that was cancelled is not sent again",
  },
  {
    name: "money of the test mode counts where real money is taken",
    scene: "goes live",
    plant: [
      {
        function: "billing.is_play_money",
        find: "return p_object -> 'livemode' = 'false'",
        replace: "return false",
      },
    ],
    focus: [
      { monthly: true, from: 0, story: ["a month"] },
      { from: 3, story: [] },
    ],
    until: twoMonths,
    caughtAs: "test money counts for nothing where real money is taken",
  },
  {
    name: "a refund that fails after it had succeeded is not heard",
    scene: "quiet",
    plant: [{ function: "billing.refund_states", find: "('failed', 4, false", replace: "('failed', 2, false" }],
    focus: [{ story: ["an operator refunds a part", "the bank returns a refund"] }],
    until: days,
    caughtAs: "each refund at Stripe is one here, and no other",
  },
  {
    name: "a dispute that was lost is taken for one that was won",
    scene: "quiet",
    plant: [{ function: "billing.dispute_rules", find: "('lost', 'lost', true", replace: "('lost', 'won', false" }],
    focus: [{ story: ["the customer disputes", "a dispute is lost"] }],
    until: days,
    caughtAs: "the balance is Stripe's, to the cent",
  },
  {
    name: "a subscription goes on at Stripe after its request has failed",
    scene: "quiet",
    plant: [{ function: "billing.cancel_at_stripe", find: "if p_stripe_id is null then", replace: "if true then" }],
    focus: [{ monthly: true, end: "setting it up fails", story: [] }],
    until: days,
    caughtAs: "nobody goes on paying for what does not run",
  },
  {
    name: "a payment counts that was made after the offer was over",
    scene: "quiet",
    plant: [{ function: "billing.judge_payment", find: "when not p_in_time then 'late' end", replace: "end" }],
    focus: [{ pay: "the offer is over, and the customer pays", end: null, story: [] }],
    until: days,
    caughtAs: "what counts was paid in time",
  },
  {
    name: "an amount that nobody asked for is taken in",
    scene: "quiet",
    plant: [
      { function: "billing.take_session", find: "v_matches := coalesce(", replace: "v_matches := true or coalesce(" },
    ],
    focus: [{ pay: "the amount is changed, and the customer pays", story: [] }],
    until: days,
    caughtAs: "verify: payment_unused",
  },
];

/** This many lives must be enough. */
const count = 4;

function livesOf(seed: number, { focus }: PlantedLife, first = 0): Life[] {
  return Array.from({ length: count }, (_, at) => {
    const one = focus[at % focus.length];
    if (one === undefined) throw new Error("there is nothing for a life to be about");
    return focusedLife(seed, first + at, one);
  });
}

const quoted = (text: string): string => `$plant$${text}$plant$`;

function plantOf({ plant }: PlantedLife): string {
  return plant
    .map(({ function: name, find, replace }) => `select life.plant('${name}', ${quoted(find)}, ${quoted(replace)})`)
    .join(";");
}

/** Throws for the first bug whose text is no longer in its function. */
export async function requireFittingPlants(bugs: readonly PlantedLife[]): Promise<void> {
  const folder = join(ownCodeDir, "sql", "functions");
  const paths = await readdir(folder, { recursive: true });
  for (const { function: name, find } of bugs.flatMap(({ plant }) => plant)) {
    const [schema = "", file = ""] = name.split(".");
    const path = paths.find((each) => each.startsWith(schema) && basename(each) === `${file}.sql`);
    if (path === undefined || !(await readFile(join(folder, path), "utf8")).includes(find))
      throw new Error(`The plant for ${name} no longer fits: its text does not occur.\n${find}`);
  }
}

/** The oracle's findings in the lives that reveal these bugs, in parallel; with the bugs planted, or in the code as it is. */
export async function playScene(
  place: Place,
  scene: PlantedLife["scene"],
  bugs: readonly PlantedLife[],
  seed: number,
  code: "planted" | "clean",
): Promise<readonly Fault[]> {
  const lives = bugs.flatMap((each, at) => livesOf(seed, each, at * count));
  const until = Math.max(...bugs.map((each) => each.until));
  const plant = code === "planted" ? bugs.map(plantOf).join(";") : undefined;
  const { faults } = await play(place, lives, { world: worlds[scene], until, plant });
  return faults;
}

export const planted: PlantedSuite<PlantedLife> = {
  bugs: plantedLives,
  async begin(undo) {
    const place = await openPlace();
    undo.defer(() => place.close());
    return async (scene, bug, { seed }) => {
      const findings = new Findings();
      const bugs = bug === undefined ? plantedLives.filter((each) => each.scene === scene) : [bug];
      const faults = await playScene(place, scene, bugs, seed, bug === undefined ? "clean" : "planted");
      for (const { rule, what } of faults) findings.add(rule, what);
      return findings.list;
    };
  },
};
