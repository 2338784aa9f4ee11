import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Rail } from "../../../../src/contract/rail.ts";
import type { FaultKind, Provider } from "../../../../src/sandbox/core/faults.ts";
import type { Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { openSidePool } from "../../../../src/db/side-pool.ts";
import { createProviderRails, type Environment } from "../../../../src/cli/relay/provider-rails.ts";
import { setSecret } from "../../../../src/db/secrets/index.ts";
import { customer } from "../../capacity/surfaces.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startFaultStage } from "../fault-stage.ts";

const stage = await startFaultStage();
const { surfaces } = stage;
const secretKey = randomBytes(32).toString("base64");
const rails: (Rail & { close?(): void })[] = [];
const side = openSidePool(surfaces.db.as("headroom_executor").url);
afterAll(() => side.end());

beforeAll(async () => {
  const client = await surfaces.db.superuser.pool.connect();
  try {
    const value = randomBytes(32).toString("hex");
    expect(await setSecret(client, { name: "CONFIRMATION_TOKEN_SECRET", value, key: secretKey })).toMatchObject({
      outcome: "stored",
    });
  } finally {
    client.release();
  }
});
beforeEach(() => rowsOf(surfaces.superuser, "update outbox.streams set resend_blind = false where name = 'people'"));
afterEach(() => {
  for (const rail of rails.splice(0)) rail.close?.();
});

/** The rail as the command line makes it, so that the database makes the tokens, by the relay's own role. */
function emailRail(transport: "smtp" | "postal", timeoutMs = 20_000): Rail {
  const sandbox = stage.sandbox();
  const environment: Environment = {
    MAIL_FROM: "Headroom <capacity@headroom.example>",
    HEADROOM_SECRET_KEY: secretKey,
    ...(transport === "smtp"
      ? { SMTP_URL: sandbox.smtpUrl }
      : { POSTAL_URL: `${sandbox.url}/postal`, POSTAL_API_KEY: "postal-sandbox" }),
  };
  const [made] = createProviderRails(side.read, environment);
  if (made === undefined) throw new Error("the environment has settings for mail");
  rails.push(made);
  return { ...made, timeoutMs };
}

async function askCustomer(): Promise<string> {
  const { id } = await surfaces.create({ customer });
  await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
  await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
  return id;
}

const mailsTo = (sandbox: Sandbox, id: string) =>
  sandbox.mail.list(customer.email).filter(({ subject }) => subject.includes(id));

describe.each(["smtp", "postal"] as const)("the customer's mail by %s", (transport) => {
  const provider: Provider = transport;

  test("contains a link that works, whose token is nowhere in the database", async () => {
    const sandbox = stage.sandbox();
    await stage.run(emailRail(transport));
    const id = await askCustomer();
    await surfaces.untilFinished(id);
    const [mail, ...more] = mailsTo(sandbox, id);
    expect(more).toEqual([]);
    const links = mail === undefined ? [] : sandbox.mail.linksIn(mail).filter((link) => link.includes("/confirm/"));
    expect(links).toHaveLength(1);
    const token = links[0]?.split("/").at(-1) ?? "";
    expect(links[0]).toBe(`https://capacity.acme.example/confirm/${token}`);
    const client = await surfaces.db.superuser.pool.connect();
    try {
      await client.query("begin");
      await client.query("select set_config('headroom.secret_key', $1, true)", [secretKey]);
      const { story } = await oneOf<{ story: object }>(client, "select public.describe_confirmation($1) as story", [
        token,
      ]);
      expect(story).toMatchObject({ status: "open", request_id: id });
      await client.query("commit");
    } finally {
      client.release();
    }
    const { found } = await oneOf<{ found: number }>(
      surfaces.superuser,
      `select (select count(*) from outbox.payloads p where p.payload::text like '%' || $1 || '%')::integer
            + (select count(*) from outbox.attempts a where a::text like '%' || $1 || '%')::integer as found`,
      [token],
    );
    expect(found).toBe(0);
  });

  // A mail server's reply says whether it accepted the mail; a failing Postal may have accepted it first.
  const [passing, doubtful]: readonly [FaultKind[], FaultKind[]] =
    transport === "smtp" ? [["error500"], []] : [[], ["error500", "error500AfterAccept"]];

  test.each<FaultKind>(["rateLimit", ...passing])("%s: it is sent later, once", async (kind) => {
    const sandbox = stage.sandbox();
    sandbox.faults.add({ provider, kind, times: 2, retryAfterSeconds: 0 });
    await stage.run(emailRail(transport));
    const id = await askCustomer();
    await surfaces.untilFinished(id);
    expect(mailsTo(sandbox, id)).toHaveLength(1);
    const lines = await stage.lines(id, "email");
    expect(lines.filter(({ state }) => state === "RETRYABLE")).toHaveLength(2);
    expect(lines.at(-1)).toMatchObject({ state: "DISPATCHED", uncertain: false });
  });

  const withoutEffect: readonly FaultKind[] = ["hangBeforeAccept", "error500"];

  test.each<FaultKind>(["hang", "dropAfterAccept", "cutAnswer", "garbage", "late", "hangBeforeAccept", ...doubtful])(
    "%s: it may or may not have arrived, so it is not sent again and waits for a person",
    async (kind) => {
      const sandbox = stage.sandbox();
      sandbox.faults.add({ provider, kind, times: 1 });
      await stage.run(emailRail(transport, 700));
      const id = await askCustomer();
      await surfaces.untilFinished(id);
      expect(mailsTo(sandbox, id)).toHaveLength(withoutEffect.includes(kind) ? 0 : 1);
      const lines = await stage.lines(id, "email");
      expect(lines.at(-1)).toMatchObject({ state: "FAILED", uncertain: true, code: "outcome_unknown" });
      const dead = await rowsOf(
        surfaces.superuser,
        `select from outbox.list_dead('people', p_parked => true) x join notify.deliveries d on d.outbox_id = x.outbox_id
          where d.recipient = $1`,
        [id],
      );
      expect(dead).toHaveLength(1);
    },
  );

  test("a refusal ends it, and the archive keeps nothing of a mail with a link", async () => {
    const sandbox = stage.sandbox();
    sandbox.faults.add({ provider, kind: "refuseEchoing", times: 1 });
    await stage.run(emailRail(transport));
    const id = await askCustomer();
    await surfaces.untilFinished(id);
    const last = (await stage.lines(id, "email")).at(-1);
    expect(last).toMatchObject({ state: "FAILED", uncertain: false });
    expect(last?.message).not.toMatch(/confirm\/|refused on purpose/);
  });
});

test("without the key of the secrets the mail waits, and nothing is sent without its link", async () => {
  const sandbox = stage.sandbox();
  const environment = { MAIL_FROM: "a@headroom.example", SMTP_URL: sandbox.smtpUrl };
  const [made] = createProviderRails(side.read, environment);
  if (made === undefined) throw new Error("the environment has settings for mail");
  rails.push(made);
  await rowsOf(surfaces.superuser, "update outbox.streams set max_tries = 3 where name = 'people'");
  await stage.run(made);
  const id = await askCustomer();
  await surfaces.untilFinished(id);
  expect((await stage.lines(id, "email")).at(-1)).toMatchObject({ state: "FAILED", code: "token_unavailable" });
  expect(mailsTo(sandbox, id)).toEqual([]);
});
