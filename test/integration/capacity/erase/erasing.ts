/**
 * A workflow with every surface switched on, for tests of erasing: requests that have mailed their customer, and messages in every state:
 * delivered, waiting, in flight, given up.
 *
 * Owns: the harness. Does not own: what is asserted about an erasure.
 */
import { beforeAll, expect } from "vitest";
import type { EmbeddedVersion } from "../../../../src/db/embedded.ts";
import { Engine, type Claimed, type Outcome, type Stream } from "../../outbox/harness.ts";
import { memberSession, overHttp, type Session } from "../gateway.ts";
import { oneOf, rowsOf, startWorkflow, type RequestInput, type Workflow } from "../harness.ts";

export const customer = { name: "Initech Ltd", email: "bill@initech.example", org: "org_tpsreport" };

/** The answer of erase_customer(). */
export interface Erasure {
  readonly request_id: string;
  readonly state: "waiting" | "done";
  readonly erased_by: string;
  readonly erased_at: string;
  readonly why: string;
  readonly finished_at: string | null;
  readonly texts: number;
  readonly messages: { readonly erased: number; readonly skipped: number; readonly waiting: number };
}

/** The outbox rows of the request $1, by instruction: those of its events and notices, and the notifications about it. */
export const ofRequest = `(instruction_id ~ ('^' || $1 || '[#!]') or instruction_id in (
  select p.delivery_id::text from notify.parts p join notify.notifications n on n.id = p.notification_id where n.about = $1))`;

export const eraseText = "select public.erase_customer($1, $2, $3) as erasure";

/** Outcomes by rail; the default is delivered. */
type Outcomes = Readonly<Record<string, Outcome>>;

export class Erasing {
  readonly workflow: Workflow;
  readonly engine: Engine;
  /** The states of the messages: those about the request, and those to people. */
  streams: readonly Stream[] = [];

  constructor(workflow: Workflow) {
    this.workflow = workflow;
    this.engine = new Engine(workflow.db);
  }

  async start(): Promise<void> {
    const { superuser } = this.workflow;
    await this.engine.start();
    this.streams = await rowsOf<Stream>(
      superuser,
      "select stream_id as id, name from outbox.streams where name in ('capacity', 'people') order by name",
    );
    await superuser.query(
      `update directory.workspaces set public_url = 'https://acme.example', slack_channel_id = 'C0ACME', linear_team_id = 'team' where id = 'acme';
       insert into capacity.subscriptions (workspace_id, endpoint) values ('acme', 'crm');
       insert into directory.members (workspace_id, id, display_name, roles) values ('acme', 'aude', 'Aude', '{auditor}')`,
    );
  }

  async erase(
    id: string | null,
    session: Session = memberSession("ada"),
    why: string | null = "asked to",
    actor: string | null = null,
  ): Promise<Erasure> {
    const { erasure } = await overHttp(this.workflow.db, session, (client) =>
      oneOf<{ erasure: Erasure }>(client, eraseText, [id, why, actor]),
    );
    return erasure;
  }

  /** A request that has mailed its customer, or is about to. */
  offer(input: RequestInput = {}): Promise<string> {
    return this.workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer, ...input });
  }

  async note(id: string, body: string): Promise<void> {
    await overHttp(this.workflow.db, memberSession("rita"), (client) =>
      client.query("select public.note_capacity_request($1, $2)", [id, body]),
    );
  }

  /** Ends every wait: backoff, and the slots of channels that take one message a second. */
  async makeDue(): Promise<void> {
    await this.workflow.superuser.query(
      "update outbox.gates set next_slot_at = '-infinity', open_until = null, failures = 0",
    );
    for (const stream of this.streams) await this.engine.makeDue(stream);
  }

  /** Takes everything that is due, as a relay does. */
  async claim(): Promise<Claimed[]> {
    const rows: Claimed[] = [];
    for (const stream of this.streams) rows.push(...(await this.engine.claim(stream)));
    return rows;
  }

  /** The outcome of claimed rows. Messages to people have no key. */
  async settle(rows: readonly Claimed[], outcomeOf: (row: Claimed) => Outcome, message?: string): Promise<void> {
    for (const stream of this.streams) {
      const own = rows.filter(({ key }) => (key === null) === (stream.name === "people"));
      const results = own.map((row) => ({
        row,
        outcome: outcomeOf(row),
        ...(message === undefined ? {} : { message }),
      }));
      if (results.length > 0) await this.engine.settle(stream, results);
    }
  }

  async expireLeases(): Promise<void> {
    for (const stream of this.streams) await this.engine.expireLeases(stream);
  }

  /** Gives every due message the outcome set for its rail. */
  async deliver(outcomes: Outcomes = {}, message?: string): Promise<Claimed[]> {
    const outcomeOf = (row: Claimed): Outcome => outcomes[row.key?.split(":")[1] ?? row.idempotency_key] ?? "delivered";
    for (let round = 0; round < 50; round += 1) {
      await this.makeDue();
      const rows = await this.claim();
      if (rows.length === 0) return rows;
      await this.settle(rows, outcomeOf, message);
      if (rows.every((row) => outcomeOf(row) === "retry")) return rows;
    }
    throw new Error("The messages never end.");
  }

  async expectVerified(id: string): Promise<void> {
    await this.workflow.expectWhole([id]);
    const auditor = this.workflow.db.as("headroom_auditor").pool;
    for (const batch of [
      "capacity.verify_requests()",
      "capacity.verify_deliveries()",
      "outbox.verify_keys('capacity')",
    ]) {
      const verified = await oneOf<{ findings: unknown[] }>(auditor, `select findings from ${batch}`);
      expect(verified.findings).toEqual([]);
    }
    await this.engine.assertInvariants();
  }
}

export async function startErasing(version: EmbeddedVersion): Promise<Erasing> {
  const erasing = new Erasing(await startWorkflow(version));
  beforeAll(() => erasing.start());
  return erasing;
}
