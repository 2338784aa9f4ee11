/**
 * `headroom doctor` against an installation as in production, with a server and a relay with real settings, broken in one way after the
 * other. Each fault is named with its remedy, ends with exit code 1, and is gone once the remedy was followed.
 */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setSecret } from "../../../../src/db/secrets/index.ts";
import { putMember, putWorkspace, type WorkspaceChanges } from "../../../../src/directory/index.ts";
import { putCallbackSecret, putSettings } from "../../../../src/provisioning/index.ts";
import { freePort } from "../../../../src/cli/free-port.ts";
import { environmentOf } from "../../../../src/cli/commands/up/product.ts";
import { startEmbedded, type EmbeddedServer } from "../../../../src/db/embedded.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { dataFolder } from "../../../helpers/data-folder.ts";
import { until } from "../../outbox/relay/stage.ts";
import { secrets } from "../../sandbox/harness.ts";
import { startDaemon, type Daemon } from "./daemon.ts";
import { headroom, type Outcome } from "../harness.ts";

interface Finding {
  readonly group: string;
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

type Environment = Readonly<Record<string, string>>;

const password = "gateway-password";
const secretKey = "a key to secrets that is long enough to be one";

/** Everything that production has: a database, a server, a relay, and providers that answer. */
let database: EmbeddedServer;
let sandbox: Sandbox;
let db: Client;
let environment: Environment;
let migrated: Outcome;
let port: number;
let server: Daemon;
let relay: Daemon;

beforeAll(async () => {
  database = await startEmbedded({
    ephemeral: true,
    dataDir: dataFolder,
    database: "installation",
    settings: { fsync: "off" },
  });
  sandbox = await startSandbox({ sampleData: defaultSampleData, secrets });
  db = new Client({ connectionString: database.url });
  await db.connect();
  const gatewayUrl = new URL(database.url);
  [gatewayUrl.username, gatewayUrl.password] = ["headroom_gateway", password];
  environment = {
    ...(environmentOf(sandbox) as Environment),
    DATABASE_URL: database.url,
    HEADROOM_GATEWAY_URL: gatewayUrl.toString(),
    HEADROOM_JWT_SECRET: "a secret of tokens that has thirty-two characters",
    HEADROOM_SECRET_KEY: secretKey,
  };
  migrated = await headroom(["migrate"], { env: environment });
  await db.query(`alter role headroom_gateway login password '${password}'`);
  port = await freePort("127.0.0.1");
  await startProcesses();
  await settings({
    publicUrl: `http://127.0.0.1:${port}`,
    slackChannelId: channel,
    linearTeamId: defaultSampleData.linearTeam.id,
  });
  await putMember(db, "default", "casey", { displayName: "Casey Kim", roles: ["commercial"], slackUserId: "U0CASEY" });
  for (const name of Object.keys(stored)) await store(name)();
  await putSettings(db, "default", { owner: "acme", repo: "infrastructure" });
  await putCallbackSecret(db, "default", { key: secretKey });
}, 120_000);

afterAll(async () => {
  await Promise.all([relay.stop(), server.stop()]);
  await db.end();
  await Promise.all([sandbox.close(), database.stop()]);
});

const channel = defaultSampleData.slackChannels[0]?.id ?? "";
const stored: Environment = {
  CONFIRMATION_TOKEN_SECRET: "c".repeat(64),
  SLACK_SIGNING_SECRET: secrets.slackSigningSecret,
  LINEAR_WEBHOOK_SECRET: "l".repeat(64),
};

async function startProcesses(): Promise<void> {
  server = await startDaemon(["serve", "--port", String(port), "--json"], "server_ready", environment);
  relay = await startDaemon(["relay", "--json"], "relay_ready", environment);
  // Both sweep at the same time, on separate connections.
  await until(
    () => db.query("select from capacity.timers_last_ran() where seconds_ago < 60"),
    ({ rows }) => rows.length > 0,
    "a sweep of the timers",
  );
}

/** As if not ended a moment ago, but gone for long. */
async function loseProcesses(): Promise<void> {
  await Promise.all([relay.stop(), server.stop()]);
  await db.query("update outbox.rails set served_at = now() - interval '1 hour'");
  await db.query("update capacity.timer_runs set ended_at = now() - interval '1 hour' where ended_at is not null");
}

async function settings(changes: WorkspaceChanges): Promise<void> {
  expect(await putWorkspace(db, "default", changes)).toMatchObject({ outcome: "put" });
}

async function doctor(
  different: Environment = {},
): Promise<Outcome & { readonly ok: boolean; readonly first: string | null; readonly findings: readonly Finding[] }> {
  const outcome = await headroom(["doctor", "--json"], { env: { ...environment, ...different } });
  return { ...outcome, ...(JSON.parse(outcome.out) as { ok: boolean; first: string | null; findings: Finding[] }) };
}

const wrong = (findings: readonly Finding[]): readonly Finding[] => findings.filter(({ status }) => status !== "ok");

test("migrate ends by saying that the server's role has no login yet, and how to give it one", async () => {
  expect(migrated.status).toBe(0);
  expect(migrated.out).toMatch(/Next:\n {2}alter role headroom_gateway login password '<password>' {3}in SQL/);
  const again = await headroom(["migrate"], { env: environment });
  expect(again).toMatchObject({ status: 0, err: "" });
  expect(again.out).not.toContain("Next:");
});

test("a healthy installation: everything was checked, nothing is found, exit code 0", async () => {
  const { findings, status, ok, first } = await doctor();
  expect(wrong(findings)).toEqual([]);
  expect({ status, ok, first }).toEqual({ status: 0, ok: true, first: null });
  const messages = new Map(findings.map(({ check, message }) => [check, message]));
  expect(messages.get("gateway")).toContain("logs in, as headroom_gateway");
  expect(messages.get("public url")).toContain("Reachable: ");
  expect(messages.get("secret key")).toContain("decrypts every stored secret");
  expect(messages.get("slack")).toContain("Slack answers, as ");
  expect(messages.get("linear")).toContain("Linear answers, as ");
  expect(messages.get("mail")).toContain("Mail by SMTP answers");
  expect(messages.get("github")).toContain("GitHub Actions answers");
  expect(messages.get("provisioning")).toContain("workflows of acme/infrastructure at main");
  expect(messages.get("callback address")).toBe(`Runs report to http://127.0.0.1:${port}/webhooks/provisioning.`);
  expect(messages.get("callback secret")).toContain("it can be read");
});

test("with --offline it asks nobody, and says what it left out", async () => {
  const before = sandbox.requests.list().length;
  const plain = await headroom(["doctor", "--offline"], { env: environment });
  expect(plain).toMatchObject({ status: 0, err: "" });
  expect(plain.out).toContain("skip  slack");
  expect(plain.out).toContain("Everything that was checked is well. 6 checks could not be made from here.");
  expect(sandbox.requests.list()).toHaveLength(before);
});

test("a reviewer without a Slack user id is named, until an operator says that they have none", async () => {
  await putMember(db, "default", "casey", { slackUserId: null });
  expect(wrong((await doctor()).findings)[0]?.message).toContain("No Slack user id is known for casey (default)");
  await putMember(db, "default", "casey", { withoutSlack: true });
  expect(wrong((await doctor()).findings)).toEqual([]);
});

interface Broken {
  readonly how: string;
  /** The check that must report it; alone, unless one fault causes another. */
  readonly check: string;
  readonly also?: readonly string[];
  readonly message: string;
  readonly remedy: string;
  readonly break?: () => Promise<unknown>;
  /** Changes to the environment. */
  readonly environment?: () => Environment;
  readonly mend?: () => Promise<unknown>;
}

const forget = (name: string) => (): Promise<unknown> => db.query("delete from headroom.boxes where name = $1", [name]);
const store = (name: string) => async (): Promise<void> => {
  const answer = await setSecret(db, { name, value: stored[name] ?? "", key: secretKey });
  expect(answer).toMatchObject({ outcome: "stored" });
};

const broken: readonly Broken[] = [
  {
    how: "the gateway has no login",
    check: "gateway",
    message: "HEADROOM_GATEWAY_URL does not log in",
    remedy: "alter role headroom_gateway login password '<password>'",
    break: () => db.query("alter role headroom_gateway nologin"),
    mend: () => db.query(`alter role headroom_gateway login password '${password}'`),
  },
  {
    how: "the gateway's password is wrong",
    check: "gateway",
    message: "password authentication failed",
    remedy: "with the password from HEADROOM_GATEWAY_URL",
    break: () => db.query("alter role headroom_gateway password 'another'"),
    mend: () => db.query(`alter role headroom_gateway login password '${password}'`),
  },
  {
    how: "the server has no secret for tokens",
    check: "server keys",
    message: "HEADROOM_JWT_SECRET is not set",
    remedy: "headroom keys init",
    environment: () => ({ HEADROOM_JWT_SECRET: "" }),
  },
  {
    how: "customers' links lead nowhere",
    check: "public url",
    also: ["callback address"],
    message: 'no address for customers\' links in workspace "default"',
    remedy: "headroom policy settings --workspace default --public-url",
    break: () => settings({ publicUrl: null }),
    mend: () => settings({ publicUrl: `http://127.0.0.1:${port}` }),
  },
  {
    how: "the secret of customers' links is missing",
    check: "confirmation secret",
    message: "CONFIRMATION_TOKEN_SECRET is not stored",
    remedy: "openssl rand -hex 32 | headroom secret set CONFIRMATION_TOKEN_SECRET",
    break: forget("CONFIRMATION_TOKEN_SECRET"),
    mend: store("CONFIRMATION_TOKEN_SECRET"),
  },
  {
    how: "Slack's signing secret is missing, though a workspace has a channel",
    check: "slack signing secret",
    message: "SLACK_SIGNING_SECRET is not stored: every button, form and command of Slack is refused",
    remedy: "headroom secret set SLACK_SIGNING_SECRET",
    break: forget("SLACK_SIGNING_SECRET"),
    mend: store("SLACK_SIGNING_SECRET"),
  },
  {
    how: "the key to the secrets is wrong",
    check: "secret key",
    also: ["callback secret"],
    message: "HEADROOM_SECRET_KEY does not decrypt CONFIRMATION_TOKEN_SECRET",
    remedy: "Set HEADROOM_SECRET_KEY to the key that they were encrypted with",
    environment: () => ({ HEADROOM_SECRET_KEY: "another key, as long as the one that was used" }),
  },
  {
    how: "Slack refuses the token",
    check: "slack",
    message: "Slack does not accept the token (invalid_auth)",
    remedy: "Set SLACK_BOT_TOKEN to a valid value",
    environment: () => ({ SLACK_BOT_TOKEN: "xoxp-refused" }),
  },
  {
    how: "requests are posted to a channel that does not exist",
    check: "slack",
    message: "There is no such channel, or the app cannot see it",
    remedy: "headroom policy settings --slack-channel",
    break: () => settings({ slackChannelId: "C0NOTTHERE" }),
    mend: () => settings({ slackChannelId: channel }),
  },
  {
    how: "Linear does not know the team",
    check: "linear",
    message: "There is no team",
    remedy: "headroom policy settings --linear-team",
    break: () => settings({ linearTeamId: "00000000-0000-4000-8000-000000000000" }),
    mend: () => settings({ linearTeamId: defaultSampleData.linearTeam.id }),
  },
  {
    how: "the mail server cannot be reached",
    check: "mail",
    message: "The host refused the connection",
    remedy: "Check SMTP_URL",
    environment: () => ({ SMTP_URL: "smtp://127.0.0.1:1" }),
  },
  {
    how: "GitHub is set up, and unreachable",
    check: "github",
    message: "The host refused the connection",
    remedy: "Check GITHUB_API_URL",
    environment: () => ({ GITHUB_API_URL: "http://127.0.0.1:1" }),
  },
  {
    how: "a provider is only half set up",
    check: "providers",
    message: "Mail by SMTP is set up only in part: MAIL_FROM is missing",
    remedy: "Set SMTP_URL, MAIL_FROM together",
    environment: () => ({ MAIL_FROM: "" }),
  },
  // Nothing runs from here until the third of these is mended.
  {
    how: "customers need to be mailed, and no relay has the settings for it",
    check: "mail",
    also: ["relays", "timers"],
    message: 'Customers are asked by mail in workspace "default", but SMTP_URL and MAIL_FROM, or POSTAL_URL',
    remedy: "Set SMTP_URL and MAIL_FROM",
    break: loseProcesses,
    environment: () => ({ SMTP_URL: "", MAIL_FROM: "" }),
  },
  {
    how: "a relay runs, and nothing runs the timers",
    check: "timers",
    message: "The timers last ran 60 min ago: nothing expires, and nobody is warned or reminded.",
    remedy: "select capacity.schedule_timers()",
    break: () => db.query("update outbox.rails set served_at = now()"),
  },
  {
    how: "nothing runs any more, and rows wait",
    check: "relays",
    also: ["rails", "timers"],
    message: "No relay is running; the last one was seen 60 min ago. 1 row is waiting.",
    remedy: "headroom relay",
    async break() {
      await db.query("update outbox.rails set served_at = now() - interval '1 hour'");
      const mail = JSON.stringify({ to: "buyer@acme.example", subject: "Hello", text: "Hello" });
      await db.query("select outbox.grant_rail('notifications', 'email')");
      await db.query("select outbox.enqueue('notifications', null, 'row', 'only', 'email', $1)", [mail]);
    },
    mend: startProcesses,
  },
  {
    how: "pg_cron has the job and never ran it",
    check: "pg_cron",
    also: ["timers"],
    message: "It has the job capacity-request-timers, but has never completed it.",
    remedy: "select capacity.schedule_timers()",
    async break() {
      await loseProcesses();
      await db.query("update outbox.rails set served_at = now()");
      await db.query(`create schema cron; create table cron.job (jobid bigint, jobname name);
        create table cron.job_run_details (jobid bigint, runid bigint, status text, end_time timestamptz);
        insert into cron.job values (1, 'capacity-request-timers')`);
    },
    async mend() {
      await db.query("insert into cron.job_run_details values (1, 1, 'succeeded', now())");
      await startProcesses();
    },
  },
  {
    how: "PostgREST on Supabase calls nothing before a request",
    check: "pre-request",
    message: "PostgREST calls no function before a request: revoked keys are accepted.",
    remedy: "alter role authenticator set pgrst.db_pre_request = 'public.check_request'",
    break: () => db.query("create role supabase_admin; alter role authenticator login"),
    mend: () => db.query("alter role authenticator set pgrst.db_pre_request = 'public.check_request'"),
  },
  {
    how: "the archive has no partitions for today",
    check: "partitions",
    message: "has no partition for today, so nothing can be sent",
    remedy: "select outbox.ensure_partitions()",
    async break() {
      const leaves = await db.query<{ name: string }>(
        "select p.partition::text as name from outbox.archive_partitions() p join outbox.retention_classes c using (class_id) where c.name = 'week'",
      );
      for (const { name } of leaves.rows) await db.query(`drop table ${name}`);
    },
    mend: () => db.query("select outbox.ensure_partitions()"),
  },
  {
    how: "the schema belongs to another release",
    check: "schema",
    message: "files of the schema are not applied yet, or out of date",
    remedy: "Run: headroom migrate",
    break: () => db.query("update headroom.recreatables set checksum = 'older' where path like '%/status.sql'"),
    mend: () => headroom(["migrate"], { env: environment }),
  },
  {
    how: "a role is missing, as after restoring a dump on another server",
    check: "roles",
    message: "Missing: anon.",
    remedy: "create role anon nologin",
    break: () => db.query("alter role anon rename to anon_of_another_server"),
    mend: () => db.query("alter role anon_of_another_server rename to anon"),
  },
];

describe("a broken installation is named with its remedy, and the remedy repairs it:", () => {
  test.each(broken)("$how", async (each) => {
    await each.break?.();
    try {
      const { findings, status, ok, first, out } = await doctor(each.environment?.());
      expect({ status, ok }).toEqual({ status: 1, ok: false });
      const found = findings.find(({ check }) => check === each.check);
      expect(found).toMatchObject({
        status: "failure",
        message: expect.stringContaining(each.message),
        remedy: expect.stringContaining(each.remedy),
      });
      const failed = findings.filter((finding) => finding.status === "failure");
      expect(failed.map(({ check }) => check).toSorted()).toEqual([each.check, ...(each.also ?? [])].toSorted());
      expect(first).toBe(failed[0]?.remedy);
      for (const value of [password, secretKey, ...Object.values(stored)]) expect(out).not.toContain(value);
    } finally {
      await each.mend?.();
    }
  });

  // What a remedy had left broken would have been found with the next one too.
  test("all of them", async () => {
    const { findings, status } = await doctor();
    expect(findings.filter((finding) => finding.status === "failure")).toEqual([]);
    expect(status).toBe(0);
  });
});
