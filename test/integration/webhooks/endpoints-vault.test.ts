/** Secrets of endpoints where Vault keeps them: none of them is in our tables, and dropped ones are overwritten there. */
import type { ClientBase } from "pg";
import { describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { installVault } from "../../helpers/vault.ts";
import { oneOf, refusalOf, rowsOf } from "../outbox/queries.ts";

describe.each(POSTGRES_VERSIONS)("endpoints and Vault on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  /** A transaction of the superuser in which Vault was installed; rolled back at the end. */
  async function withVault(work: (client: ClientBase) => Promise<void>): Promise<void> {
    const client = await db.superuser.connect();
    try {
      await client.query("begin");
      await installVault(client);
      await client.query("set local role headroom_owner");
      await work(client);
    } finally {
      await client.query("rollback");
      await client.end();
    }
  }

  const put = `select * from webhooks.put_endpoint('orders', '{"url": "https://example.com/", "headers": {"x-token": "t0ken"}}')`;
  const forRelay =
    "select secrets, headers from webhooks.endpoint_for_relay((select id from webhooks.endpoints where name = 'orders'))";

  test("an endpoint needs no key of the process, and its secrets are only in Vault", async () => {
    await withVault(async (client) => {
      const { secret } = await oneOf<{ secret: string }>(client, put);
      expect(await oneOf(client, forRelay)).toEqual({ secrets: [secret], headers: { "x-token": "t0ken" } });
      expect(await rowsOf(client, "select from headroom.boxes where box is not null")).toEqual([]);
      expect(await oneOf(client, "select readable, secrets from webhooks.list_endpoints()")).toEqual({
        readable: true,
        secrets: 1,
      });
    });
  });

  test("an expired secret, and those of a removed endpoint, are overwritten there", async () => {
    await withVault(async (client) => {
      const { secret } = await oneOf<{ secret: string }>(client, put);
      const { next } = await oneOf<{ next: string }>(
        client,
        "select webhooks.rotate_endpoint_secret('orders', null, interval '0') as next",
      );
      expect(await oneOf(client, forRelay)).toMatchObject({ secrets: [next] });
      const kept = (): Promise<{ value: string }[]> =>
        rowsOf(client, "select decrypted_secret as value from vault.decrypted_secrets order by 1");
      expect((await kept()).map(({ value }) => value)).not.toContain(secret);
      await client.query("select webhooks.remove_endpoint('orders')");
      const left = (await kept()).map(({ value }) => value);
      expect(left).toHaveLength(3);
      expect(left).not.toContain(secret);
      expect(left).not.toContain(next);
      expect(await rowsOf(client, "select from vault.decrypted_secrets where name !~ '^removed '")).toEqual([]);
    });
  });

  test("a Vault that accepts no change stops neither the removal of an endpoint nor the collection", async () => {
    await withVault(async (client) => {
      await client.query(put);
      await client.query("reset role");
      await client.query(
        `create or replace function vault.update_secret(secret_id uuid, new_secret text default null, new_name text default null, new_description text default null)
         returns void language plpgsql as $$ begin raise exception 'not today' using errcode = '42501'; end $$`,
      );
      await client.query("update webhooks.endpoint_secrets set expires_at = now() where kind = 'headers'");
      await client.query("select outbox.gc()");
      await client.query("select webhooks.remove_endpoint('orders')");
      expect(await rowsOf(client, "select from webhooks.endpoint_secrets")).toEqual([]);
      expect(await rowsOf(client, "select from headroom.boxes")).toEqual([]);
    });
  });

  test("a Vault that fails refuses the endpoint, and reveals none of its values", async () => {
    await withVault(async (client) => {
      await client.query("reset role");
      await client.query(
        `create or replace function vault.create_secret(new_secret text, new_name text default null, new_description text default '') returns uuid
           language plpgsql as $$ begin raise exception 'cannot store %', new_secret; end $$`,
      );
      await client.query("set local role headroom_owner");
      const refusal = await refusalOf(rowsOf(client, put));
      expect(refusal).toMatchObject({ code: "PT503" });
      expect(JSON.stringify(Object.values(refusal)) + refusal.message).not.toContain("whsec_");
    });
  });
});
