/**
 * Changing the key that secrets are sealed under, and the secret that links are signed with, while processes with the old key, the new one
 * and both are running. What is not under the right key is refused and left unchanged.
 */
import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import type { ClientBase } from "pg";
import { describe, expect, test } from "vitest";
import { listSecrets, removeSecret, rotateSecretKey, setSecret } from "../../../src/db/secrets/index.ts";
import { withSecretKey, type SecretKey } from "../../../src/db/secrets/secret-key.ts";
import { listEndpoints, putEndpoint } from "../../../src/webhooks/endpoints.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { anonymous, overHttp } from "../capacity/gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";

const oldKey = "the key before, of thirty-two bytes or more";
const newKey = "the key after it, of thirty-two bytes or more";
const both = { current: newKey, previous: oldKey };
const wrong = "a key that was mistyped, of thirty-two bytes or more";

/** A box from before boxes named their key: version, initial vector, ciphertext, HMAC. */
function boxOfVersion1(key: string, name: string, value: string): Buffer {
  const derived = (purpose: string): Buffer => createHmac("sha256", key).update(purpose).digest();
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-256-cbc", derived("headroom: encrypt secrets"), iv);
  const body = Buffer.concat([Buffer.of(1), iv, cipher.update(value, "utf8"), cipher.final()]);
  const mac = createHmac("sha256", derived("headroom: authenticate secrets"));
  return Buffer.concat([body, mac.update(name).update("\0").update(body).digest()]);
}

describe.each(POSTGRES_VERSIONS)("changing the key on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const control = await db.as("headroom_control").connect();

  const query = <T = unknown>(text: string, values: unknown[] = []): Promise<T[]> =>
    rowsOf<T>(db.superuser.pool, text, values);
  const boxes = (): Promise<{ name: string; box: Buffer | null }[]> =>
    query("select name, box from headroom.boxes order by 1");
  async function clean(): Promise<void> {
    await query("delete from headroom.boxes");
    await query("delete from webhooks.endpoints");
    await query("delete from headroom.sealing_key");
  }
  const set = (name: string, value: string, key: SecretKey, client: ClientBase = control) =>
    setSecret(client, { name, value, key });
  /** As the functions that need a secret see it. */
  const get = async (name: string, key: SecretKey): Promise<string | null> => {
    const owner = await db.as("headroom_owner").pool.connect();
    try {
      const read = async () => (await oneOf<{ v: string }>(owner, "select headroom.get_secret($1) as v", [name])).v;
      return await withSecretKey(owner, key, read).catch(() => null);
    } finally {
      owner.release();
    }
  };
  const endpoint = (name: string, key: SecretKey) =>
    putEndpoint(control, name, { url: "https://example.com/hook", headers: { "x-token": "t" } }, { key });
  const readable = async (key: SecretKey): Promise<boolean[]> => [
    ...(await listEndpoints(control, { key })).map((one) => one.readable),
    ...((await listSecrets(control, key)) as { secrets: readonly { readable: boolean }[] }).secrets.map(
      (one) => one.readable,
    ),
  ];
  const rotate = (key: SecretKey, more: object = {}) => rotateSecretKey(control, { key, ...more });

  test("either key opens what it sealed, including boxes that do not name their key", async () => {
    await clean();
    await query("insert into headroom.boxes (name, box) values ('A', $1)", [boxOfVersion1(oldKey, "A", "value")]);
    expect(await get("A", oldKey)).toBe("value");
    expect(await get("A", both)).toBe("value");
    expect(await get("A", { current: oldKey, previous: newKey })).toBe("value");
    expect(await get("A", newKey)).toBeNull();
    await set("B", "other", oldKey);
    const [box] = await query<{ box: Buffer }>("select box from headroom.boxes where name = 'B'");
    const id = createHmac("sha256", oldKey).update("headroom: name the key").digest().subarray(0, 8);
    expect(box?.box.subarray(0, 9)).toEqual(Buffer.concat([Buffer.of(2), id]));
    expect(await get("B", both)).toBe("other");
    expect(await get("B", newKey)).toBeNull();
  });

  test("a process with the new key still seals so that those with the old one can read it, until the key is changed for all", async () => {
    await clean();
    await set("A", "first", oldKey);
    await set("B", "second", both);
    expect(await get("B", oldKey)).toBe("second");
    expect(await rotate(both)).toMatchObject({ outcome: "rotated", sealed: 2, resealed: 2, previousNeeded: false });
    await set("C", "third", both);
    await set("D", "fourth", newKey);
    expect([await get("C", newKey), await get("D", both)]).toEqual(["third", "fourth"]);
  });

  test("a process without the key in use is refused, and nothing is stored or changed", async () => {
    await clean();
    await set("A", "first", oldKey);
    await rotate(both);
    const before = await boxes();
    for (const key of [oldKey, wrong, { current: wrong, previous: oldKey }]) {
      expect(await set("A", "other", key)).toMatchObject({
        outcome: "refused",
        code: "not_configured",
        message: expect.stringContaining("Nothing was stored"),
        hint: expect.stringContaining("HEADROOM_SECRET_KEY"),
      });
      await expect(endpoint("hooks", key)).rejects.toMatchObject({ code: "not_configured" });
    }
    expect(await boxes()).toEqual(before);
  });

  test("where nobody wrote down yet which key is in use, what is there says it, and a mistyped key does not become it", async () => {
    await clean();
    await query("insert into headroom.boxes (name, box) values ('A', $1)", [boxOfVersion1(oldKey, "A", "value")]);
    expect(await set("B", "other", wrong)).toMatchObject({ outcome: "refused", code: "not_configured" });
    await set("B", "other", both);
    expect(await get("B", oldKey)).toBe("other");
  });

  test("everything is sealed again, endpoints and their headers too; the new key alone opens it, and a second run finds nothing to do", async () => {
    await clean();
    await query("insert into headroom.boxes (name, box) values ('A', $1)", [boxOfVersion1(oldKey, "A", "value")]);
    for (const name of ["B_SECRET", "C_SECRET"]) await set(name, name.repeat(8), oldKey);
    for (const name of ["one", "two", "three"]) await endpoint(name, oldKey);
    expect(await rotate(both, { dryRun: true })).toMatchObject({
      outcome: "looked",
      sealed: 9,
      resealed: 9,
      previousNeeded: true,
    });
    expect(new Set(await readable(newKey))).toEqual(new Set([false]));
    const seen: number[] = [];
    expect(await rotate(both, { batch: 2, onProgress: (done: number) => seen.push(done) })).toEqual({
      outcome: "rotated",
      sealed: 9,
      resealed: 9,
      unreadable: [],
      inVault: 0,
      previousNeeded: false,
    });
    expect(seen).toEqual([2, 4, 6, 8, 9]);
    expect(new Set(await readable(newKey))).toEqual(new Set([true]));
    expect(await get("A", newKey)).toBe("value");
    const after = await boxes();
    expect(await rotate(newKey)).toMatchObject({ outcome: "rotated", sealed: 9, resealed: 0, previousNeeded: false });
    expect(await boxes()).toEqual(after);
  });

  test("with wrong keys nothing is changed, and what they do not open is named; a lost key is said to be lost", async () => {
    await clean();
    await set("A", "first", oldKey);
    await endpoint("hooks", oldKey);
    const before = await boxes();
    for (const key of [newKey, wrong, { current: newKey, previous: wrong }]) {
      expect(await rotate(key)).toMatchObject({
        outcome: "unreadable",
        unreadable: expect.arrayContaining(["A", "endpoint hooks (headers)", "endpoint hooks (signing)"]),
        resealed: 0,
      });
    }
    expect(await boxes()).toEqual(before);
    await set("B", "still under the old one", oldKey);

    expect(await rotate(newKey, { lost: true })).toMatchObject({
      outcome: "rotated",
      sealed: 4,
      resealed: 0,
      previousNeeded: true,
    });
    expect((await boxes()).filter(({ name }) => name !== "B")).toEqual(before);
    await set("A", "again", newKey);
    expect(await get("A", newKey)).toBe("again");
    // The lost key was found after all.
    expect(await rotate(both)).toMatchObject({ outcome: "rotated", unreadable: [], previousNeeded: false });
    expect(await get("B", newKey)).toBe("still under the old one");
  });

  test("a rotation waits for what is being sealed under the old key, and seals it again", async () => {
    await clean();
    await set("A", "first", oldKey);
    const sealer = await db.as("headroom_control").connect();
    await sealer.query("begin");
    await sealer.query("select set_config('headroom.secret_key', $1, true)", [oldKey]);
    await sealer.query("select headroom.set_secret('LATE', 'sealed under the old key')");
    const rotating = rotate(both);
    await db.waitUntilBlocked(control.pid);
    await sealer.query("commit");
    expect(await rotating).toMatchObject({ outcome: "rotated", sealed: 2, resealed: 2, previousNeeded: false });
    expect(await get("LATE", newKey)).toBe("sealed under the old key");
  });

  test("two rotations at the same time seal each value again once, and both find everything done", async () => {
    await clean();
    for (let index = 0; index < 30; index += 1) await set(`S${index}`, "value", oldKey);
    const [one, other] = await db.twoConnections("headroom_control");
    const results = await Promise.all([one, other].map((client) => rotateSecretKey(client, { key: both, batch: 3 })));
    expect(results).toMatchObject([{ previousNeeded: false }, { previousNeeded: false }]);
    expect(results.reduce((sum, result) => sum + (result.outcome === "rotated" ? result.resealed : 0), 0)).toBe(30);
  });

  test("a row that is held for long makes a rotation end, not wait; run again, it continues", async () => {
    await clean();
    for (const name of ["A", "B"]) await set(name, "value", oldKey);
    const holder = await db.superuser.connect();
    await holder.query("begin");
    await holder.query("select from headroom.boxes where name = 'B' for update");
    await expect(rotate(both, { batch: 1 })).rejects.toMatchObject({ code: "lock_timeout" });
    await holder.query("rollback");
    expect(await rotate(both)).toMatchObject({ outcome: "rotated", resealed: 1, previousNeeded: false });
  });
});

const first = "the first secret for links, of 32 bytes";
const second = "the second secret for links, of 32 bytes";

describe.each(POSTGRES_VERSIONS)("changing the secret of links on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const control = await db.as("headroom_control").connect();
  const name = "CONFIRMATION_TOKEN_SECRET";

  /** A link as it is mailed now. */
  async function mailed(id: string): Promise<string> {
    const executor = await db.as("headroom_executor").pool.connect();
    try {
      const text = "select capacity.confirmation_token(t.id) as token from (select $1::uuid as id) t";
      const [row] = await rowsOf<{ id: string }>(
        db.superuser.pool,
        "select confirmation_token_id as id from capacity.requests where id = $1",
        [id],
      );
      return await withSecretKey(
        executor,
        newKey,
        async () => (await oneOf<{ token: string }>(executor, text, [row?.id])).token,
      );
    } finally {
      executor.release();
    }
  }
  const statusOf = (token: string): Promise<string> =>
    overHttp(db, anonymous, async (client) => {
      await client.query("select set_config('headroom.secret_key', $1, true)", [newKey]);
      const text = "select public.describe_confirmation($1) ->> 'status' as status";
      return (await oneOf<{ status: string }>(client, text, [token])).status;
    });
  const confirm = (token: string): Promise<string> =>
    overHttp(db, anonymous, async (client) => {
      await client.query("select set_config('headroom.secret_key', $1, true)", [newKey]);
      const text = "select public.decide_by_token($1, 'confirm') ->> 'status' as status";
      return (await oneOf<{ status: string }>(client, text, [token])).status;
    });

  test("links signed with the previous secret can be answered until it is removed, which is refused while some are open", async () => {
    await setSecret(control, { name, value: first, key: newKey });
    const [one, two] = [
      await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED"),
      await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED"),
    ];
    const [oldOne, oldTwo] = [await mailed(one), await mailed(two)];
    expect(await setSecret(control, { name, value: second, key: newKey, keepPrevious: true })).toMatchObject({
      outcome: "stored",
    });
    // Sent again, it is another link to the same offer; the one in the mailbox is still valid.
    const newTwo = await mailed(two);
    expect(newTwo).not.toBe(oldTwo);
    expect([await statusOf(oldTwo), await statusOf(newTwo)]).toEqual(["open", "open"]);
    expect(await confirm(oldOne)).toBe("confirmed");

    // Another change would silently drop the secret that was kept.
    expect(await setSecret(control, { name, value: first, key: newKey, keepPrevious: true })).toMatchObject({
      outcome: "refused",
      code: "conflict",
      hint: expect.stringContaining(`headroom secret remove ${name}_PREVIOUS`),
    });
    expect(await removeSecret(control, `${name}_PREVIOUS`)).toMatchObject({
      outcome: "refused",
      code: "conflict",
      message: expect.stringMatching(/can still be answered: 1, the last until \d{4}-/),
    });
    expect(await statusOf(oldTwo)).toBe("open");
    expect(await confirm(newTwo)).toBe("confirmed");
    expect(await removeSecret(control, `${name}_PREVIOUS`)).toEqual({ outcome: "removed", name: `${name}_PREVIOUS` });
    expect(await codeOf(statusOf(oldTwo))).toBe("not_found");
    expect(await statusOf(newTwo)).toBe("confirmed");
  });

  test("when the operator insists it is removed, and a link that it signed is no better than a forged one", async () => {
    await setSecret(control, { name, value: first, key: newKey });
    const link = await mailed(await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED"));
    await setSecret(control, { name, value: second, key: newKey, keepPrevious: true });
    expect(await removeSecret(control, `${name}_PREVIOUS`, { anyway: true })).toMatchObject({ outcome: "removed" });
    expect(await codeOf(statusOf(link))).toBe("not_found");
    expect(await removeSecret(control, `${name}_PREVIOUS`)).toMatchObject({ outcome: "refused", code: "not_found" });
  });

  test("a previous secret is as long as the current one, and none is kept where there was none", async () => {
    for (const secret of [
      { name: `${name}_PREVIOUS`, value: "short" },
      { name: `${name}_PREVIOUS`, value: first, keepPrevious: true },
    ]) {
      expect(await setSecret(control, { ...secret, key: newKey })).toMatchObject({ code: "invalid_input" });
    }
    expect(
      await setSecret(control, { name: "NOT_THERE", value: first, key: newKey, keepPrevious: true }),
    ).toMatchObject({
      code: "not_configured",
    });
  });
});
