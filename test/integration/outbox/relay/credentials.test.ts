/** Stored credentials of the installation's own rails: relays get these, and nobody gets any other secret. */
import type { ClientBase } from "pg";
import { describe, expect, test } from "vitest";
import { completeWith, credentialNames, providerStatus } from "../../../../src/cli/relay/provider-rails.ts";
import { createTestDatabase, POSTGRES_VERSIONS, type TestRole } from "../../../helpers/database.ts";
import { installVault } from "../../../helpers/vault.ts";
import { refusalOf, rowsOf } from "../queries.ts";

const key = "the key of these tests, which has more than 32 bytes";
const ask = "select * from outbox.rail_credentials($1)";
const everyName = `select array_agg(distinct n) as names from (
  select unnest(credentials) as n from outbox.rails union select name from headroom.boxes) x`;

describe.each(POSTGRES_VERSIONS)("stored credentials on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  /** A transaction of that role's login, or of another login, with this key; rolled back. */
  async function as<T>(role: TestRole, secretKey: string | null, work: (client: ClientBase) => Promise<T>): Promise<T> {
    const client = await db.as(role).pool.connect();
    try {
      await client.query("begin");
      if (secretKey !== null) await client.query("select set_config('headroom.secret_key', $1, true)", [secretKey]);
      return await work(client);
    } finally {
      await client.query("rollback");
      client.release();
    }
  }

  /** As `headroom secret set` does, and committed. */
  async function store(secrets: Readonly<Record<string, string>>): Promise<void> {
    const client = await db.as("headroom_control").pool.connect();
    try {
      await client.query("begin");
      await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
      for (const [name, value] of Object.entries(secrets))
        await client.query("select headroom.set_secret($1, $2)", [name, value]);
      await client.query("commit");
    } finally {
      client.release();
    }
  }

  test("the database hands out what relays ask for, rail by rail", async () => {
    const declared = await rowsOf<{ name: string; credentials: string[] }>(
      db.superuser.pool,
      "select name, credentials from outbox.rails where credentials <> '{}' order by name",
    );
    const asked = new Map<string, string[]>();
    for (const { rails, credentials } of providerStatus({})) {
      for (const rail of rails) asked.set(rail, [...(asked.get(rail) ?? []), ...credentials]);
    }
    expect(new Map(declared.map((row) => [row.name, row.credentials.toSorted()]))).toEqual(
      new Map([...asked].map(([rail, names]) => [rail, names.toSorted()])),
    );
    // An address must not be stored: a credential of the environment would be sent to it.
    expect(credentialNames.filter((name) => name !== "SMTP_URL" && /URL|FROM/.test(name))).toEqual([]);
  });

  test("a relay gets those, whatever else it asks for, and the read is recorded", async () => {
    await store({
      SLACK_BOT_TOKEN: "xoxb-stored",
      CONFIRMATION_TOKEN_SECRET: "c".repeat(40),
      STRIPE_WEBHOOK_SECRET: "w".repeat(40),
      SLACK_SIGNING_SECRET: "s".repeat(40),
    });
    const { names } = (await rowsOf<{ names: string[] }>(db.superuser.pool, everyName))[0]!;
    expect(names).toContain("CONFIRMATION_TOKEN_SECRET");
    const read = await as("headroom_executor", key, async (client) => {
      const [first, second] = [await rowsOf(client, ask, [names]), await rowsOf(client, ask, [names])];
      expect(second).toEqual(first);
      return {
        first,
        status: await rowsOf<{ name: string }>(
          client,
          "select * from outbox.credential_status() where stored_at is not null",
        ),
        login: (await rowsOf<{ login: string }>(client, "select session_user::text as login"))[0]!.login,
      };
    });
    expect(read.first).toEqual([{ name: "SLACK_BOT_TOKEN", value: "xoxb-stored" }]);
    expect(read.status).toMatchObject([
      { name: "SLACK_BOT_TOKEN", rails: ["slack", "slack-interaction"], readers: [{ login: read.login, times: 2 }] },
    ]);
    expect(JSON.stringify(read.status)).not.toContain("xoxb-stored");
  });

  test("without the key nothing is opened, and nothing recorded", async () => {
    for (const other of [null, "f".repeat(40)]) {
      await as("headroom_executor", other, async (client) => {
        expect(await rowsOf(client, ask, [["SLACK_BOT_TOKEN"]])).toEqual([{ name: "SLACK_BOT_TOKEN", value: null }]);
        expect(await rowsOf(client, "select name from outbox.credential_status() where readers <> '[]'")).toEqual([]);
      });
    }
  });

  test.each(["headroom_ingest", "headroom_control", "headroom_auditor", "authenticator"] as const)(
    "%s gets none, and cannot open one in other ways",
    async (role) => {
      for (const text of [
        "select * from outbox.rail_credentials('{SLACK_BOT_TOKEN}')",
        "select * from headroom.hand_out_secrets('{SLACK_BOT_TOKEN}')",
        "select headroom.get_secret('SLACK_BOT_TOKEN')",
        "select * from headroom.handed_out",
      ]) {
        const refused = await as(role, key, (client) => refusalOf(client.query(text)));
        expect(refused.code).toBe("42501");
      }
    },
  );

  test("a role that may run relays can neither get other secrets handed out, nor hide that it read one", async () => {
    for (const text of [
      `select outbox.ensure_rails('{"slack": {"capability": "lookup", "guarded": true, "credentials": ["CONFIRMATION_TOKEN_SECRET"]}}')`,
      "update outbox.rails set credentials = '{CONFIRMATION_TOKEN_SECRET}' where name = 'slack'",
      "select * from headroom.hand_out_secrets('{CONFIRMATION_TOKEN_SECRET}')",
      "select headroom.open_box('CONFIRMATION_TOKEN_SECRET')",
      "delete from headroom.handed_out",
    ]) {
      expect((await as("headroom_executor", key, (client) => refusalOf(client.query(text)))).code).toBe("42501");
    }
    // A custom rail has no credentials, and declaring ours again gives it none.
    await as("headroom_executor", key, async (client) => {
      await client.query("select outbox.register_rail('mine', 'blind', 1000)");
      await client.query("select outbox.register_rail('slack', 'lookup', 1000)");
      const rows = await rowsOf(
        client,
        "select name, credentials from outbox.rails where name in ('mine', 'slack') order by 1",
      );
      expect(rows).toEqual([
        { name: "mine", credentials: [] },
        { name: "slack", credentials: ["SLACK_BOT_TOKEN"] },
      ]);
    });
    // Nor may a rail that anybody's rows can use have any.
    const unguarded = "update outbox.rails set credentials = '{SLACK_BOT_TOKEN}' where name = 'webhook'";
    expect((await refusalOf(db.superuser.pool.query(unguarded))).code).toBe("23514");
  });

  test("in Vault, what was stored through Headroom is handed out without a key, and others' secrets are not", async () => {
    const client = await db.superuser.connect();
    try {
      await client.query("begin");
      await installVault(client);
      await client.query("select headroom.set_secret('LINEAR_API_KEY', 'lin_api_stored')");
      await client.query("select vault.create_secret('sk_live_of_another_application', 'STRIPE_SECRET_KEY')");
      expect(await rowsOf(client, ask, [[...credentialNames]])).toMatchObject([
        { name: "LINEAR_API_KEY", value: "lin_api_stored" },
        // Sealed in the table before Vault existed.
        { name: "SLACK_BOT_TOKEN", value: null },
      ]);
      expect(await rowsOf(client, "select webhooks.kept_in_vault() as kept")).toEqual([{ kept: true }]);
    } finally {
      await client.query("rollback");
      await client.end();
    }
  });
});

describe("an environment completed from stored credentials", () => {
  const stored = new Map<string, string | null>(
    Object.entries({
      SLACK_BOT_TOKEN: "xoxb-stored",
      SMTP_URL: "smtp://stored.example",
      POSTAL_API_KEY: "stored",
    }),
  );

  test("keeps its values, and gets a provider's missing credential", () => {
    const environment = { SLACK_BOT_TOKEN: "xoxb-own", SLACK_API_URL: "https://slack.example/" };
    expect(completeWith(stored, environment).environment).toEqual(environment);
    const taken = completeWith(stored, { SLACK_API_URL: "https://slack.example/" });
    expect(taken.environment).toMatchObject({ SLACK_BOT_TOKEN: "xoxb-stored" });
    expect([...taken.stored]).toEqual(["SLACK_BOT_TOKEN"]);
  });

  test("says what it does not use, and why", () => {
    expect(completeWith(stored, {}).unused).toEqual([
      "SMTP_URL is stored in the database, but Mail by SMTP also needs MAIL_FROM in the environment.",
      "POSTAL_API_KEY is stored in the database, but Mail by Postal also needs POSTAL_URL, MAIL_FROM in the environment.",
    ]);
    const sender = { MAIL_FROM: "a@b.example" };
    expect(completeWith(stored, { ...sender, SMTP_URL: "smtp://own.example" }).unused).toEqual([
      "POSTAL_API_KEY is stored in the database, and not used, because Mail by SMTP is set up.",
    ]);
    const postal = completeWith(stored, { ...sender, POSTAL_URL: "https://postal.example" });
    expect(postal.environment).toMatchObject({ POSTAL_API_KEY: "stored" });
    expect(postal.environment["SMTP_URL"]).toBeUndefined();
    const sealed = new Map([["LINEAR_API_KEY", null]]);
    expect(completeWith(sealed, {}).unused).toEqual([
      "LINEAR_API_KEY is stored in the database, under a key that this process does not have.",
    ]);
  });
});
