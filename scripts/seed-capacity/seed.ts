/**
 * Writes requests with complete logs, one slice at a time: the story of each request is planned first, then one statement per step
 * adds that step's event, with its hash, to all requests of the slice. Slices are committed one by one, so memory stays flat
 * for any number.
 *
 * Owns: the order of the work. Does not own: the statements (statements.ts), nor the rules of hashes, transitions and projections: these
 * are the database's own functions, so that the result is valid by the normal rules.
 */
import type { ClientBase } from "pg";
import {
  addStep,
  beginSlice,
  directory,
  endSlice,
  layOutStories,
  storeDeliveries,
  storeRequests,
  tidyUp,
} from "./statements.ts";

export interface SeedOptions {
  readonly requests: number;
  /** How many events each request has. Its path through the states takes up to five; the rest are endorsements. */
  readonly eventsPerRequest: number;
  /** Created if missing. */
  readonly workspaceId: string;
  /** Whether each event has a side effect, delivered. */
  readonly deliveries: boolean;
  /** How many of a hundred requests have not ended. Default: 20. */
  readonly openPercent?: number | undefined;
  /** Requests written in one transaction. Default: 10,000. */
  readonly sliceSize?: number | undefined;
  readonly onProgress?: ((done: number) => void) | undefined;
}

export interface Seeded {
  readonly requests: number;
  readonly events: number;
  readonly deliveries: number;
}

const defaultSliceSize = 10_000;

/** The connection must be a member of headroom_owner and outside a transaction; its own role is restored. */
export async function seedCapacity(client: ClientBase, options: SeedOptions): Promise<Seeded> {
  const sliceSize = options.sliceSize ?? defaultSliceSize;
  const total = { requests: 0, events: 0, deliveries: 0 };
  await client.query("set role headroom_owner");
  try {
    await directory(client, options.workspaceId);
    while (total.requests < options.requests) {
      const slice = await seedSlice(client, options, Math.min(sliceSize, options.requests - total.requests));
      total.requests += slice.requests;
      total.events += slice.events;
      total.deliveries += slice.deliveries;
      options.onProgress?.(total.requests);
    }
    await tidyUp(client);
  } finally {
    await client.query("reset role");
  }
  return total;
}

async function seedSlice(client: ClientBase, options: SeedOptions, requests: number): Promise<Seeded> {
  await beginSlice(client);
  try {
    await layOutStories(client, options, requests);
    for (let step = 1; step <= options.eventsPerRequest; step += 1) await addStep(client, step, options.deliveries);
    const events = await storeRequests(client);
    const deliveries = options.deliveries ? await storeDeliveries(client) : 0;
    await endSlice(client, "commit");
    return { requests, events, deliveries };
  } catch (error) {
    await endSlice(client, "rollback");
    throw error;
  }
}
