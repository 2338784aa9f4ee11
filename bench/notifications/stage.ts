/**
 * The measured setup: a server that counts its statements, a thousand people, real relays as processes, and the sandbox as mail server and
 * as Slack.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, Pool } from "pg";
import { startEmbedded } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { familyMs, processMs } from "./cpu.ts";
import { personOf, startSandboxProcess, type SandboxProcess } from "./sandbox.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/headroom.js", import.meta.url));
const SECRET_KEY = "a-key-of-thirty-two-bytes-or-more-for-load";
const PASSWORD = "for-this-run-only";
const SETTINGS = { shared_preload_libraries: "pg_stat_statements" } as const;

export interface Statement {
  readonly query: string;
  readonly calls: number;
  readonly mean_ms: number;
  readonly total_ms: number;
}

export interface Stage {
  readonly pool: Pool;
  readonly sandbox: SandboxProcess;
  /** Processor time in ms, by who used it. */
  readonly meters: Readonly<Record<string, () => number>>;
  resetStatements(): Promise<void>;
  /** The statements that took the most time, with the functions they call. */
  statements(): Promise<readonly Statement[]>;
  close(): Promise<void>;
}

export async function openStage(people: number, relays: number, connections: number): Promise<Stage> {
  await using undo = new AsyncDisposableStack();
  const server = await startEmbedded({ ephemeral: true, settings: SETTINGS });
  undo.defer(() => server.stop());
  await prepare(server.url, people);
  const sandbox = await startSandboxProcess(people);
  undo.defer(() => sandbox.close());
  const running: ChildProcess[] = [];
  undo.defer(async () => void (await Promise.all(running.map(stopRelay))));
  for (let at = 0; at < relays; at += 1) running.push(await startRelay(server.url, sandbox.url));
  const pool = new Pool({ connectionString: server.url, max: connections });
  undo.defer(() => pool.end());
  const owned = undo.move();
  return {
    pool,
    sandbox,
    meters: {
      relays: () => running.reduce((sum, { pid = 0 }) => sum + processMs(pid), 0),
      postgres: () => familyMs(server.pid),
      sandbox: () => processMs(sandbox.pid),
      callers: () => processMs(process.pid),
    },
    async resetStatements() {
      await pool.query("select pg_stat_statements_reset()");
    },
    async statements() {
      const { rows } = await pool.query<Statement>(
        `select left(regexp_replace(query, '\\s+', ' ', 'g'), 60) as query, calls::float8, round(mean_exec_time::numeric, 3)::float8 as mean_ms,
                round(total_exec_time)::float8 as total_ms
           from pg_stat_statements where query not like '%pg_stat_statements%' order by total_exec_time desc limit 6`,
      );
      return rows;
    },
    close: () => owned.disposeAsync(),
  };
}

async function prepare(url: string, people: number): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await migrate(client);
    await client.query("create extension pg_stat_statements");
    await client.query("select set_config('headroom.secret_key', $1, false)", [SECRET_KEY]);
    await client.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', $1)", ["c".repeat(40)]);
    await client.query(`alter role headroom_executor login password '${PASSWORD}'`);
    await client.query("update directory.workspaces set public_url = 'https://headroom.example' where id = 'default'");
    const everybody = Array.from({ length: people }, (_, at) => personOf(at + 1));
    await client.query(
      `insert into directory.members (workspace_id, id, display_name, email, slack_user_id)
       select 'default', p ->> 'memberId', 'Member ' || n, p ->> 'email', p ->> 'slackUserId'
         from jsonb_array_elements($1) with ordinality e(p, n)`,
      [JSON.stringify(everybody)],
    );
    await client.query("analyze");
  } finally {
    await client.end();
  }
}

async function startRelay(url: string, sandboxUrl: string): Promise<ChildProcess> {
  const databaseUrl = Object.assign(new URL(url), { username: "headroom_executor", password: PASSWORD }).href;
  const child = spawn(process.execPath, [PROGRAM, "relay", "--json", "--database-url", databaseUrl], {
    env: {
      PATH: process.env["PATH"],
      HEADROOM_SECRET_KEY: SECRET_KEY,
      SLACK_BOT_TOKEN: "xoxb-load",
      SLACK_API_URL: `${sandboxUrl}/slack/api/`,
      POSTAL_URL: `${sandboxUrl}/postal`,
      POSTAL_API_KEY: "a-key-for-load",
      MAIL_FROM: "Headroom <capacity@headroom.example>",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => /"level":"(warn|error)"/.test(line) && process.stderr.write(`relay: ${line}\n`));
  for (;;) {
    const [line] = await Promise.race([once(lines, "line"), once(child, "exit")]);
    if (typeof line !== "string") throw new Error("a relay ended before it was ready");
    if (line.includes("relay_started")) return child;
  }
}

async function stopRelay(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await gone;
}
