/** Mails of drafts that are asked for at the same time. */
import { expect, test } from "vitest";
import type { TestClient } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/workflow.ts";
import { testSecretKey } from "../http/gateway.ts";
import { startWizard } from "./wizard.ts";

const { workflow } = await startWizard();

test("mails to one mailbox are counted one after the other, whoever asks for them", async () => {
  const draft = "jsonb_populate_record(null::billing.drafts, jsonb_build_object(%))";
  const draftOf = (id: string): string =>
    draft.replace(
      "%",
      `'id', '${id}', 'workspace_id', 'acme', 'terms', jsonb_build_object('email', 'bea@crowd.example', 'name', 'Bea'),
       'step', 4, 'revision', 3, 'created_at', now(), 'expires_at', now() + interval '1 day'`,
    );
  const mail = async (client: TestClient, id: string): Promise<string | null> =>
    (await oneOf<{ problem: string | null }>(client, `select billing.mail_draft(${draftOf(id)}) as problem`)).problem;
  const ids = [1, 2, 3, 4].map((n) => String(n).repeat(32));
  const [one, other] = await workflow.db.twoConnections("postgres");
  for (const client of [one, other])
    await client.query("select set_config('headroom.secret_key', $1, false)", [testSecretKey]);
  for (const id of ids.slice(0, 2)) expect(await mail(one, id)).toBeNull();
  await one.query("begin");
  expect(await mail(one, ids[2]!)).toBeNull();
  const last = mail(other, ids[3]!);
  await workflow.db.waitUntilBlocked(other);
  await one.query("commit");
  expect(await last).toContain("Three links were sent to this address");
  expect(await rowsOf(other, "select from billing.draft_mails")).toHaveLength(3);
  await Promise.all([one.end(), other.end()]);
});
