/** Offers that wait for their customer, with the links that would be mailed. */
import { beforeAll } from "vitest";
import { setSecret } from "../../../src/db/secrets/index.ts";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import { oneOf, startWorkflow, type RequestInput, type Workflow } from "../capacity/harness.ts";
import { testSecretKey } from "./harness.ts";

export interface Offer {
  readonly id: string;
  readonly token: string;
}

export interface Offers {
  readonly workflow: Workflow;
  readonly offer: (input?: RequestInput) => Promise<Offer>;
}

/** Call it while tests are being collected. */
export async function startOffers(version: EmbeddedVersion = 18): Promise<Offers> {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  beforeAll(async () => {
    const control = await db.as("headroom_control").connect();
    await setSecret(control, {
      name: "CONFIRMATION_TOKEN_SECRET",
      value: "a secret for links, of 32 bytes or more",
      key: testSecretKey,
    });
    await control.end();
  });
  return {
    workflow,
    async offer(input = {}) {
      const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", input);
      const { rows } = await workflow.db.superuser.pool.query<{ token_id: string }>(
        "select confirmation_token_id as token_id from capacity.requests where id = $1",
        [id],
      );
      // Over a connection that is kept: the first call of a new one takes many times longer.
      const { token } = await oneOf<{ token: string }>(
        db.as("headroom_executor").pool,
        "select capacity.confirmation_token($1) as token from set_config('headroom.secret_key', $2, true)",
        [rows[0]?.token_id, testSecretKey],
      );
      return { id, token };
    },
  };
}
