/**
 * The verdict about notifications, from three sides: the answers to callers, the database, and what the mail server, Postal
 * and Slack accepted. None of them knows what was done to the others.
 */
import { verify } from "../../../src/capacity/verify.ts";
import { findViolations } from "../../helpers/invariants.ts";
import type { Findings } from "../kit/findings.ts";
import { noteVerify } from "../kit/verify.ts";
import { nameOf, numbersIn, type Told } from "./crowd.ts";
import type { Arrived } from "./outside-child.ts";
import { judgeSending, type SentRow } from "./oracle-sending.ts";
import type { NotificationsStage } from "./stage.ts";

export interface Part {
  readonly id: string;
  readonly key: string;
  readonly recipient: string;
  readonly channel: "in-app" | "email" | "slack";
  readonly state: string;
  readonly stage: string;
  readonly outbox_id: string | null;
}

interface Notification {
  readonly id: string;
  readonly key: string;
  readonly recipient: string;
  readonly channels: readonly string[];
  readonly status: string;
  readonly inbox: number;
  readonly expiresAtMs: number;
}

/** The invariants once everything has come to rest. */
export async function judge(stage: NotificationsStage, told: readonly Told[], findings: Findings): Promise<void> {
  const arrived = await stage.outside.ask("arrived");
  const notifications = await stage.rows<Notification>(notificationsQuery);
  const parts = await stage.rows<Part>(partsQuery);
  const sent = await stage.rows<SentRow>(sentQuery);
  judgeTold(told, notifications, findings);
  judgeParts(notifications, parts, findings);
  await judgeStatuses(stage, notifications, parts, findings);
  judgeArrived({ told, parts, sent, arrived, everybody: stage.everybody }, findings);
  judgeSending(
    { told, expiry: new Map(notifications.map((each) => [each.key, each.expiresAtMs])), sent, arrived },
    findings,
  );
  for (const { what } of await stage.rows<{ what: string }>(stuckQuery)) findings.add("nothing is stuck", what);
  for (const { what } of await stage.rows<{ what: string }>(suppressedQuery))
    findings.add("nothing goes to an address that is suppressed", what);
  await noteVerify(stage, [verify], findings);
  await findInEngine(stage, findings);
}

/** The invariants of the engine under it. */
async function findInEngine(stage: NotificationsStage, findings: Findings): Promise<void> {
  const client = await stage.connect();
  try {
    for (const { invariant, subject, detail } of await findViolations(client))
      findings.add(invariant, `${subject} ${detail}`);
  } finally {
    await client.end();
  }
}

/** The answers to callers are one notification for each person and key; a rolled-back one does not exist. */
function judgeTold(told: readonly Told[], notifications: readonly Notification[], findings: Findings): void {
  const invariant = "each person and key is one notification";
  const here = Map.groupBy(notifications, ({ recipient, key }) => `${recipient}/${key}`);
  for (const { key, who, ids, isTakenBack } of told) {
    const found = here.get(`${who.id}/${key}`) ?? [];
    if (isTakenBack) {
      if (found.length > 0) findings.add("what was rolled back was never said", `${who.id}/${key}`);
      continue;
    }
    const isOne = found.length === 1 && ids.size === 1 && ids.has(found[0]?.id ?? "");
    if (!isOne)
      findings.add(invariant, `${who.id}/${key}: ${found.length} here, callers were answered ${ids.size} ids`);
  }
}

/** Each is sent once by each of its channels, and is in the inbox once. */
function judgeParts(notifications: readonly Notification[], parts: readonly Part[], findings: Findings): void {
  const of = Map.groupBy(parts, ({ id }) => id);
  for (const { id, key, recipient, channels, inbox } of notifications) {
    const own = of.get(id) ?? [];
    const ways = own.map(({ channel }) => channel).toSorted();
    if (ways.join() !== channels.toSorted().join())
      findings.add("nothing is lost", `${recipient}/${key}: meant for ${channels.join()}, goes by ${ways.join()}`);
    const shown = own.filter(({ state }) => state === "shown").length;
    const isWanted = own.some(({ channel, stage }) => channel === "in-app" && stage !== "preference");
    if (inbox !== (isWanted ? 1 : 0) || shown !== inbox)
      findings.add("in the inbox it stands once", `${recipient}/${key}: ${inbox} times`);
  }
}

interface Rule {
  readonly stage: string;
  readonly status: string;
  readonly finished: boolean;
  readonly rank: number;
}

/** The status over all channels: the worst unfinished one, otherwise the best; everything is finished by now. */
async function judgeStatuses(
  stage: NotificationsStage,
  notifications: readonly Notification[],
  parts: readonly Part[],
  findings: Findings,
): Promise<void> {
  const rules = new Map(
    (await stage.rows<Rule>("select stage, status, finished, rank from notify.status_rules()")).map((rule) => [
      rule.stage,
      rule,
    ]),
  );
  const of = Map.groupBy(parts, ({ id }) => id);
  for (const { id, key, recipient, status } of notifications) {
    const own = of.get(id) ?? [];
    for (const part of own) {
      if (rules.get(part.stage)?.finished !== true)
        findings.add("nothing is lost", `${recipient}/${key} by ${part.channel} ended as ${part.stage}`);
    }
    const known = own.flatMap((part) => rules.get(part.stage) ?? []);
    const best = known.toSorted((one, other) => other.rank - one.rank)[0];
    const isRight = known.some(({ finished }) => !finished) || status === (best?.status ?? "failed");
    if (!isRight) findings.add("the status follows from the channels", `${recipient}/${key} is ${status}`);
  }
}

interface Scene {
  readonly told: readonly Told[];
  readonly parts: readonly Part[];
  readonly sent: readonly SentRow[];
  readonly arrived: readonly Arrived[];
  readonly everybody: NotificationsStage["everybody"];
}

const place = (recipient: string, channel: string, number: number): string => `${recipient} ${channel} ${number}`;

/** The arrivals match the sends: one, plus at most one for each recorded lost answer. */
function judgeArrived({ told, parts, sent, arrived, everybody }: Scene, findings: Findings): void {
  const byAddress = new Map(
    everybody.flatMap(({ id, email, slackUserId }) => [[email, id] as const, [slackUserId, id]]),
  );
  const copies = new Map<string, Arrived[]>();
  for (const each of arrived) {
    for (const number of numbersIn(each.text)) {
      const where = place(byAddress.get(each.to) ?? each.to, each.channel, number);
      copies.set(where, [...(copies.get(where) ?? []), each]);
    }
  }
  const rows = new Map<string, SentRow[]>();
  for (const row of sent) {
    for (const number of numbersIn(row.payload)) {
      const where = place(row.recipient, row.channel, number);
      rows.set(where, [...(rows.get(where) ?? []), row]);
    }
  }
  const cut = new Set(
    sent.flatMap(({ outbox_id: id, payload }) => (payload.includes("more, which you find in") ? [id] : [])),
  );
  const partOf = new Map(parts.map((part) => [`${part.recipient} ${part.channel} ${part.key}`, part]));
  for (const { number, key, who } of told) {
    for (const channel of ["email", "slack"] as const) {
      const where = place(who.id, channel, number);
      const part = partOf.get(`${who.id} ${channel} ${key}`);
      judgeCopies({
        name: `${nameOf(number)} to ${who.id} by ${channel}`,
        part,
        isCut: part?.outbox_id !== undefined && cut.has(part.outbox_id ?? ""),
        copies: copies.get(where) ?? [],
        rows: rows.get(where) ?? [],
        findings,
      });
      copies.delete(where);
    }
  }
  for (const where of copies.keys()) findings.add("nobody is told what was not meant for them", where);
}

interface Copies {
  readonly name: string;
  readonly part: Part | undefined;
  readonly isCut: boolean;
  readonly copies: readonly Arrived[];
  readonly rows: readonly SentRow[];
  readonly findings: Findings;
}

function judgeCopies({ name, part, isCut, copies, rows, findings }: Copies): void {
  const marks = rows.reduce((sum, row) => sum + row.marks, 0);
  const ended = part?.stage ?? "nothing";
  // Each message may arrive one more time if that is recorded, however often its outcome was unknown.
  if (copies.length > 1 + Math.min(marks, rows.length))
    findings.add(
      "others arrive once, and a second time only if that is recorded as uncertain",
      `${name}: ${copies.length} times, ${marks} marks, ${rows.length} messages, ${ended}`,
    );
  if (part === undefined || part.state === "dropped") {
    if (copies.length > marks)
      findings.add("what was dropped was not sent", `${name}: ${copies.length} times, ${ended}`);
    return;
  }
  const row = rows.find(({ outbox_id: id }) => id === part.outbox_id);
  // A long digest names its first notifications, and says that there are more.
  const isNamed = row !== undefined;
  if (!isNamed && !isCut)
    findings.add("nothing is lost", `${name} is said to be in ${part.outbox_id}, which does not tell it`);
  const took = ended === "sent" || ended === "delivered" || ended === "bounced" || ended === "complained";
  if (took && isNamed && copies.length === 0 && row.code !== "recipient_refused")
    findings.add("what was sent has arrived", `${name}: ${ended}`);
  if (ended === "given_up" && copies.length > marks)
    findings.add(
      "what was given up did not arrive, or is uncertain",
      `${name}: ${copies.length} times, ${marks} marks`,
    );
  const reports = copies.flatMap(({ reported, outboxId }) => (outboxId === part.outbox_id ? (reported ?? []) : []));
  const expected = reports.includes("bounced") ? "bounced" : reports.includes("sent") ? "delivered" : ended;
  if (ended !== expected && row?.code !== "recipient_refused")
    findings.add("the status is what Postal says", `${name}: ${ended}, and Postal says ${reports.join()}`);
}

const notificationsQuery = `
  select n.id, n.idempotency_key as key, n.recipient, n.channels, o.status, extract(epoch from n.expires_at)::float8 * 1000 as "expiresAtMs",
         (select count(*)::integer from notify.shown s where s.notification_id = n.id) as inbox
    from notify.notifications n join public.notification_outbox o on o.id = n.id`;

const partsQuery = `
  select n.id, n.idempotency_key as key, n.recipient, p.channel, p.state, s.stage, d.outbox_id
    from notify.notifications n
    join notify.parts p on p.notification_id = n.id
    join notify.part_stages s on s.notification_id = p.notification_id and s.channel = p.channel
    left join notify.deliveries d on d.id = p.delivery_id`;

const sentQuery = `
  select d.outbox_id, d.channel, d.recipient, m.payload::text as payload, r.name as rail, x.error_code as code,
         (select count(*)::integer from outbox.attempts a
           where a.outbox_id = d.outbox_id and (a.state = 'ZOMBIE_REQUEUE' or a.error_code = 'outcome_unknown')) as marks,
         array(select extract(epoch from a.recorded_at)::float8 * 1000 from outbox.attempts a
                where a.outbox_id = d.outbox_id and a.state = 'DISPATCHING' order by a.attempt_no) as "triesAtMs"
    from notify.deliveries d
    join outbox.payloads m on m.outbox_id = d.outbox_id
    join outbox.rails r on r.rail_id = m.rail_id
    left join outbox.dead x on x.outbox_id = d.outbox_id`;

/** The items that have not come to rest, one row each. */
export const stuckQuery = `
  select format('%s by %s is held until %s', n.idempotency_key, p.channel, p.due_at) as what
    from notify.parts p join notify.notifications n on n.id = p.notification_id where p.state = 'held'
  union all select format('row %s waits until %s, after %s tries', u.outbox_id, u.due, u.tries) from outbox.pending_unordered u
  union all select format('claim %s is open', c.claim_id) from outbox.claims c
  union all select format('nobody has followed the end of %s', e.outbox_id) from notify.endings e`;

/**
 * Compares by person, whatever the spelling of the address: nobody has two here. Three seconds are allowed for a transaction that
 * suppresses an address, or by one that did not see it yet.
 */
const suppressedQuery = `
  select format('a mail to %s, tried %s after', d.recipient, a.recorded_at - s.since) as what
    from (select distinct s.since, s.lifted_at, b.recipient from notify.suppressions s
            join notify.deliveries b on b.workspace_id = s.workspace_id and b.address_mark = s.address_mark) s
    join notify.deliveries d on d.recipient = s.recipient and d.channel = 'email'
    join outbox.attempts a on a.outbox_id = d.outbox_id and a.state = 'DISPATCHING'
   where a.recorded_at > s.since + interval '3 s' and a.recorded_at < coalesce(s.lifted_at, 'infinity')`;
