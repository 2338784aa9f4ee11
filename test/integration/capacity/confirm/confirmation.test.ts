/**
 * The customer's link: how a token is made, what its page shows, and that it answers once. Requests come over HTTP as anon; the
 * token is made as the executor makes it, at the moment of sending.
 */
import { createHmac, randomUUID } from "node:crypto";
import type { ClientBase } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { anonymous, enter, memberSession, overHttp, service, type Session } from "../gateway.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow } from "../harness.ts";

const secretKey = "0123456789abcdef0123456789abcdef";
const secret = "a secret for links, of 32 bytes or more";

interface Story {
  readonly status: string;
  readonly decision: string | null;
  readonly decided_by: string | null;
  readonly repeated?: boolean;
}

/** The token as the specification defines it: id and HMAC, in the alphabet of links. */
function tokenOf(id: string, withSecret = secret): string {
  const bytes = Buffer.from(id.replaceAll("-", ""), "hex");
  return Buffer.concat([bytes, createHmac("sha256", withSecret).update(bytes).digest()]).toString("base64url");
}

const describeIn = async (client: ClientBase, token: unknown): Promise<Story> =>
  (await oneOf<{ story: Story }>(client, "select public.describe_confirmation($1) as story", [token])).story;

const decideIn = async (client: ClientBase, token: unknown, decision: unknown, reason: unknown = null) =>
  (
    await oneOf<{ story: Story }>(client, "select public.decide_by_token($1, $2, $3) as story", [
      token,
      decision,
      reason,
    ])
  ).story;

describe.each(POSTGRES_VERSIONS)("the confirmation link on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const superuser = db.superuser.pool;

  beforeAll(async () => {
    // From here on every session of this database has the key, as in a configured process.
    await superuser.query(`alter database ${db.name} set headroom.secret_key = '${secretKey}'`);
    await setSecret(secret);
  });

  async function setSecret(value: string): Promise<void> {
    const control = await db.as("headroom_control").connect();
    await control.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', $1)", [value]);
    await control.end();
  }

  const describeLink = (token: unknown, session: Session = anonymous): Promise<Story> =>
    overHttp(db, session, (client) => describeIn(client, token));
  const decide = (token: unknown, decision: unknown, reason: unknown = null, session: Session = anonymous) =>
    overHttp(db, session, (client) => decideIn(client, token, decision, reason));

  /** A request that waits for its customer, and the token that would be mailed. */
  async function offer(): Promise<{ id: string; tokenId: string; token: string }> {
    const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer: { name: "Initech" } });
    const { token_id } = await oneOf<{ token_id: string }>(
      superuser,
      "select confirmation_token_id as token_id from capacity.requests where id = $1",
      [id],
    );
    const { token } = await oneOf<{ token: string }>(
      db.as("headroom_executor").pool,
      "select capacity.confirmation_token($1) as token",
      [token_id],
    );
    return { id, tokenId: token_id, token };
  }

  const everything = (id: string): Promise<unknown> =>
    oneOf(
      superuser,
      `select to_jsonb(r) as request, to_jsonb(t) as token, (select count(*) from capacity.events e where e.request_id = r.id) as events,
              (select count(*) from outbox.payloads) as messages
         from capacity.requests r join capacity.confirmation_tokens t on t.request_id = r.id where r.id = $1`,
      [id],
    );

  test("the token is the id and its HMAC, in 64 characters that a link can carry", async () => {
    const { tokenId, token } = await offer();
    expect(token).toBe(tokenOf(tokenId));
    expect(token).toMatch(/^[A-Za-z0-9_-]{64}$/);
  });

  test("only an existing request gets a token, and only the executor can ask for it", async () => {
    const { tokenId } = await offer();
    const ask = "select capacity.confirmation_token($1)";
    expect(await codeOf(db.as("headroom_executor").pool.query(ask, [randomUUID()]))).toBe("not_found");
    for (const role of ["headroom_control", "headroom_auditor", "headroom_ingest"] as const) {
      expect(await refusalOf(db.as(role).pool.query(ask, [tokenId]))).toMatchObject({ code: "42501" });
    }
    for (const session of [anonymous, memberSession("ada"), service]) {
      expect(await refusalOf(overHttp(db, session, (client) => client.query(ask, [tokenId])))).toMatchObject({
        code: "42501",
      });
    }
  });

  test("a request has one token and no second", async () => {
    const { id } = await offer();
    expect(await refusalOf(superuser.query("select capacity.new_confirmation_token($1, now())", [id]))).toMatchObject({
      code: "23505",
    });
  });

  test("opening the link shows the offer and changes nothing, however often, even in a read-only transaction", async () => {
    const { id, token } = await offer();
    const before = await everything(id);
    for (const session of [anonymous, anonymous, memberSession("rita"), service]) {
      expect(await describeLink(token, session)).toMatchObject({
        status: "open",
        decision: null,
        request_id: id,
        workspace: "Acme",
        contact: "Cora",
        requested_size: "32XL",
        quantity: 4,
      });
    }
    await overHttp(db, anonymous, async (client) => {
      await client.query("set transaction read only");
      expect(await describeIn(client, token)).toMatchObject({ status: "open" });
    });
    expect(await everything(id)).toEqual(before);
  });

  test("the page says nothing about the customer, since mail scanners open it too", async () => {
    const { token } = await offer();
    expect(JSON.stringify(await describeLink(token))).not.toContain("Initech");
  });

  test("confirming moves the request on, and the log says that the customer did it by link", async () => {
    const { id, token } = await offer();
    expect(await decide(token, "confirm")).toMatchObject({
      status: "confirmed",
      decision: "confirm",
      decided_by: "customer",
      repeated: false,
    });
    expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING", next_deadline_at: null });
    expect((await workflow.events(id)).at(-1)).toMatchObject({
      event_type: "CUSTOMER_CONFIRMED",
      actor_type: "customer",
      actor_id: "customer",
      via: "link",
      payload: {},
    });
    expect(
      await oneOf(
        superuser,
        "select used_at is not null as used, used_for from capacity.confirmation_tokens where request_id = $1",
        [id],
      ),
    ).toEqual({
      used: true,
      used_for: "CUSTOMER_CONFIRMED",
    });
    await workflow.expectWhole([id]);
  });

  test("declining ends it, with the reason if there is one", async () => {
    const one = await offer();
    expect(await decide(one.token, "decline", " too expensive \n")).toMatchObject({
      status: "declined",
      decision: "decline",
    });
    expect(await workflow.row(one.id)).toMatchObject({ state: "CANCELLED", cancellation_reason: "too expensive" });
    const other = await offer();
    expect(await decide(other.token, "decline", "  ")).toMatchObject({ status: "declined" });
    expect((await workflow.row(other.id)).state).toBe("CANCELLED");
  });

  test("the token is in no table", async () => {
    const { token } = await offer();
    await decide(token, "confirm");
    const tables = await rowsOf<{ name: string }>(
      superuser,
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('capacity', 'outbox') and c.relkind = 'r'`,
    );
    for (const { name } of tables) {
      expect(await rowsOf(superuser, `select from ${name} t where strpos(t::text, $1) > 0`, [token])).toEqual([]);
    }
  });

  test.each(["confirm", "decline"])(
    "the same answer again (%s) changes nothing and says what was decided",
    async (decision) => {
      const { id, token } = await offer();
      await decide(token, decision);
      const before = await everything(id);
      expect(await decide(token, decision)).toMatchObject({ decision, repeated: true });
      expect(await codeOf(decide(token, decision === "confirm" ? "decline" : "confirm"))).toBe("already_used");
      expect(await everything(id)).toEqual(before);
    },
  );

  test("of two simultaneous answers one decides; the same answer is a repeat, the opposite one is refused", async () => {
    for (const second of ["confirm", "decline"]) {
      const { id, token } = await offer();
      const [one, other] = await db.twoConnections("authenticator");
      for (const client of [one, other]) {
        await client.query("begin");
        await enter(client, anonymous);
      }
      expect(await decideIn(one, token, "confirm")).toMatchObject({ repeated: false });
      const late = decideIn(other, token, second).then(
        (story) => story.repeated,
        (error: { detail?: string }) => error.detail,
      );
      await db.waitUntilBlocked(other);
      await one.query("commit");
      expect(await late).toBe(second === "confirm" ? true : "already_used");
      await other.query("rollback");
      expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING", version: 4 });
    }
  });

  test("of two simultaneous answers the first is rolled back: the second decides", async () => {
    const { id, token } = await offer();
    const [one, other] = await db.twoConnections("authenticator");
    for (const client of [one, other]) {
      await client.query("begin");
      await enter(client, anonymous);
    }
    await decideIn(one, token, "confirm");
    const late = decideIn(other, token, "decline");
    await db.waitUntilBlocked(other);
    await one.query("rollback");
    expect(await late).toMatchObject({ decision: "decline", repeated: false });
    await other.query("commit");
    expect((await workflow.row(id)).state).toBe("CANCELLED");
  });

  test("after the deadline the link is gone, before the sweep as well as after", async () => {
    const { id, token } = await offer();
    await workflow.passDeadline(id);
    expect(await describeLink(token)).toMatchObject({ status: "expired" });
    for (const decision of ["confirm", "decline"]) {
      expect(await refusalOf(decide(token, decision))).toMatchObject({ code: "PT410", detail: "gone: expired" });
    }
    await workflow.apply(id, "CUSTOMER_CONFIRMATION_TIMEOUT", "cron:timer");
    expect(await describeLink(token)).toMatchObject({ status: "expired", decision: null });
    expect(await refusalOf(decide(token, "confirm"))).toMatchObject({ code: "PT410" });
  });

  test("after a cancellation the link is gone", async () => {
    const { id, token } = await offer();
    await workflow.apply(id, "CANCEL_APPROVED", "rita");
    expect(await describeLink(token)).toMatchObject({ status: "cancelled" });
    expect(await refusalOf(decide(token, "confirm"))).toMatchObject({ code: "PT410", detail: "gone: cancelled" });
    expect((await workflow.row(id)).state).toBe("CANCELLED");
  });

  test("another address gets another link, and the first one no longer works", async () => {
    const { id, token } = await offer();
    await rowsOf(superuser, "select public.set_customer_address($1, 'it@initech.example', 'cora')", [id]);
    expect(await codeOf(describeLink(token))).toBe("not_found");
    for (const decision of ["confirm", "decline"]) expect(await codeOf(decide(token, decision))).toBe("not_found");
    const inForce = "select id from capacity.confirmation_tokens where request_id = $1 and revoked_at is null";
    const { id: second } = await oneOf<{ id: string }>(superuser, inForce, [id]);
    expect(await decide(tokenOf(second), "decline")).toMatchObject({ status: "declined" });
  });

  test("an answer recorded on the customer's behalf uses the link up, and the page says so", async () => {
    const { id, token } = await offer();
    await workflow.apply(id, "CUSTOMER_CONFIRMED", "cora");
    expect(await describeLink(token)).toMatchObject({ status: "confirmed", decided_by: "on_behalf" });
    expect(await decide(token, "confirm")).toMatchObject({ repeated: true });
    expect(await codeOf(decide(token, "decline"))).toBe("already_used");
    await workflow.apply(id, "CANCEL_APPROVED", "ada");
    expect(await describeLink(token)).toMatchObject({ status: "cancelled", decision: "confirm" });
  });

  test("a token with any byte or character changed is invalid", async () => {
    const { id, token } = await offer();
    const before = await everything(id);
    const bytes = Buffer.from(token, "base64url");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const tampered = [
      ...Array.from(bytes.keys(), (place) => {
        const copy = Buffer.from(bytes);
        copy[place] = copy[place]! ^ (1 << (place % 8));
        return copy.toString("base64url");
      }),
      ...Array.from(token, (character, place) => {
        const other = alphabet[(alphabet.indexOf(character) + 1) % 64]!;
        return token.slice(0, place) + other + token.slice(place + 1);
      }),
    ];
    for (const bad of tampered) {
      expect(bad).not.toBe(token);
      expect(await codeOf(decide(bad, "confirm"))).toBe("not_found");
    }
    expect(await codeOf(describeLink(tampered[0]))).toBe("not_found");
    expect(await everything(id)).toEqual(before);
  });

  test("garbage gets the same answer as a token that nobody made", async () => {
    const { token, tokenId } = await offer();
    const garbage: unknown[] = [
      null,
      "",
      " ",
      tokenId,
      token.slice(1),
      `${token}A`,
      `${token}=`,
      ` ${token}`,
      `${token}\n`,
      token.toLowerCase() === token ? token.toUpperCase() : token.toLowerCase(),
      "=".repeat(64),
      "+/".repeat(32),
      "é".repeat(64),
      "'; drop table capacity.requests; --".padEnd(64, "-"),
      "x".repeat(1_000_000),
      tokenOf(randomUUID()),
      tokenOf(tokenId, "another secret"),
    ];
    const answers = new Set<string>();
    for (const bad of garbage) {
      for (const ask of [() => describeLink(bad), () => decide(bad, "confirm")]) {
        const { code, message, detail } = await refusalOf(ask());
        answers.add(JSON.stringify([code, message, detail]));
      }
    }
    expect([...answers]).toEqual([JSON.stringify(["PT404", "This link is not valid.", "not_found"])]);
  });

  test.each([
    ["an invalid decision", "perhaps", null, "invalid_input"],
    ["no decision", null, null, "invalid_input"],
    ["an event's name", "CUSTOMER_CONFIRMED", null, "invalid_input"],
    ["a reason that is too long", "decline", "x".repeat(2001), "invalid_payload"],
    ["a reason with control characters", "decline", "a\u0007b", "invalid_payload"],
    ["a reason of a megabyte", "confirm", "x".repeat(1_000_000), "invalid_payload"],
  ])("%s is refused, and nothing happens", async (_what, decision, reason, code) => {
    const { id, token } = await offer();
    const before = await everything(id);
    expect(await codeOf(decide(token, decision, reason))).toBe(code);
    expect(await everything(id)).toEqual(before);
  });

  test("another secret invalidates all links mailed before", async () => {
    const { token, tokenId } = await offer();
    const rotated = "another secret for links, just as long";
    await setSecret(rotated);
    expect(await codeOf(describeLink(token))).toBe("not_found");
    expect(await describeLink(tokenOf(tokenId, rotated))).toMatchObject({ status: "open" });
    await setSecret(secret);
    expect(await describeLink(token)).toMatchObject({ status: "open" });
  });

  test("without the secret, or without the key to it, nothing is decided and no internals are shown", async () => {
    const { id, token, tokenId } = await offer();
    const before = await everything(id);
    const withoutKey = async (client: ClientBase): Promise<unknown> => {
      await client.query("set local headroom.secret_key = ''");
      return decideIn(client, token, "confirm");
    };
    const refusal = await refusalOf(overHttp(db, anonymous, withoutKey));
    expect(refusal).toMatchObject({ code: "PT503", detail: "not_configured" });
    expect(`${refusal.message} ${refusal.detail} ${refusal.hint}`).not.toMatch(
      new RegExp(`${secret}|${secretKey}|${token}|pgcrypto|vault|SECRET|HEADROOM|operator`, "i"),
    );
    await superuser.query("delete from headroom.boxes");
    expect(await refusalOf(describeLink(token))).toMatchObject({ message: refusal.message, detail: refusal.detail });
    expect(await codeOf(decide(token, "confirm"))).toBe("not_configured");
    expect(
      await codeOf(db.as("headroom_executor").pool.query("select capacity.confirmation_token($1)", [tokenId])),
    ).toBe("not_configured");
    expect(await everything(id)).toEqual(before);
    await setSecret(secret);
  });

  test("with a secret that is too short, no link is made and none is answered", async () => {
    const { id, tokenId } = await offer();
    const before = await everything(id);
    const short = "x".repeat(31);
    const withTheKey = await db.superuser.connect();
    await withTheKey.query("update headroom.boxes set box = headroom.seal_secret(name, $1)", [short]);
    const ask = "select capacity.confirmation_token($1)";
    expect(await codeOf(db.as("headroom_executor").pool.query(ask, [tokenId]))).toBe("not_configured");
    expect(await refusalOf(decide(tokenOf(tokenId, short), "confirm"))).toMatchObject({
      code: "PT503",
      detail: "not_configured",
    });
    expect(await everything(id)).toEqual(before);
    await setSecret(secret);
  });
});
