/**
 * Calls as Globex's people, through the gateway's login, and removes from an answer what may differ between two calls: times, random ids,
 * and what the caller said themselves.
 *
 * Does not own: the calls, nor the expected answers.
 */
import type { ClientBase, QueryResult } from "pg";
import { oneOf, rowsOf, type Queryable } from "../../outbox/queries.ts";
import { sign } from "../../inbound/slack/slack.ts";
import { settingsOf, type Session } from "../gateway.ts";
import { fillProbe, type Filled, type Probe } from "./hostile-probes.ts";
import type { Things } from "./hostile-workspaces.ts";

export interface Asked {
  /** The answer as it came, with the caller's own input replaced by `<thing>`. */
  readonly said: string;
  /** Rows read and written, by table, when the caller wants them. */
  readonly work: string;
  /** The forms and notes that it sent in Slack, when the call was committed. */
  readonly sent: string;
}

export interface Asking {
  readonly client: ClientBase;
  readonly own: Things;
  /** Commits the call, and inspects with this what it sent. Default: the call is rolled back. */
  readonly keep?: Queryable;
  /** Only on a client that was prepared for it with `prepareToMeasure`. */
  readonly measure?: boolean;
}

/** One call in a transaction of its own. */
export async function ask(
  { client, own, keep, measure = false }: Asking,
  session: Session,
  probe: Probe,
  things: Things,
): Promise<Asked> {
  const filled = fillProbe(probe, things, own);
  const { text, values } = statementOf(probe, filled);
  const mark = keep === undefined ? null : await oneOf<{ at: string }>(keep, "select clock_timestamp()::text as at");
  const settings = {
    // A call that waited for another's row would fail because it is locked (55P03).
    lock_timeout: "250ms",
    "request.path": `/rpc/${probe.of}`,
    "request.headers": JSON.stringify(headersOf(probe, filled)),
    ...settingsOf(session),
  };
  const sets = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', ${client.escapeLiteral(value)}, true)`,
  );
  // In three messages, because there are thousands of calls.
  await client.query(`begin; select ${sets.join(", ")}; savepoint asked`);
  const ending = [...(measure ? [readTouched] : []), keep === undefined ? "rollback" : "commit", countAnew];
  const said = await rowsOf(client, text, values).then(
    (rows) => JSON.stringify({ rows }),
    ({ code, message, detail, hint }: Record<string, unknown>) => {
      ending.unshift("rollback to savepoint asked");
      return JSON.stringify({ code, message, detail, hint });
    },
  );
  const ended = (await client.query(ending.join("; "))) as unknown as QueryResult<Touched>[];
  const work = linesOf(ended[ending.indexOf(readTouched)]?.rows ?? []);
  const sent = keep === undefined ? [] : await rowsOf(keep, interactions, [mark?.at]);
  return { said: withoutNamed(said, filled), work, sent: withoutNamed(JSON.stringify(sent), filled) };
}

const interactions = `
select m.payload from outbox.payloads m join outbox.streams s on s.stream_id = m.stream_id and s.name = 'interactions'
 where m.created_at > $1 order by m.created_at`;

function statementOf({ of, kind }: Probe, { values }: Filled): { text: string; values: unknown[] } {
  const names = [...values.keys()];
  const list = names.map((name, index) => (kind === "view" ? `${name} = $${index + 1}` : argument(name, index)));
  const where = list.length === 0 ? "" : ` where ${list.join(" and ")}`;
  const text =
    kind === "view"
      ? `select * from public.${of} v${where} order by ${orders[of] ?? "v::text"}`
      : `select * from public.${of}(${list.join(", ")})`;
  return { text, values: names.map((name) => values.get(name)) };
}

/** Sorted by what does not differ between installations. */
const orders: Readonly<Record<string, string>> = {
  capacity_requests: "created_at",
  capacity_request_events: "created_at, seq",
  notification_outbox: "created_at",
};

const argument = (name: string, index: number): string => (name.startsWith("$") ? name : `${name} => $${index + 1}`);

/** Slack's deliveries are signed with Slack's secret; all others by somebody who does not know the secret. */
function headersOf({ of }: Probe, { values }: Filled): Readonly<Record<string, string>> {
  const body = values.get("$1");
  if (of === "handle_slack_webhook" && typeof body === "string") {
    // Ahead of the clock, so that a form is not late on a slow machine.
    return sign(body, { at: Math.floor(Date.now() / 1000) + 60 }).headers;
  }
  return unsigned[of]?.() ?? {};
}

const unsigned: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  handle_linear_webhook: () => ({ "linear-signature": "0".repeat(64) }),
  handle_github_webhook: () => ({ "x-hub-signature-256": `sha256=${"0".repeat(64)}` }),
  handle_stripe_webhook: () => ({
    "stripe-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}`,
  }),
  handle_provisioning_callback: () => ({
    "x-headroom-timestamp": String(Math.floor(Date.now() / 1000)),
    "x-headroom-signature": `v1=${"0".repeat(64)}`,
  }),
};

/** After the transaction: what the session touches from then on is counted from nothing. */
const countAnew = "select pg_stat_force_next_flush()";

const readTouched = "execute touched";

interface Touched {
  readonly name: string;
  readonly count: number;
}

/** Prepared once, because planning it takes longer than most calls. */
export async function prepareToMeasure(client: ClientBase): Promise<void> {
  await client.query(
    `prepare touched as
     select format('%s.%s %s', s.schemaname, s.relname, c.name) as name, c.count::integer as count
       from pg_stat_xact_user_tables s
      cross join lateral (values ('sequential scans', s.seq_scan), ('rows read in sequence', s.seq_tup_read), ('index scans', s.idx_scan),
                                 ('rows by index', s.idx_tup_fetch), ('inserts', s.n_tup_ins), ('updates', s.n_tup_upd), ('deletes', s.n_tup_del)) c(name, count)
      where c.count > 0`,
  );
  await client.query(countAnew);
}

function linesOf(touched: readonly Touched[]): string {
  return (
    touched
      // The call must look the row up to find that it exists; everything else must stay within the caller's workspace.
      .filter(({ name }) => !byId.includes(name))
      .map(({ name, count }) => `${name}: ${count}`)
      .toSorted()
      .join("\n")
  );
}

const byId = ["capacity.requests rows by index", "notify.notifications rows by index"];

export function withoutNamed(said: string, { named }: Filled): string {
  let text = said;
  for (const [thing, value] of named) {
    text = text.replaceAll(value, `<${thing}>`).replaceAll(value.toUpperCase(), `<${thing}>`);
  }
  return text;
}

/** What two answers to the same question may differ in, with or without the other workspace. */
export function withoutMoments(said: string): string {
  const requests = new Map<string, string>();
  return said
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
    .replaceAll(/[0-9a-f]{64}/g, "<hash>")
    .replaceAll(/\d{13}\.\d+\.[0-9a-f]{32}/g, "<trigger>")
    .replaceAll(/whsec_[A-Za-z0-9+/=]+/g, "<secret>")
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( UTC|Z|[+-]\d\d(:\d\d)?)?/g, "<moment>")
    .replaceAll(/"\d{4}-\d\d-\d\d"/g, "<day>")
    .replaceAll(/(?<![\d.-])1[789]\d{8}(\d{6})?(\.\d+)?(?!\d)/g, "<moment>")
    .replaceAll(/("[a-z0-9]+_seconds":)[\d.e+-]+/g, "$1<seconds>")
    .replaceAll(/\d+ seconds/g, "<seconds>")
    .replaceAll(/CR-\d{4}-\d{6,}/g, (id) => {
      if (!requests.has(id)) requests.set(id, `<request ${requests.size + 1}>`);
      return requests.get(id) ?? id;
    });
}
