/**
 * Events on their way to endpoints in tests: a database, receivers that are endpoints of it, the rail that finds them there, and queries
 * about an event's outcome.
 *
 * Does not own: what is asserted.
 */
import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import {
  listEndpoints,
  putEndpoint,
  type EndpointChanges,
  type EndpointOwner,
} from "../../../src/webhooks/endpoints.ts";
import type { WebhookRail, WebhookRailOptions } from "../../../src/rails/webhook/rail.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { startReceiver, type Receiver } from "../rails/receiver/receiver.ts";
import { rowsOf } from "../outbox/queries.ts";
import { secretKey, storedRail } from "./stored-rail.ts";

export const views = { transfers: "payments.outbox_transfers", ledger: "ledger.outbox_ledger" } as const;
export type EventStream = keyof typeof views;

export interface Fate {
  readonly id: string;
  readonly status: "PENDING" | "SENT" | "FAILED";
  readonly created_at: Date;
  readonly sent_at: Date | null;
  readonly retry_count: number;
  readonly deliveries: number | null;
}

export function envelope(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    specversion: "1.0",
    id: randomUUID(),
    source: "/tests",
    type: "com.example.transfer.settled",
    subject: "account-1",
    data: { amount: 100 },
    ...changes,
  };
}

export interface Endpointed {
  readonly id: string;
  readonly receiver: Receiver;
  readonly secret: string;
}

export class Publishing {
  readonly db: TestDatabase;

  constructor(db: TestDatabase) {
    this.db = db;
  }

  /** A receiver that is an endpoint of the database until the test ends. */
  async endpoint(name: string, { workspaceId, ...changes }: EndpointChanges & EndpointOwner = {}): Promise<Endpointed> {
    const receiver = await startReceiver();
    onTestFinished(async () => {
      await this.query(
        "select webhooks.remove_endpoint(e.name, e.tenant_id) from webhooks.endpoints e where e.name = $1 and e.tenant_id is not distinct from $2",
        [name, workspaceId ?? null],
      );
      await receiver.close();
    });
    const control = await this.db.as("headroom_control").pool.connect();
    try {
      const settings = { url: `${receiver.url}/hook`, topics: ["*"], ...changes };
      const { secret } = await putEndpoint(control, name, settings, {
        key: secretKey,
        allowPrivate: true,
        workspaceId,
      });
      receiver.setSecrets(secret === null ? [] : [secret]);
      const listed = await listEndpoints(control);
      const id = listed.find((one) => one.name === name && one.workspaceId === (workspaceId ?? null))?.id ?? "";
      return { id, receiver, secret: secret ?? "" };
    } finally {
      control.release();
    }
  }

  /** The webhook rail over the database's endpoints, as a relay has it; closed when the test ends. */
  rail(options: Partial<WebhookRailOptions> = {}): WebhookRail {
    const stored = storedRail(this.db.as("headroom_executor").url, options);
    onTestFinished(() => stored.close());
    return stored.rail;
  }

  async publish(stream: EventStream, ...payloads: unknown[]): Promise<Fate[]> {
    return rowsOf<Fate>(
      this.db.as("headroom_ingest").pool,
      `insert into ${views[stream]} (payload) select p from unnest($1::jsonb[]) p
       returning id, status, created_at, sent_at, retry_count, deliveries`,
      [payloads.map((payload) => JSON.stringify(payload))],
    );
  }

  async fates(stream: EventStream, ids?: readonly string[]): Promise<Fate[]> {
    return rowsOf<Fate>(
      this.db.as("headroom_ingest").pool,
      `select id, status, created_at, sent_at, retry_count, deliveries from ${views[stream]}
        where $1::uuid[] is null or id = any ($1) order by created_at, id`,
      [ids ?? null],
    );
  }

  async fate(stream: EventStream, id: string): Promise<Fate> {
    const [fate] = await this.fates(stream, [id]);
    if (fate === undefined) throw new Error(`There is no event ${id}.`);
    return fate;
  }

  query<T>(text: string, values: unknown[] = []): Promise<T[]> {
    return rowsOf<T>(this.db.superuser.pool, text, values);
  }

  /** Makes what waits for its next try due now. */
  async hurry(): Promise<void> {
    await this.query("update outbox.heads set due = now() where claim_id is null and not blocked");
    await this.query("update outbox.pending set due = now() where tries > 0");
    await this.query("update outbox.gates set open_until = null, failures = 0, probe_until = null");
  }

  /** As if the leases of dead relays had run out. */
  async expireLeases(): Promise<void> {
    await this.query("update outbox.claims set lease_until = now() - interval '1 second'");
  }
}

export async function createPublishing(version?: EmbeddedVersion): Promise<Publishing> {
  return new Publishing(await createTestDatabase({ version: version ?? 18 }));
}
