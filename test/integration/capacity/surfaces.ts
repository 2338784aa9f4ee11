/**
 * The workflow of workflow.ts with all its surfaces switched on: a Slack channel, a Linear team, mail, webhooks. Tests turn off what they
 * do not want, look at the outbox rows of events and notices, and let a real relay deliver them to rails that record their calls.
 *
 * Does not own: what is asserted.
 */
import { afterEach, beforeEach } from "vitest";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import { createRelay, type Json, type Rail, type Relay } from "../../../src/outbox/index.ts";
import { probeRail, type ProbeOptions, type ProbeRail } from "../outbox/relay/rails.ts";
import { until } from "../outbox/relay/stage.ts";
import { oneOf, rowsOf, startWorkflow, type Workflow } from "./harness.ts";

export const customer = { org: "org_1", name: "Initech", email: "buyer@initech.example" };

/** An outbox row of the workflow, or a notification about it, without the engine's own numbers. */
export interface Effect {
  readonly instruction: string;
  readonly effect: string;
  /** The recipient, where it is a message to a person. */
  readonly to: string | null;
  readonly rail: string;
  readonly key: string | null;
  readonly destination: string | null;
  readonly coalesce_key: string | null;
  readonly expires_at: Date | null;
  readonly captures: Json;
  readonly binds: Json;
  readonly payload: { readonly [name: string]: Json };
}

/** One person is told something by one channel. */
export interface Told {
  readonly instruction: string;
  readonly audience: string;
  readonly to: string;
  readonly channel: string;
  readonly stage: string;
  readonly title: string | null;
  readonly body: string | null;
}

export interface Surfaces extends Workflow {
  /** Changes settings of the workspace, until the end of the test. */
  settings(changes: Readonly<Record<string, string | number | boolean | null>>): Promise<void>;
  /** The outbox rows of a request, in the order in which they were enqueued. */
  effects(id: string): Promise<Effect[]>;
  /** The one row that an event or a notice made under this name (for this person, where several are told). */
  effect(instruction: string, name: string, to?: string): Promise<Effect>;
  /** Who is told what of a request, by each channel, in order. */
  toldOf(id: string): Promise<Told[]>;
  /** Sends what waits to be merged with more of the same burst. */
  release(): Promise<void>;
  /** The blocks of a request's root message, as an update of it would show them now. */
  rootNow(id: string): Promise<string>;
  /** Effects of events and notices without a row, and rows without either. Empty when I3 holds. */
  unmatched(): Promise<unknown[]>;
  /** A relay with these rails, stopped at the end of the test. Without Slack's limit of one message a second. */
  relay(...rails: Rail[]): Promise<Relay>;
  /** Resolves when nothing of the request waits any more. */
  untilFinished(id: string): Promise<void>;
}

const switchedOn = {
  public_url: "https://capacity.acme.example",
  slack_channel_id: "C0CAPACITY",
  linear_team_id: "team-1",
  warn_before_hours: 48,
  review_sla_hours: 24,
  remind_every_hours: 24,
  most_reminders: 3,
  nudge_every_minutes: 60,
};

/** Call it while tests are being collected. */
export async function startSurfaces(version: EmbeddedVersion): Promise<Surfaces> {
  const workflow = await startWorkflow(version);
  const relays = new Set<Relay>();
  const settings: Surfaces["settings"] = async (changes) => {
    const names = Object.keys(changes);
    await rowsOf(
      workflow.superuser,
      `update directory.workspaces set ${names.map((name, index) => `${name} = $${index + 1}`).join(", ")} where id = 'acme'`,
      Object.values(changes),
    );
  };
  beforeEach(async () => {
    await settings(switchedOn);
    await rowsOf(workflow.superuser, "delete from capacity.subscriptions");
    await rowsOf(
      workflow.superuser,
      "insert into capacity.subscriptions (workspace_id, endpoint) values ('acme', 'billing')",
    );
  });
  afterEach(async () => {
    const open = [...relays];
    relays.clear();
    await Promise.all(open.map((relay) => relay.stop()));
  });
  return Object.assign(workflow, {
    settings,
    effects: (id: string) =>
      rowsOf<Effect>(
        workflow.superuser,
        `${effectsQuery} where m.instruction ~ ('^' || $1 || '[#!]') order by m.created_at, m.outbox_id`,
        [id],
      ),
    effect: (instruction: string, name: string, to?: string) =>
      oneOf<Effect>(
        workflow.superuser,
        `${effectsQuery} where m.instruction = $1 and m.effect = $2 and ($3::text is null or m.to = $3)`,
        [instruction, name, to ?? null],
      ),
    toldOf: (id: string) => rowsOf<Told>(workflow.superuser, toldQuery, [id]),
    async release() {
      await rowsOf(workflow.superuser, "update notify.parts set due_at = now() where state = 'held'");
      await rowsOf(workflow.superuser, "select notify.release(1000)");
    },
    async rootNow(id: string) {
      const { blocks } = await oneOf<{ blocks: Json }>(
        workflow.superuser,
        "select capacity.slack_root_now(jsonb_build_object('request', $1::text)) -> 'blocks' as blocks",
        [id],
      );
      return JSON.stringify(blocks);
    },
    unmatched: () => rowsOf(workflow.superuser, unmatchedQuery),
    async relay(...rails: Rail[]) {
      await rowsOf(workflow.superuser, "update outbox.limits set min_interval_ms = 0");
      const relay = createRelay({
        connectionString: workflow.db.as("headroom_executor").url,
        rails,
        streams: ["capacity", "people"],
        pollMs: 250,
      });
      relays.add(relay);
      await relay.start();
      return relay;
    },
    async untilFinished(id: string) {
      await until(
        () => rowsOf<{ key: string }>(workflow.superuser, waitingQuery, [id]),
        (waiting) => waiting.length === 0,
        `everything of ${id} to be finished`,
      );
    },
  });
}

/**
 * A notification's row is named after the notification: a message that merges several is listed for each. A message added to a surface is
 * shown as it would be sent now; an update of one, as the row has it.
 */
const effectsQuery = `
  select m.instruction, m.effect, m.to, m.rail, m.key, m.destination, m.coalesce_key, m.expires_at, m.captures, m.binds, m.payload
    from (select coalesce(split_part(n.idempotency_key, '/', 1), m.instruction_id) as instruction,
                 coalesce('tell:' || split_part(split_part(n.idempotency_key, '/', 2), ':', 1), m.idempotency_key) as effect,
                 n.recipient as to, r.name as rail, l.key, d.name as destination, m.coalesce_key, m.expires_at, m.captures, m.binds,
                 case when (m.coalesce_key is null or m.captures is not null) and m.binds -> 0 ? 'renderer'
                      then outbox.rendered(m.stream_id, m.binds #>> '{0,renderer}', m.payload) else m.payload end as payload,
                 m.created_at, m.outbox_id
            from outbox.payloads m
            join outbox.rails r on r.rail_id = m.rail_id
            left join outbox.lanes l on l.lane_id = m.lane_id
            left join outbox.destinations d on d.destination_id = m.destination_id
            left join notify.deliveries v on v.outbox_id = m.outbox_id
            left join notify.parts p on p.delivery_id = v.id
            left join notify.notifications n on n.id = p.notification_id) m`;

const toldQuery = `
  select split_part(n.idempotency_key, '/', 1) as instruction, split_part(n.idempotency_key, '/', 2) as audience, n.recipient as to,
         s.channel, s.stage, n.title, n.body
    from notify.notifications n join notify.part_stages s on s.notification_id = n.id
   where n.about = $1 order by n.created_at, n.recipient, n.idempotency_key, s.channel`;

const waitingQuery = `
  select l.key from outbox.pending p join outbox.lanes l on l.lane_id = p.lane_id join outbox.payloads m on m.outbox_id = p.outbox_id
   where m.instruction_id ~ ('^' || $1 || '[#!]')
  union all
  select d.channel from notify.deliveries d
    join notify.parts p on p.delivery_id = d.id
    join notify.notifications n on n.id = p.notification_id
   where n.about = $1 and (exists (select from outbox.pending_unordered u where u.outbox_id = d.outbox_id)
                           or outbox.in_flight_or_finished(d.outbox_id) = 'in_flight')`;

/** Compares the two whole sets, so that neither side can hide in how the other is looked up. */
const unmatchedQuery = `
  with named as (
    select e.request_id || '#' || e.seq as instruction, f.effect from capacity.events e cross join lateral unnest(e.effects) f(effect)
    union all
    select n.request_id || '!' || n.id, f.effect from capacity.notices n cross join lateral unnest(n.effects) f(effect)
  ), rows as (
    select m.instruction_id as instruction, m.idempotency_key as effect
      from outbox.payloads m join outbox.streams s on s.stream_id = m.stream_id and s.name = 'capacity'
    union all
    select distinct split_part(n.idempotency_key, '/', 1), 'tell:' || split_part(split_part(n.idempotency_key, '/', 2), ':', 1)
      from notify.notifications n where n.cause in (select c.cause from capacity.tells c) and n.about is not null
  )
  (select 'without a row' as what, * from named except all select 'without a row', * from rows)
  union all
  (select 'without an event', * from rows except all select 'without an event', * from named)`;

/** A rail with a real one's name and abilities; it delivers everything unless told otherwise. */
export function surfaceRail(name: "slack" | "linear" | "email" | "webhook", options: ProbeOptions = {}): ProbeRail {
  const capabilities = { slack: "lookup", linear: "lookup", email: "blind", webhook: "idempotent" } as const;
  const timeouts = { slack: 10_000, linear: 10_000, email: 30_000, webhook: 15_000 } as const;
  const capability = capabilities[name];
  return probeRail({
    name,
    capability,
    timeoutMs: timeouts[name],
    ...(capability === "lookup" ? { lookup: () => ({ kind: "absent" }) } : {}),
    ...options,
  });
}

/** Answers as Slack does: with the number of the message. */
export function slackRail(options: ProbeOptions = {}): ProbeRail {
  return surfaceRail("slack", {
    send: (message) => ({ kind: "delivered", response: { ok: true, ts: `1700000000.00000${message.seq}` } }),
    ...options,
  });
}

/** Answers an operation of Linear as its rail will: with what the mutation returned. */
export function linearRail(options: ProbeOptions = {}): ProbeRail {
  return surfaceRail("linear", {
    send: (message) => {
      const { operation, input } = message.payload as { operation: string; input: { id?: string } };
      return {
        kind: "delivered",
        ...(operation === "issueCreate" ? { response: { success: true, issue: { id: input.id ?? "" } } } : {}),
      };
    },
    ...options,
  });
}

/** The calls that a rail got for one request; rows of other tests are delivered as well. */
export function sentFor<Payload>(rail: ProbeRail, id: string): Payload[] {
  return rail.sent
    .filter(({ key, payload }) => (key === null ? JSON.stringify(payload).includes(id) : key.split(":").includes(id)))
    .map(({ payload }) => payload as Payload);
}
