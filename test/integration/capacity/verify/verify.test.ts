/**
 * Verification finds changes to the log, the requests and the messages that were made behind the functions' back, and nothing else.
 *
 * A superuser makes each change with triggers switched off, in a transaction that is rolled back afterwards.
 */
import type { ClientBase } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { seedCapacity } from "../../../../scripts/seed-capacity/seed.ts";
import {
  listHeads,
  noCounts,
  verify,
  verifyHeads,
  type Finding,
  type Head,
  type VerifyOptions,
} from "../../../../src/capacity/index.ts";
import { createTestDatabase, POSTGRES_VERSIONS, type TestDatabase } from "../../../helpers/database.ts";
import { Engine, oneOf } from "../../outbox/harness.ts";

const requests = 40;
const events = 6;

async function findingsOf(db: ClientBase, options: VerifyOptions = {}): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const batch of verify(db, options)) found.push(...batch.findings);
  return found;
}

/** `I2 hash_differs CR-2026-000001#3`, sorted. */
function briefly(findings: readonly Finding[]): string[] {
  return findings.map(({ invariant, code, subject }) => `${invariant} ${code} ${subject}`).toSorted();
}

async function tampered<T>(db: TestDatabase, work: (client: ClientBase) => Promise<T>): Promise<T> {
  const client = await db.superuser.pool.connect();
  try {
    await client.query("begin; set local session_replication_role = replica");
    return await work(client);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

/** A completed request, the outbox row of its third event, and a note about it. */
interface Victim {
  readonly id: string;
  readonly outboxId: string;
  readonly laneId: number;
  readonly noteId: number;
}

async function findVictim(db: TestDatabase): Promise<Victim> {
  const found = await oneOf<Omit<Victim, "noteId">>(
    db.superuser.pool,
    `select m.outbox_id as "outboxId", m.lane_id as "laneId", r.id
       from capacity.requests r join outbox.payloads m on m.instruction_id = r.id || '#3'
      where r.state = 'COMPLETED' order by r.id limit 1`,
  );
  const note = await oneOf<{ id: number }>(
    db.superuser.pool,
    `insert into capacity.notices (request_id, id, kind, actor_type, actor_id, via, body_hash)
     values ($1, 1, 'note', 'user', 'owner-1', 'web', capacity.put_free_text($1, '"It is urgent."')) returning id`,
    [found.id],
  );
  return { ...found, noteId: note.id };
}

/** The change, and everything found then. `{id}`, `{row}` and `{lane}` stand for the changed ones. */
const deeds: readonly (readonly [name: string, statement: string, findings: readonly string[]])[] = [
  [
    "a tampered event",
    `update capacity.events set payload = payload || '{"reason": "bribed"}' where request_id = '{id}' and seq = 3`,
    ["I2 hash_differs {id}#3"],
  ],
  [
    "another actor for an event",
    "update capacity.events set actor_id = 'mallory' where request_id = '{id}' and seq = 2",
    ["I1 projection_differs {id}", "I2 hash_differs {id}#2"],
  ],
  [
    "other terms in the submission",
    `update capacity.events set payload = jsonb_set(payload, '{quantity}', '9999') where request_id = '{id}' and seq = 1`,
    ["I1 projection_differs {id}", "I2 hash_differs {id}#1"],
  ],
  [
    "a missing event",
    "delete from capacity.events where request_id = '{id}' and seq = 2",
    [
      "I1 projection_differs {id}",
      "I2 event_missing {id}#3",
      "I2 events_missing {id}",
      "I3 outbox_row_extra {row of 2}",
    ],
  ],
  [
    "a missing last event",
    `delete from capacity.events where request_id = '{id}' and seq = ${events}`,
    [
      "I1 projection_differs {id}",
      "I2 events_missing {id}",
      "I2 head_differs {id}",
      `I3 outbox_row_extra {row of ${events}}`,
    ],
  ],
  [
    "an edited projection",
    "update capacity.requests set quantity = quantity + 1 where id = '{id}'",
    ["I1 projection_differs {id}"],
  ],
  [
    "a projection set back to an earlier state",
    "update capacity.requests set state = 'PROVISIONING' where id = '{id}'",
    ["I1 projection_differs {id}"],
  ],
  [
    "a broken chain",
    "update capacity.events set hash = sha256('x') where request_id = '{id}' and seq = 3",
    ["I2 hash_differs {id}#3", "I2 hash_differs {id}#4"],
  ],
  ["moving", "update capacity.events set workspace_id = 'x' where request_id = '{id}'", ["I2 workspace_differs {id}"]],
  ["a deleted request", "delete from capacity.requests where id = '{id}'", ["I2 request_missing {id}"]],
  [
    "events that no longer add up",
    `update capacity.events set payload = jsonb_set(payload, '{quantity}', '"many"') where request_id = '{id}' and seq = 1`,
    ["I1 events_do_not_add_up {id}", "I2 hash_differs {id}#1"],
  ],
  [
    "another customer",
    `update capacity.personal_data set customer_ref = '{"name": "Other"}' where request_id = '{id}'`,
    ["I1 customer_differs {id}"],
  ],
  [
    "a payload that was changed",
    `update outbox.payloads set payload = payload || '{"to": "mallory"}' where outbox_id = '{row}'`,
    ["I4 payload_differs {row}"],
  ],
  [
    "a line that refers to another payload",
    "update outbox.attempts set payload_hash = sha256('x') where outbox_id = '{row}' and attempt_no = 1",
    ["I4 payload_differs {row}"],
  ],
  [
    "a payload that was erased without its salt",
    "update outbox.payloads set payload = null, erased_at = now() where outbox_id = '{row}'",
    ["I4 payload_differs {row}"],
  ],
  [
    "words put into somebody's mouth",
    `update capacity.free_texts set content = '"bribed"' where request_id = '{id}'`,
    ["I1 text_differs {id}!{note}"],
  ],
  ["words taken away", "delete from capacity.free_texts where request_id = '{id}'", ["I1 text_missing {id}!{note}"]],
  [
    "words that nobody erased",
    "update capacity.free_texts set salt = null, content = null where request_id = '{id}'",
    ["I1 text_missing {id}!{note}"],
  ],
  [
    "a missing confirmation token",
    "delete from capacity.confirmation_tokens where request_id = '{id}'",
    ["I1 token_missing {id}"],
  ],
  [
    "a missing outbox row",
    "delete from outbox.dedupe where outbox_id = '{row}'; delete from outbox.payloads where outbox_id = '{row}'; delete from outbox.attempts where outbox_id = '{row}'",
    ["I3 outbox_row_missing {id}#3", "I5 number_missing {row of 4}"],
  ],
  [
    "a lost outbox row",
    "delete from outbox.payloads where outbox_id = '{row}'",
    ["I3 key_without_row {id}#3", "I3 outbox_row_lost {id}#3", "I5 number_missing {row of 4}", "I6 row_missing {row}"],
  ],
  [
    "an outbox row of an event that does not exist",
    "update outbox.payloads set instruction_id = '{id}#99' where outbox_id = '{row}'; update outbox.dedupe set instruction_id = '{id}#99' where outbox_id = '{row}'",
    ["I3 outbox_row_extra {row}", "I3 outbox_row_missing {id}#3"],
  ],
  [
    "an idempotency key that was inserted by hand",
    "insert into outbox.dedupe select stream_id, '{id}#98', 'event:seed', gen_random_uuid(), salt, payload_hash from outbox.dedupe where outbox_id = '{row}'",
    ["I3 key_without_row {id}#98"],
  ],
  [
    "a gap in attempt numbers",
    "delete from outbox.attempts where outbox_id = '{row}' and attempt_no = 1",
    ["I4 line_missing {row}"],
  ],
  [
    "two DISPATCHED",
    `insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, recorded_at)
     select outbox_id, 3, class_id, stream_id, state, recorded_at from outbox.attempts where outbox_id = '{row}' and attempt_no = 2`,
    ["I4 delivered_twice {row}"],
  ],
  [
    "a redrive of what was delivered",
    `insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, actor, reason)
     select outbox_id, 3, class_id, stream_id, 'REDRIVEN', 'mallory', 'again' from outbox.attempts where outbox_id = '{row}' and attempt_no = 2`,
    ["I4 line_out_of_turn {row}", "I6 row_lost {row}"],
  ],
  [
    "a row that is delivered and dead",
    `insert into outbox.dead (outbox_id, stream_id, lane_id, seq, lines, tries, priority, uncertain, parked, error_code)
     select outbox_id, stream_id, lane_id, seq, 2, 1, 5, false, false, 'x' from outbox.payloads where outbox_id = '{row}'`,
    ["I6 row_in_two_places {row}"],
  ],
  [
    "a row that is delivered and pending",
    `insert into outbox.pending (lane_id, seq, outbox_id, due, lines, payload_hash)
     select lane_id, seq, outbox_id, now(), 2, payload_hash from outbox.payloads where outbox_id = '{row}'`,
    ["I6 lane_stranded lane {lane} (seed:{id})", "I6 row_in_two_places {row}"],
  ],
  ["a row whose story was deleted", "delete from outbox.attempts where outbox_id = '{row}'", ["I6 row_lost {row}"]],
  [
    "a delivery before an earlier one",
    "update outbox.attempts set recorded_at = recorded_at - interval '1 hour' where outbox_id = '{row}' and state = 'DISPATCHED'",
    ["I5 out_of_order {row}"],
  ],
  [
    "a lane that nothing will wake",
    "update outbox.lanes set idle_at = 1 where lane_id = {lane}",
    ["I6 lane_stranded lane {lane} (seed:{id})"],
  ],
];

describe.each(POSTGRES_VERSIONS)("verification on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  let victim: Victim = { id: "", outboxId: "", laneId: 0, noteId: 0 };

  beforeAll(async () => {
    const client = await db.superuser.connect();
    await seedCapacity(client, { requests, eventsPerRequest: events, workspaceId: "seed", deliveries: true });
    victim = await findVictim(db);
  });

  /** The outbox row of an event of the changed request, for findings that name it. */
  async function filledIn(text: string): Promise<string> {
    const named = text
      .replaceAll("{id}", victim.id)
      .replaceAll("{row}", victim.outboxId)
      .replaceAll("{lane}", String(victim.laneId))
      .replaceAll("{note}", String(victim.noteId));
    const seq = /\{row of (\d+)\}/.exec(named)?.[1];
    if (seq === undefined) return named;
    const { id } = await oneOf<{ id: string }>(
      db.superuser.pool,
      "select outbox_id as id from outbox.payloads where instruction_id = $1",
      [`${victim.id}#${seq}`],
    );
    return named.replace(/\{row of \d+\}/, id);
  }

  test("finds nothing when nothing was changed, whatever the size of a batch, and counts each thing once", async () => {
    const client = await db.as("headroom_auditor").connect();
    for (const size of [1, 7, requests, 1_000]) {
      let counts = noCounts;
      for await (const batch of verify(client, { requestsPerBatch: size, rowsPerBatch: size * events })) {
        expect(batch.findings).toEqual([]);
        const add = (name: keyof typeof counts): number => counts[name] + (batch.counts[name] ?? 0);
        counts = {
          requests: add("requests"),
          events: add("events"),
          effects: add("effects"),
          deliveries: add("deliveries"),
          lines: add("lines"),
          keys: add("keys"),
          lanes: add("lanes"),
          routes: add("routes"),
        };
      }
      const rows = requests * events;
      const ofRows = { events: rows, effects: rows, deliveries: rows, lines: rows * 2, keys: rows };
      expect(counts).toEqual({ requests, ...ofRows, lanes: requests, routes: 0 });
    }
  });

  test.each(deeds)("finds %s, and nothing else", async (_name, statement, expected) => {
    const wanted = await Promise.all(expected.map(filledIn));
    const text = await filledIn(statement);
    const [all, inSmallBatches] = await tampered(db, async (client) => {
      for (const part of text.split("; ")) await client.query(part);
      return [await findingsOf(client), await findingsOf(client, { requestsPerBatch: 9, rowsPerBatch: 70 })];
    });
    expect(briefly(all)).toEqual(wanted.toSorted());
    expect(briefly(inSmallBatches)).toEqual(wanted.toSorted());
    for (const finding of all) expect(finding.detail).not.toBe("");
  });

  /** What only the owner of everything could do: change an event, and make all hashes and the projection match again. */
  async function rewrite(client: ClientBase, statement: string): Promise<void> {
    await client.query(await filledIn(statement));
    for (let seq = 1; seq <= events; seq += 1) {
      await client.query(
        `update capacity.events e
            set hash = capacity.event_hash((select p.hash from capacity.events p where p.request_id = e.request_id and p.seq = e.seq - 1), e)
          where e.request_id = $1 and e.seq = $2`,
        [victim.id, seq],
      );
    }
    await client.query(
      `update capacity.requests r set head_hash = e.hash from capacity.events e where r.id = $1 and e.request_id = r.id and e.seq = r.version`,
      [victim.id],
    );
  }

  test("a completely rewritten history is found by heads that were kept elsewhere", async () => {
    const heads: Head[] = [];
    for await (const page of listHeads(db.as("headroom_auditor").pool)) heads.push(...page);
    expect(heads).toHaveLength(requests);
    expect(await verifyHeads(db.as("headroom_auditor").pool, heads)).toEqual([]);
    await tampered(db, async (client) => {
      await rewrite(client, "update capacity.events set via = 'web2' where request_id = '{id}' and seq = 3");
      expect(await findingsOf(client)).toEqual([]);
      expect(briefly(await verifyHeads(client, heads))).toEqual([`I2 history_rewritten ${victim.id}#${events}`]);
    });
    await tampered(db, async (client) => {
      await client.query("delete from capacity.events where request_id = $1 and seq = $2", [victim.id, events]);
      expect(briefly(await verifyHeads(client, heads))).toEqual([`I2 head_missing ${victim.id}#${events}`]);
    });
  });

  test.each([
    ["a transition that the table does not have", "state_after = 'FAILED' where seq = 1", "transition_unlawful"],
    ["a state that was never reached", "state_before = 'PROVISIONING' where seq = 3", "state_jumps"],
    [
      "a confirmation with one approval that counts",
      `payload = '{"counts": false}' where event_type = 'COMMERCIAL_APPROVED'`,
      "transition_unlawful",
    ],
    ["a time that runs back", "created_at = created_at - interval '3 years' where seq = 3", "time_runs_back"],
  ])("%s is found although every hash matches", async (_name, change, code) => {
    await tampered(db, async (client) => {
      await rewrite(client, `update capacity.events set ${change} and request_id = '{id}'`);
      const found = briefly(await findingsOf(client));
      expect(found).toContainEqual(expect.stringMatching(new RegExp(`^I2 ${code} ${victim.id}#`)));
      expect(found.join()).not.toContain("hash_differs");
    });
  });

  test("an erased customer is not a finding", async () => {
    await tampered(db, async (client) => {
      await client.query(
        "update capacity.personal_data set salt = null, customer_ref = null, erased_at = now() where request_id = $1",
        [victim.id],
      );
      expect(briefly(await findingsOf(client))).toEqual([`I1 customer_differs ${victim.id}`]);
      await client.query(
        `insert into capacity.erasures (request_id, requested_at, requested_by, via, why, covers_to, tried_at)
         values ($1, now(), 'x', 'cli', 'asked', now(), now())`,
        [victim.id],
      );
      expect(await findingsOf(client)).toEqual([]);
    });
  });

  test("a workspace is verified separately", async () => {
    await tampered(db, async (client) => {
      await client.query("update capacity.requests set quantity = quantity + 1 where id = $1", [victim.id]);
      expect(await findingsOf(client, { workspaceId: "default" })).toEqual([]);
      expect(briefly(await findingsOf(client, { workspaceId: "seed" }))).toEqual([
        `I1 projection_differs ${victim.id}`,
      ]);
    });
  });

  test("rows that wait, are in flight, dead or redriven are no findings; without their leases those in flight are", async () => {
    const engine = new Engine(db);
    await engine.start();
    const [ordered, unordered] = [await engine.stream(), await engine.stream({ ordered: false })];
    for (const stream of [ordered, unordered]) {
      await engine.enqueue(stream, { key: "dies" });
      await engine.kill(stream);
      await engine.enqueue(stream, { key: "rises" });
      const risen = await engine.kill(stream);
      await engine.redrive([risen.outbox_id]);
    }
    await engine.claim(ordered);
    const [flying] = await engine.claim(unordered);
    await engine.enqueue(ordered, { key: "waits" });
    await engine.enqueue(unordered, { key: "waits" });
    expect(await findingsOf(await db.superuser.connect())).toEqual([]);
    await tampered(db, async (client) => {
      await client.query("delete from outbox.claims");
      expect(briefly(await findingsOf(client))).toEqual([
        expect.stringMatching(/^I6 lease_missing [0-9a-f-]{36}$/),
        expect.stringMatching(/^I6 lease_missing lane \d+ \(rises\)$/),
        `I6 row_lost ${flying?.outbox_id}`,
      ]);
    });
  });
});
