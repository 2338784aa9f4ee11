/**
 * The page about the path of one decision: the steps are described here, and the functions, reads and writes of each come from a walk.
 *
 * A function on the path that belongs to no step, a step that touches what it must not, and a caller of one of the steps that is
 * not described here, are errors: if you add one, describe it here.
 */
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Client } from "pg";
import { walkDecision, type DecisionWalk, type Statement } from "./decision-walk.ts";
import { table } from "./tables.ts";

interface Step {
  readonly name: string;
  /** The functions at its start. Everything they call belongs to it, until another step starts. */
  readonly functions: readonly string[];
  readonly about: string;
  readonly may: "nothing" | "read" | "write";
}

const steps: readonly Step[] = [
  {
    name: "Entrance",
    functions: ["public.apply_capacity_event", "capacity.decide_as_caller"],
    about:
      "takes a request, an event, a payload and optionally the version that the actor saw. Members act as themselves; a service names the member for whom it acts.",
    may: "nothing",
  },
  {
    name: "Who acts",
    functions: ["directory.caller"],
    about:
      "identifies the actor only by what the connection proves, never by an argument. What the actor may do is read later, under the lock.",
    may: "read",
  },
  {
    name: "What is known",
    functions: ["capacity.load_context"],
    about:
      "locks only the request's row. The lock requires that the member may read it: a row that they may not read causes no wait and looks like a missing one. Then one read, which sees everything that was committed during the wait for the lock.",
    may: "read",
  },
  {
    name: "What follows",
    functions: ["capacity.judge"],
    about:
      "decides from the context alone. Was it already decided, by whom and when? May they decide, and does it count? Did they see the current version? Which state is next?",
    may: "nothing",
  },
  {
    name: "What is written",
    functions: ["capacity.apply"],
    about:
      "refuses what is not allowed. Otherwise it appends the event, linked to the previous one, and updates the request. No other function appends an event or changes a request; a submission only creates the row that its first event fills.",
    may: "write",
  },
  {
    name: "Side effects",
    functions: ["capacity.effects_of", "capacity.dispatch_side_effects"],
    about:
      "their names are part of the event, and each becomes a row. Messages to Slack and Linear are rendered when they are sent, from the data that the row keeps from now.",
    may: "write",
  },
  {
    name: "People",
    functions: ["capacity.tells_of_event", "capacity.tell_people"],
    about:
      "notifies the people whom [the table](notifications.md) names for the event, by the channels that they chose.",
    may: "write",
  },
  {
    name: "Answer",
    functions: ["public.request_row"],
    about: "the request as it is now, in the form of the view `public.capacity_requests`, from the same context.",
    may: "nothing",
  },
];

/** The functions that others may call, the whole path first. */
const asked = [
  "capacity.decide_as_caller",
  "capacity.decide",
  "capacity.load_context",
  "capacity.context_of",
  "capacity.judge",
  "capacity.apply",
  "capacity.authorize",
  "capacity.asked_now",
];

/** The callers, in the words of the product. */
const users: Readonly<Record<string, string>> = {
  "public.decide_capacity_request": "the client and the command line",
  "inbound.decide": "a button or a command in Slack",
  "inbound.could_decide": "a form in Slack, before it opens",
  "inbound.review_step": "`/capacity approve`: which review is theirs",
  "public.decide_by_token": "the customer's link",
  "billing.confirm": "a payment",
  "provisioning.complete": "a job that succeeded",
  "provisioning.give_up": "a job that was given up",
  "provisioning.record_outcome": "a person who says how a job ended",
  "capacity.timer_expire": "the timer that ends the customer's time",
  "capacity.submit": "a submission",
  "capacity.approve_by_rule": "rules that approve automatically",
  "capacity.post_notice": "nudges, warnings and other notices",
  "capacity.count_act": "things counted outside the log, such as a refund",
  "capacity.story_now": "messages that show the current state",
  "capacity.asked_people": "whom messages name",
  "public.preview_capacity_request": "a preview",
  "capacity.pending_approvals": "the page of a request",
  "capacity.waits_on": "whom a request waits on",
  "capacity.list_requests": "lists",
  "inbound.slack_list": "lists in Slack",
  "capacity.fixers": "who can reach a customer",
  "capacity.event_verdict": "the verdict on a decision, beforehand",
  "capacity.verdicts_of": "who can decide instead",
  "public.capacity_verdicts": "the verdicts on a request",
};

/** Parts of the path, which call each other. */
const path = new Set(["capacity.decide", "capacity.decide_as_caller", "capacity.load_context", "capacity.judge"]);

interface Placed {
  readonly step: Step;
  readonly passes: readonly string[];
  readonly ran: readonly Statement[];
}

const repository = fileURLToPath(new URL("../../", import.meta.url));

export async function describeDecision(client: Client): Promise<string> {
  const walk = await walkDecision(client);
  const source = await readSource(client);
  const placed = withoutOthers(steps.map((step) => ({ step, ...placeOf(step, walk, source) })));
  const unplaced = [...walk.passed].filter((name) => !placed.some(({ passes }) => passes.includes(name)));
  if (unplaced.length > 0)
    throw new Error(`On the path of a decision, in no step of scripts/gen/decision.ts: ${unplaced.join(", ")}`);
  const statements = walk.statements.length;
  return [
    "# The path of one decision",
    "",
    "<!-- Generated by `npm run gen` from a walk in the database: scripts/gen/decision.ts. Do not edit. -->",
    "",
    `The first approval of a request, by a member who is signed in: ${walk.passed.size} functions, ${statements} statements, one transaction. What is listed was counted`,
    "while it ran: every function that was called and every table that was used, except in the server's own checks of foreign keys.",
    "",
    ...placed.flatMap(({ step, passes, ran }, index) => linesOf(step, passes, ran, index)),
    "",
    "A caller who waited for the lock is judged by the state once they have it. A refusal at any step leaves nothing behind; a repeat is answered with who",
    "decided and when, and writes nothing. Notifications and rows are part of the transaction, and relays send them after its commit.",
    "",
    "## Other callers",
    "",
    "`decide` is the three steps `load_context`, `judge` and `apply` for an actor whom the entry point has verified; `context_of` reads without the lock, for callers that only read.",
    "",
    ...table(["who", "where", "asks"], usersOf(source)),
    "",
  ].join("\n");
}

/** Functions that the entry point calls again only after other steps belong to those steps. */
function withoutOthers(placed: readonly Placed[]): Placed[] {
  const theirs = new Set(placed.slice(1).flatMap(({ passes }) => passes));
  return placed.map((place, index) =>
    index > 0 ? place : { ...place, passes: place.passes.filter((name) => !theirs.has(name)) },
  );
}

function linesOf(
  { name, functions, about }: Step,
  passes: readonly string[],
  ran: readonly Statement[],
  index: number,
): string[] {
  const others = passes.filter((passed) => !functions.includes(passed));
  return [
    `${index + 1}. **${name}**, ${functions.map(linkTo).join(", ")}: ${about}`,
    ...(others.length === 0 ? [] : [`   - passes ${others.map(linkTo).join(", ")}`]),
    ...[...Map.groupBy(ran, ({ stack }) => stack[0] ?? "")].map(
      ([by, its]) => `   - in \`${by}\`: ${its.map(wordsOf).join("; ")}`,
    ),
  ];
}

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

function wordsOf({ reads, writes, locks }: Statement): string {
  return [
    ...(reads.length > 0 ? [`${locks ? "locks a row, on a condition: reads" : "reads"} ${listed(reads)}`] : []),
    ...(writes.length > 0 ? [`writes ${listed(writes)}`] : []),
  ].join(" and ");
}

/** The calls of each function, in the order of its text. */
type Source = ReadonlyMap<string, readonly string[]>;

async function readSource(client: Client): Promise<Source> {
  const { rows } = await client.query<{ name: string; text: string }>(
    `select n.nspname || '.' || p.proname as name, string_agg(p.prosrc, E'\\n') as text
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = any (array['headroom', 'outbox', 'webhooks', 'payments', 'ledger', 'directory', 'notify', 'capacity', 'provisioning',
                                   'billing', 'inbound', 'public'])
      group by 1 order by 1`,
  );
  const names = new Set(rows.map(({ name }) => name));
  return new Map(
    rows.map(({ name, text }) => [
      name,
      [...text.replaceAll(/--.*$/gm, "").matchAll(/\b([a-z_]+\.[a-z_0-9]+) ?\(/g)]
        .map(([, called = ""]) => called)
        .filter((called) => names.has(called) && called !== name),
    ]),
  );
}

/** The functions and statements of a step. */
function placeOf(step: Step, walk: DecisionWalk, source: Source): { passes: string[]; ran: Statement[] } {
  const elsewhere = new Set(steps.filter((other) => other !== step).flatMap(({ functions }) => functions));
  const passes = new Set<string>();
  const follow = (name: string): void => {
    if (passes.has(name) || elsewhere.has(name) || !walk.passed.has(name)) return;
    passes.add(name);
    (source.get(name) ?? []).forEach(follow);
  };
  step.functions.forEach(follow);
  const begins = new Set(steps.flatMap(({ functions }) => functions));
  const ran = walk.statements.filter(({ stack }) =>
    step.functions.includes(stack.find((name) => begins.has(name)) ?? ""),
  );
  const touches = ran.some(({ writes }) => writes.length > 0) ? "write" : ran.length > 0 ? "read" : "nothing";
  const order = ["nothing", "read", "write"];
  if (order.indexOf(touches) > order.indexOf(step.may)) {
    throw new Error(`The step "${step.name}" may ${step.may}, but runs a statement that does more (${touches}).`);
  }
  return { passes: [...passes], ran };
}

function usersOf(source: Source): string[][] {
  const asking = [...source].flatMap(([name, calls]) => {
    const what = asked.filter((one) => calls.includes(one));
    return what.length === 0 || path.has(name) || name === steps[0]?.functions[0] ? [] : [{ name, what }];
  });
  const unknown = asking.filter(({ name }) => users[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`scripts/gen/decision.ts does not say who asks by ${unknown.map(({ name }) => name).join(", ")}.`);
  return asking
    .toSorted((a, b) => asked.indexOf(a.what[0] ?? "") - asked.indexOf(b.what[0] ?? "") || (a.name < b.name ? -1 : 1))
    .map((one) => [
      users[one.name] ?? "",
      linkTo(one.name),
      listed(one.what.map((what) => what.replace("capacity.", ""))),
    ]);
}

/** One function, one file: its name, in a folder of its schema. */
function linkTo(name: string): string {
  const [schema = "", called = ""] = name.split(".");
  const files = globSync(`sql/functions/${schema}/**/${called}.sql`, { cwd: repository }).map((file) => join(file));
  const file = files.find((found) => basename(found) === `${called}.sql`);
  if (file === undefined) throw new Error(`${name} has no file under sql/functions/${schema}/.`);
  return `[\`${name}\`](../${file})`;
}
