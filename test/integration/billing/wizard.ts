/**
 * A workspace whose self-service wizard is open: prices, rules, and a member in whose name it submits.
 *
 * `S` is approved at once; `32XL` is reviewed. Does not own: what is asserted.
 */
import { beforeAll } from "vitest";
import { setSecret } from "../../../src/db/secrets/index.ts";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import { testSecretKey } from "../http/harness.ts";
import { oneOf, rowsOf, startWorkflow, type Workflow } from "../capacity/harness.ts";

export interface Wizard {
  readonly workflow: Workflow;
  /** The token of the link that the mail of a draft carries. */
  readonly proofOf: (draftToken: string, address?: string) => Promise<string>;
  /** The mails of drafts that wait or were sent, oldest first. */
  readonly mails: () => Promise<
    { readonly payload: { readonly to: string; readonly text: string; readonly html: string } }[]
  >;
  /** Row counts of everything that the wizard could write. */
  readonly size: () => Promise<unknown>;
}

const shop = `
update directory.workspaces set public_url = 'https://capacity.acme.example' where id = 'acme';
insert into directory.members (workspace_id, id, display_name, roles) values ('acme', 'web', 'Web shop', '{requester}');
insert into billing.settings (workspace_id, self_service_requester) values ('acme', 'web');
insert into billing.prices (workspace_id, size, region, duration_days, kind, currency, unit_amount, created_by) values
  ('acme', 'S', 'us-east-1', 30, 'one_off', 'USD', 12000, 'test'),
  ('acme', 'S', 'eu-west-1', 30, 'one_off', 'EUR', 11000, 'test'),
  ('acme', '32XL', 'us-east-1', null, 'recurring', 'USD', 30000, 'test');
`;

/** Call it while tests are being collected. */
export async function startWizard(version: EmbeddedVersion = 18): Promise<Wizard> {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  beforeAll(async () => {
    await db.superuser.pool.query(shop);
    await workflow.addPolicy({ id: "small", kind: "auto_approval", step: "both", sizes: ["S"], max_quantity: 10 });
    await workflow.addPolicy({ id: "sales", kind: "review_route", step: "commercial", approver_id: "cora" });
    await workflow.addPolicy({ id: "platform", kind: "review_route", step: "technical", group_id: "infra" });
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
    async proofOf(draftToken, address) {
      const id = Buffer.from(draftToken, "base64url").subarray(0, 16).toString("hex");
      const { email } = await oneOf<{ email: string | null }>(
        workflow.superuser,
        "select terms ->> 'email' as email from billing.drafts where id = $1",
        [id],
      );
      // Over a connection that is kept: the first call of a new one takes many times longer.
      const made = "select billing.proof_token($1, $2) as token from set_config('headroom.secret_key', $3, true)";
      const values = [id, address ?? email, testSecretKey];
      return (await oneOf<{ token: string }>(db.as("headroom_executor").pool, made, values)).token;
    },
    mails: () =>
      rowsOf(
        workflow.superuser,
        "select payload from outbox.rows where stream_id = outbox.stream_id('self-service') order by created_at, outbox_id",
      ),
    size: async () => [
      await workflow.size(),
      await rowsOf(workflow.superuser, "select id, terms, revision, step, request_id from billing.drafts order by id"),
      await rowsOf(workflow.superuser, "select count(*) from billing.draft_mails"),
      await rowsOf(workflow.superuser, "select count(*) from billing.checkouts"),
    ],
  };
}

/** Stripe's answer to a checkout, as a relay returns it. */
export async function answerCheckout(workflow: Workflow, requestId: string, url: string): Promise<string> {
  const { id } = await oneOf<{ id: string }>(
    workflow.superuser,
    `insert into billing.sessions (checkout_id, session_id, url, expires_at)
     select c.id, 'cs_test_' || replace(c.id::text, '-', ''), $2, c.expires_at from billing.checkouts c where c.request_id = $1 order by c.number desc limit 1
     returning checkout_id as id`,
    [requestId, url],
  );
  return id;
}
