/**
 * Secrets at rest and the cryptography under them: HMAC and comparison, the encrypted table, and Vault where it exists. The functions run
 * with the owner's rights, as they do inside the functions that need a secret.
 */
import { readFile } from "node:fs/promises";
import { createHmac, randomBytes } from "node:crypto";
import type { ClientBase } from "pg";
import { describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { installVault } from "../../helpers/vault.ts";
import { oneOf, refusalOf, rowsOf, type Queryable } from "../outbox/queries.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ""), "hex");
const repeat = (byte: number, times: number): Buffer => Buffer.alloc(times, byte);

/** RFC 4231, section 4. The fifth case compares only the first 128 bits. */
const hmacVectors: readonly (readonly [key: Buffer, data: Buffer, mac: string])[] = [
  [repeat(0x0b, 20), Buffer.from("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
  [
    Buffer.from("Jefe"),
    Buffer.from("what do ya want for nothing?"),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  ],
  [repeat(0xaa, 20), repeat(0xdd, 50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
  [
    hex("0102030405060708090a0b0c0d0e0f10111213141516171819"),
    repeat(0xcd, 50),
    "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
  ],
  [repeat(0x0c, 20), Buffer.from("Test With Truncation"), "a3b6167473100ee06e0c796c2955552b"],
  [
    repeat(0xaa, 131),
    Buffer.from("Test Using Larger Than Block-Size Key - Hash Key First"),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  ],
  [
    repeat(0xaa, 131),
    Buffer.from(
      "This is a test using a larger than block-size key and a larger than block-size data. " +
        "The key needs to be hashed before being used by the HMAC algorithm.",
    ),
    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
  ],
];

const key = "k".repeat(16) + "0123456789abcdef";
const value = "xoxb-very-secret-ünï-value";

/** Every field of an error, including those that only some clients see. */
function everythingSaid(error: object): string {
  return JSON.stringify(Object.getOwnPropertyNames(error).map((name) => (error as Record<string, unknown>)[name]));
}

const set = (client: ClientBase, name: string, secret: string | null): Promise<unknown> =>
  client.query("select headroom.set_secret($1, $2)", [name, secret]);

const get = async (client: ClientBase, name: string): Promise<string> =>
  (await oneOf<{ value: string }>(client, "select headroom.get_secret($1) as value", [name])).value;

const same = async (client: Queryable, left: Buffer | null, right: Buffer | null): Promise<unknown> =>
  (await oneOf<{ same: unknown }>(client, "select headroom.equal_constant_time($1, $2) as same", [left, right])).same;

describe.each(POSTGRES_VERSIONS)("secrets on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const superuser = db.superuser.pool;

  /** A session with the owner's rights and the given key, in a transaction that is rolled back. */
  async function withKey<T>(secretKey: string | null, work: (client: ClientBase) => Promise<T>): Promise<T> {
    const client = await db.as("headroom_owner").pool.connect();
    try {
      await client.query("begin");
      if (secretKey !== null) await client.query("select set_config('headroom.secret_key', $1, true)", [secretKey]);
      return await work(client);
    } finally {
      await client.query("rollback");
      client.release();
    }
  }

  /** A transaction of the superuser in which Vault was installed and its rights passed on; rolled back at the end. */
  async function withVault<T>(owner: string, work: (client: ClientBase) => Promise<T>): Promise<T> {
    const client = await db.superuser.connect();
    try {
      await client.query("begin");
      await installVault(client, owner);
      await client.query("set local role headroom_owner");
      return await work(client);
    } finally {
      await client.query("rollback");
    }
  }

  test("HMAC agrees with the vectors of RFC 4231", async () => {
    for (const [secret, data, mac] of hmacVectors) {
      const answer = await oneOf<{ mac: Buffer }>(superuser, "select headroom.hmac_sha256($1, $2) as mac", [
        secret,
        data,
      ]);
      expect(answer.mac.toString("hex").slice(0, mac.length)).toBe(mac);
    }
  });

  test("HMAC agrees with another implementation for keys and data of every length around a block", async () => {
    const cases = Array.from({ length: 140 }, (_, length) => ({
      secret: randomBytes(length),
      data: randomBytes((length * 7) % 200),
    }));
    const answers = await rowsOf<{ mac: Buffer }>(
      superuser,
      "select headroom.hmac_sha256(c.k, c.d) as mac from unnest($1::bytea[], $2::bytea[]) with ordinality c(k, d, n) order by c.n",
      [cases.map((one) => one.secret), cases.map((one) => one.data)],
    );
    expect(answers.map((answer) => answer.mac.toString("hex"))).toEqual(
      cases.map((one) => createHmac("sha256", one.secret).update(one.data).digest("hex")),
    );
  });

  test("the constant-time comparison equals equality, and is false for null", async () => {
    const bytes = randomBytes(32);
    expect(await same(superuser, bytes, Buffer.from(bytes))).toBe(true);
    expect(await same(superuser, Buffer.alloc(0), Buffer.alloc(0))).toBe(true);
    for (let place = 0; place < bytes.length; place += 1) {
      const other = Buffer.from(bytes);
      other[place] = other[place]! ^ 1;
      expect(await same(superuser, bytes, other)).toBe(false);
    }
    expect(await same(superuser, bytes, bytes.subarray(0, 31))).toBe(false);
    expect(await same(superuser, null, bytes)).toBe(false);
    expect(await same(superuser, bytes, null)).toBe(false);
  });

  test("a secret is returned under the key it was stored with, and is nowhere in clear text", async () => {
    await withKey(key, async (client) => {
      await set(client, "SLACK_BOT_TOKEN", value);
      expect(await get(client, "SLACK_BOT_TOKEN")).toBe(value);
      const stored = await oneOf<{ box: Buffer }>(client, "select box from headroom.boxes");
      expect(stored.box.includes(Buffer.from(value))).toBe(false);
      await set(client, "SLACK_BOT_TOKEN", "another");
      expect(await get(client, "SLACK_BOT_TOKEN")).toBe("another");
      // The same secret stored twice gives two boxes: nobody can see that they are equal.
      const boxes = await rowsOf<{ box: Buffer }>(
        client,
        "select headroom.seal_secret('A', 'b') as box from generate_series(1, 2)",
      );
      expect(boxes[0]!.box.equals(boxes[1]!.box)).toBe(false);
    });
  });

  test("under another key, for another name, or with any byte changed, the box does not open", async () => {
    await withKey(key, async (client) => {
      await set(client, "SLACK_BOT_TOKEN", value);
      const { box: encrypted } = await oneOf<{ box: Buffer }>(client, "select box from headroom.boxes");
      const opened = async (name: string, box: Buffer): Promise<unknown> =>
        (await oneOf<{ value: unknown }>(client, "select headroom.open_secret($1, $2) as value", [name, box])).value;
      expect(await opened("SLACK_BOT_TOKEN", encrypted)).toBe(value);
      expect(await opened("SLACK_SIGNING_SECRET", encrypted)).toBeNull();
      for (let place = 0; place < encrypted.length; place += 1) {
        const changed = Buffer.from(encrypted);
        changed[place] = changed[place]! ^ 0x80;
        expect(await opened("SLACK_BOT_TOKEN", changed)).toBeNull();
      }
      for (const length of [0, 1, 32, 64, encrypted.length - 1]) {
        expect(await opened("SLACK_BOT_TOKEN", encrypted.subarray(0, length))).toBeNull();
      }
      await client.query("select set_config('headroom.secret_key', $1, true)", ["x" + key.slice(1)]);
      expect(await opened("SLACK_BOT_TOKEN", encrypted)).toBeNull();
    });
  });

  test("a secret that is missing or unreadable gives one clear refusal that reveals nothing of what is stored", async () => {
    const missing = await refusalOf(withKey(key, (client) => get(client, "NOT_THERE")));
    expect(missing).toMatchObject({
      code: "PT503",
      detail: expect.stringMatching(/^not_configured: the secret NOT_THERE/),
    });
    for (const otherKey of [null, "", "x".repeat(32)]) {
      const refusal = await refusalOf(
        withKey(key, async (client) => {
          await set(client, "SLACK_BOT_TOKEN", value);
          await client.query("select set_config('headroom.secret_key', $1, true)", [otherKey ?? ""]);
          await get(client, "SLACK_BOT_TOKEN");
        }),
      );
      expect(refusal).toMatchObject({ code: "PT503" });
      expect(everythingSaid(refusal)).not.toContain("xoxb");
      expect(everythingSaid(refusal)).not.toContain(key);
    }
  });

  test.each([
    ["an invalid name", "slack token", value, "PT400"],
    ["no name", null, value, "PT400"],
    ["an empty value", "A", "", "PT400"],
    ["no value", "A", null, "PT400"],
    ["a value that is too long", "A", "x".repeat(16_385), "PT400"],
  ] as const)("%s is refused without quoting the value", async (_what, name, secret, code) => {
    const refusal = await refusalOf(withKey(key, (client) => set(client, name as string, secret)));
    expect(refusal.code).toBe(code);
    if (secret !== null && secret !== "") expect(everythingSaid(refusal)).not.toContain(secret);
  });

  test.each(["CONFIRMATION_TOKEN_SECRET", "SLACK_SIGNING_SECRET"])(
    "%s, which signs, is stored with 32 bytes and refused with 31",
    async (name) => {
      await withKey(key, async (client) => {
        await set(client, name, "é".repeat(16));
        expect(await get(client, name)).toBe("é".repeat(16));
        expect(await refusalOf(set(client, name, "x".repeat(31)))).toMatchObject({
          code: "PT400",
          detail: `invalid_input: ${name}`,
          hint: expect.stringContaining("openssl rand"),
        });
      });
    },
  );

  test("a short secret that came in by another way is not used for signing", async () => {
    await withKey(key, async (client) => {
      await client.query(
        "insert into headroom.boxes (name, box) values ('CONFIRMATION_TOKEN_SECRET', headroom.seal_secret('CONFIRMATION_TOKEN_SECRET', 'short'))",
      );
      const refusal = await refusalOf(client.query("select headroom.signing_key('CONFIRMATION_TOKEN_SECRET')"));
      expect(refusal).toMatchObject({
        code: "PT503",
        detail: "not_configured: the secret CONFIRMATION_TOKEN_SECRET is shorter than 32 bytes",
      });
    });
  });

  test("without a key of 32 bytes nothing is stored, and the message says what to do", async () => {
    for (const shortKey of [null, "", "x".repeat(31)]) {
      const refusal = await refusalOf(withKey(shortKey, (client) => set(client, "A", value)));
      expect(refusal).toMatchObject({ code: "PT503", hint: expect.stringContaining("HEADROOM_SECRET_KEY") });
      expect(everythingSaid(refusal)).not.toContain(value);
    }
  });

  test("without pgcrypto nothing is stored, and the message says what to do", async () => {
    const client = await db.superuser.connect();
    await client.query("begin");
    await client.query("drop extension pgcrypto");
    await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
    const refusal = await refusalOf(set(client, "A", value));
    await client.query("rollback");
    expect(refusal).toMatchObject({ code: "PT503", hint: expect.stringContaining("create extension pgcrypto") });
  });

  test("control can store a secret and never read one back", async () => {
    const client = await db.as("headroom_control").connect();
    await client.query("begin");
    await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
    await set(client, "SLACK_BOT_TOKEN", value);
    for (const attempt of [
      "select headroom.get_secret('SLACK_BOT_TOKEN')",
      "select * from headroom.boxes",
      "select headroom.open_secret('A', '')",
    ]) {
      await client.query("savepoint attempt");
      expect(await refusalOf(client.query(attempt))).toMatchObject({ code: "42501" });
      await client.query("rollback to attempt");
    }
    await client.query("rollback");
  });

  describe("with Vault", () => {
    test("secrets are kept there, with the rights that the migrating role passed on", async () => {
      await withVault("postgres", async (client) => {
        await set(client, "SLACK_BOT_TOKEN", "first");
        expect(await get(client, "SLACK_BOT_TOKEN")).toBe("first");
        await set(client, "SLACK_BOT_TOKEN", value);
        expect(await get(client, "SLACK_BOT_TOKEN")).toBe(value);
        expect(await rowsOf(client, "select from headroom.boxes where box is not null")).toEqual([]);
        expect(await refusalOf(get(client, "NOT_THERE"))).toMatchObject({ code: "PT503" });
      });
    });

    test("without its rights passed on, secrets are kept in the table, and migrations continue", async () => {
      await withVault("postgres", async (client) => {
        await client.query("reset role");
        await client.query("revoke all on schema vault from migrator cascade");
        await client.query("set local role migrator");
        await client.query(await readFile(new URL("../../../sql/grants/headroom/vault.sql", import.meta.url), "utf8"));
        await client.query("set local role headroom_owner");
        await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
        await set(client, "SLACK_BOT_TOKEN", value);
        expect(await get(client, "SLACK_BOT_TOKEN")).toBe(value);
        expect(await rowsOf(client, "select name from headroom.boxes where box is not null")).toEqual([
          { name: "SLACK_BOT_TOKEN" },
        ]);
      });
    });

    test("one that a role other than a superuser made is left alone", async () => {
      await withVault("migrator", async (client) => {
        await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
        await set(client, "SLACK_BOT_TOKEN", value);
        expect(await get(client, "SLACK_BOT_TOKEN")).toBe(value);
        await client.query("reset role");
        expect(await rowsOf(client, "select from vault.secrets")).toEqual([]);
      });
    });

    test("keeps the previous secret, and removes it by overwriting its value and its name", async () => {
      await withVault("postgres", async (client) => {
        const [name, first, second] = ["LINEAR_WEBHOOK_SECRET", "1".repeat(40), "2".repeat(40)];
        await set(client, name, first);
        for (const next of [second, first]) {
          await client.query("select headroom.set_secret($1, $2, true)", [name, next]);
          expect(await get(client, name)).toBe(next);
          expect(await get(client, `${name}_PREVIOUS`)).toBe(next === second ? first : second);
          const removing = "select headroom.remove_secret($1) as how";
          expect(await oneOf(client, removing, [`${name}_PREVIOUS`])).toEqual({ how: "overwritten" });
        }
        expect(await rowsOf(client, "select name from headroom.list_secrets()")).toEqual([{ name }]);
        await client.query("reset role");
        expect(
          await rowsOf(client, "select from vault.secrets where secret in (reverse($1), reverse($2)) and name <> $3", [
            first,
            second,
            name,
          ]),
        ).toEqual([]);
      });
    });

    test("a failure inside it reveals nothing of its values", async () => {
      await withVault("postgres", async (client) => {
        await client.query("reset role");
        await client.query(
          `create or replace function vault.create_secret(new_secret text, new_name text default null, new_description text default '') returns uuid
             language plpgsql as $$ begin raise exception 'cannot store %', new_secret; end $$`,
        );
        await client.query("set local role headroom_owner");
        const refusal = await refusalOf(set(client, "SLACK_BOT_TOKEN", value));
        expect(refusal).toMatchObject({ code: "PT503" });
        expect(everythingSaid(refusal)).not.toContain(value);
      });
    });
  });
});
