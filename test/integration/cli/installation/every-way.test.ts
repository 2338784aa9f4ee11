/** Each way of relaying serves what the installation has, wherever its secrets are kept, and says what it does not serve. */
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openSidePool } from "../../../../src/db/side-pool.ts";
import { loadRails } from "../../../../src/cli/relay/rails.ts";
import { closeRails } from "../../../../src/cli/relay/close-rails.ts";
import { createRelay, type RelayLogEntry } from "../../../../src/outbox/index.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { putEndpoint } from "../../../../src/webhooks/endpoints.ts";
import { createTestDatabase, type TestDatabase, type TestRole } from "../../../helpers/database.ts";
import { installVault } from "../../../helpers/vault.ts";
import { jwtSecret } from "../../http/harness.ts";
import { until } from "../../outbox/relay/stage.ts";
import { providerSecrets } from "../../product/harness.ts";
import { startReceiver, type Receiver } from "../../rails/receiver/receiver.ts";
import { envelope } from "../../webhooks/harness.ts";
import { headroom, startHeadroom, type Outcome, type Running } from "../harness.ts";

const secretKey = "0123456789abcdef0123456789abcdef";
const relaySecret = "relay-secret-of-this-test-32-characters";
const channel = "C0CAPACITY";

interface Kept {
  readonly name: string;
  readonly db: TestDatabase;
  /** What a process needs in addition to its login to open secrets. */
  readonly key: Readonly<Record<string, string>>;
}

async function withVault(db: TestDatabase): Promise<void> {
  const client = await db.superuser.connect();
  await client.query("begin");
  await installVault(client);
  await client.query("commit");
  await client.end();
}

const inTable: Kept = { name: "the table", db: await createTestDatabase(), key: { HEADROOM_SECRET_KEY: secretKey } };
const inVault: Kept = { name: "Vault", db: await createTestDatabase(), key: {} };

const executorOf = ({ db }: Kept): string => db.as("headroom_executor").url;
const operator = ({ db }: Kept) => ({ DATABASE_URL: db.as("headroom_control").url });

function secret(kept: Kept, parameters: readonly string[], stdin = ""): Promise<Outcome> {
  return headroom(["secret", ...parameters], {
    env: { ...operator(kept), ...kept.key },
    stdin,
  });
}

async function receiverOf(kept: Kept, name: string): Promise<Receiver> {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const control = await kept.db.as("headroom_control").connect();
  const settings = { url: `${receiver.url}/hook`, topics: ["*"] };
  const { secret: signing } = await putEndpoint(control, name, settings, {
    key: kept.key["HEADROOM_SECRET_KEY"],
    allowPrivate: true,
  });
  await control.end();
  receiver.setSecrets([signing ?? ""]);
  onTestFinished(async () => {
    await kept.db.superuser.pool.query("select webhooks.remove_endpoint($1)", [name]);
  });
  return receiver;
}

function publish({ db }: Kept): Promise<unknown> {
  return db
    .as("headroom_ingest")
    .pool.query("insert into payments.outbox_transfers (payload) values ($1)", [JSON.stringify(envelope())]);
}

const loopback = ["--allow-http", "--allow-private", "127.0.0.1/32"];

async function serve(kept: Kept, key: Readonly<Record<string, string>> = kept.key): Promise<[Running, string]> {
  const server = startHeadroom(["serve", "--port", "0", "--json", ...loopback], {
    env: {
      HEADROOM_GATEWAY_URL: kept.db.as("authenticator").url,
      HEADROOM_JWT_SECRET: jwtSecret,
      HEADROOM_RELAY_SECRET: relaySecret,
      DATABASE_URL: executorOf(kept),
      ...key,
    },
  });
  const ready = JSON.parse(await server.line((line) => line.includes("server_ready"))) as { url: string };
  return [server, ready.url];
}

const call = async (url: string): Promise<unknown> => {
  const headers = { "x-outbox-secret": relaySecret };
  return (await fetch(`${url}/api/internal/outbox-relay`, { method: "POST", headers })).json();
};

async function startSlack(token: string): Promise<[Sandbox, { slackBotToken: string }]> {
  const secrets = { ...providerSecrets, slackBotToken: token };
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets });
  onTestFinished(() => sandbox.close());
  return [sandbox, secrets];
}

const posted = (sandbox: Sandbox): string[] => sandbox.slack.messages(channel).map(({ text }) => text);

const untilPosted = (sandbox: Sandbox, text: string): Promise<unknown> =>
  until(
    () => posted(sandbox),
    (texts) => texts.includes(text),
    `the message ${text}`,
  );

describe.each([inTable, inVault])("with secrets in $name", (kept) => {
  beforeAll(() => (kept === inVault ? withVault(kept.db) : undefined));

  /** With rows for Slack of an application that was granted its rail. */
  const enqueue = (text: string): Promise<unknown> =>
    kept.db
      .as("headroom_ingest")
      .pool.query("select outbox.enqueue('notes', $1, $1, $1, 'slack', $2)", [
        text,
        JSON.stringify({ method: "chat.postMessage", channel, text }),
      ]);

  test("the route of a server delivers webhooks, and is counted as a relay", async () => {
    const receiver = await receiverOf(kept, "by-route");
    const [server, url] = await serve(kept);
    await publish(kept);
    expect(await call(url)).toMatchObject({ delivered: 1, more: false });
    expect(receiver.book.requests.map(({ signature }) => signature)).toEqual(["valid"]);
    const status = await headroom(["outbox", "status"], { env: operator(kept) });
    expect(status.out).toMatch(
      /No relay process is running\. A relay on demand delivers: its last turn was [^.]+ ago\./,
    );
    expect(status.out).not.toContain("No relay is running");
    expect((await server.end()).status).toBe(0);
    expect(server.lines.filter((line) => line.includes("rail_not_served"))).toEqual([]);
  });

  test("a relay delivers webhooks without any setting for them", async () => {
    const receiver = await receiverOf(kept, "by-worker");
    const relay = startHeadroom(["relay", "--json", ...loopback], {
      env: { DATABASE_URL: executorOf(kept), ...kept.key },
    });
    const ready = JSON.parse(await relay.line((line) => line.includes("relay_ready"))) as { rails: string[] };
    expect(ready.rails).toEqual(["webhook", "slack-webhook"]);
    await publish(kept);
    await until(
      () => receiver.book.requests.map(({ signature }) => signature),
      (signatures) => signatures.length === 1 && signatures[0] === "valid",
      "the webhook",
    );
    expect((await relay.end()).status).toBe(0);
  });

  describe("a stored credential of a provider", () => {
    test("is used by a relay whose environment has none, and shown nowhere", async () => {
      await kept.db.superuser.pool.query(
        "select outbox.create_stream('notes', p_max_tries => 50, p_backoff_base_ms => 100, p_backoff_factor => 1); select outbox.grant_rail('notes', 'slack')",
      );
      const [sandbox] = await startSlack("xoxb-the-stored-one");
      const stored = await secret(kept, ["set", "SLACK_BOT_TOKEN"], "xoxb-the-stored-one\n");
      expect(stored.out).toContain("SLACK_BOT_TOKEN is stored.\nRelays use it for slack and slack-interaction, unless");
      const relay = startHeadroom(["relay", "--json", "--streams", "notes"], {
        env: { DATABASE_URL: executorOf(kept), SLACK_API_URL: `${sandbox.url}/slack/api/`, ...kept.key },
      });
      await relay.line((line) => line.includes("relay_ready"));
      await enqueue("by a stored token");
      await untilPosted(sandbox, "by a stored token");
      const ended = await relay.end();
      const listed = await secret(kept, ["list"]);
      const doctor = (login: TestRole, more = {}): Promise<Outcome> =>
        headroom(["doctor", "--offline"], { env: { DATABASE_URL: kept.db.as(login).url, ...kept.key, ...more } });
      const asOwner = await doctor("headroom_owner");
      expect(asOwner.out).toContain("Slack is set up here: SLACK_BOT_TOKEN from the database.");
      const ofEnvironment = await doctor("headroom_owner", { SLACK_BOT_TOKEN: "xoxb-own" });
      expect(ofEnvironment.out).toContain("Slack is set up here: SLACK_BOT_TOKEN from the environment.");
      expect((await doctor("headroom_control")).out).toContain(
        "SLACK_BOT_TOKEN is stored in the database for relays, and this login may not read it.",
      );
      expect(listed.out).toMatch(/SLACK_BOT_TOKEN .* relays: slack, slack-interaction .*executor/);
      for (const said of [ended.out, ended.err, stored.out, listed.out, asOwner.out])
        expect(said).not.toContain("the-stored-one");
    });

    test("yields to the environment's", async () => {
      const [sandbox] = await startSlack("xoxb-of-the-environment");
      const relay = startHeadroom(["relay", "--json", "--streams", "notes"], {
        env: {
          DATABASE_URL: executorOf(kept),
          SLACK_API_URL: `${sandbox.url}/slack/api/`,
          SLACK_BOT_TOKEN: "xoxb-of-the-environment",
          ...kept.key,
        },
      });
      await relay.line((line) => line.includes("relay_ready"));
      await enqueue("by the environment's token");
      await untilPosted(sandbox, "by the environment's token");
      await relay.end();
    });

    test("that changes is used from then on, without a restart", async () => {
      const [sandbox, secrets] = await startSlack("xoxb-the-stored-one");
      const log: RelayLogEntry[] = [];
      const databaseUrl = executorOf(kept);
      const environment = { ...kept.key, SLACK_API_URL: `${sandbox.url}/slack/api/` };
      const side = openSidePool(databaseUrl);
      const rails = await loadRails({}, { side, environment, log: (entry) => void log.push(entry), rememberMs: 0 });
      const relay = createRelay({ connectionString: databaseUrl, rails, streams: ["notes"], pollMs: 250 });
      onTestFinished(async () => {
        await relay.stop();
        closeRails(rails);
        await side.end();
      });
      await relay.start();
      await enqueue("before");
      await untilPosted(sandbox, "before");
      secrets.slackBotToken = "xoxb-the-next-one";
      await enqueue("while it is changed");
      expect((await secret(kept, ["set", "SLACK_BOT_TOKEN"], "xoxb-the-next-one")).status).toBe(0);
      await untilPosted(sandbox, "while it is changed");
      expect(log.filter(({ event }) => event === "credential_changed")).toEqual([
        { level: "info", event: "credential_changed", what: "SLACK_BOT_TOKEN" },
      ]);
      expect((await secret(kept, ["remove", "SLACK_BOT_TOKEN"])).out).toContain("until they are restarted");
    });
  });
});

describe("what is not served", () => {
  test("is named with what waits for it: by a server without the key, by status and by doctor", async () => {
    await receiverOf(inTable, "unserved");
    await publish(inTable);
    await inTable.db.superuser.pool.query("update outbox.rails set served_at = null");
    const [server, url] = await serve(inTable, {});
    const line = await server.line((text) => text.includes("rail_not_served"));
    expect(JSON.parse(line)).toMatchObject({ level: "warn", rail: "webhook", rows: 1 });
    expect(await call(url)).toMatchObject({ claimed: 0 });
    const env = operator(inTable);
    for (const command of [
      ["outbox", "status"],
      ["doctor", "--offline"],
    ]) {
      expect((await headroom(command, { env })).out).toMatch(
        /1 row waits for "webhook", which no relay serves\.\s[^.]*HEADROOM_SECRET_KEY/,
      );
    }
    await server.end();
  });

  test("a stored setting that relays only take from their environment is reported as unused", async () => {
    const stored = await secret(inTable, ["set", "MAIL_FROM"], "a@b.example");
    expect(stored.out).toBe(
      "MAIL_FROM is stored.\nNothing reads it from the database: relays take MAIL_FROM only from their environment.\n",
    );
  });
});
