/** `headroom up`: the contract with programs, and with a person who starts it for the first time. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text as wholeText } from "node:stream/consumers";
import { Client } from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keepInstallationKeys, makeInstallationKeys } from "../../../../src/cli/installation.ts";
import { readPidFile } from "../../../../src/db/embedded/postmaster.ts";
import { makeEnterableFolder } from "../../../helpers/data-folder.ts";
import { createEmptyDatabase } from "../../../helpers/database.ts";
import { forgedHosts, rawRequest } from "../../../helpers/raw-http.ts";
import { until } from "../../outbox/relay/stage.ts";
import { startReceiver } from "../../rails/receiver/receiver.ts";
import { headroom, headroomProcess, program, startHeadroom, type Running } from "../harness.ts";

const factsSchema = z.strictObject({
  url: z.url(),
  sandboxUrl: z.url(),
  databaseUrl: z.string(),
  anonKey: z.string(),
  serviceKey: z.string(),
  relaySecret: z.string().min(40),
});

const freePorts = ["--port", "0", "--sandbox-port", "0", "--database-port", "0"];

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const enqueue = (instruction: string): string =>
  `select outbox_id from outbox.enqueue('notifications', null, '${instruction}', 'first', 'log', '{"hello": "world"}')`;
const enqueueFirst = enqueue("hello");
const enqueueNext = enqueue("next");

async function untilDelivered(url: string, instruction = "hello"): Promise<void> {
  await until(
    () =>
      query(
        url,
        `select from outbox.attempts join outbox.payloads using (outbox_id) where state = 'DISPATCHED' and instruction_id = '${instruction}'`,
      ),
    (rows) => rows.length === 1,
    "the row to be delivered",
  );
}

/** A process that ended but was not reaped is still listed; it does nothing any more. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, "utf8"));
}

/** The server process itself, found as its backend's parent. */
async function serverFacts(url: string): Promise<{ pid: number; folder: string }> {
  const [row] = await query<{ folder: string; pid: string }>(
    url,
    "select current_setting('data_directory') as folder, split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as pid",
  );
  return { pid: Number(row?.pid), folder: row?.folder ?? "" };
}

/** Throw-away data; Node's compiled code and a copy of the server's programs are kept for the next start. */
function placesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith("headroom-") && !name.includes("postgres"));
}

async function temporaryFolder(): Promise<string> {
  const folder = await makeEnterableFolder("headroom-up-");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe("--ephemeral --json", { timeout: 60_000 }, () => {
  test("prints one JSON line when everything is ready, delivers, and leaves nothing on SIGTERM; DATABASE_URL is not used", async () => {
    const env = { DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none" };
    const up = startHeadroom(["up", "--ephemeral", "--json"], { env });
    const facts = factsSchema.parse(JSON.parse(await up.line(() => true)));
    const { pid, folder } = await serverFacts(facts.databaseUrl);
    expect(isAlive(pid)).toBe(true);
    expect((await fetch(`${facts.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${facts.sandboxUrl}/_control/requests`)).status).toBe(200);
    await query(facts.databaseUrl, enqueueFirst);
    await untilDelivered(facts.databaseUrl);
    const woken = await fetch(`${facts.url}/api/internal/outbox-relay`, {
      method: "POST",
      headers: { "x-outbox-secret": facts.relaySecret },
    });
    expect([woken.status, await woken.json()]).toMatchObject([200, { busy: false }]);
    const { status, out } = await up.end("SIGTERM");
    expect(status).toBe(0);
    expect(out.split("\n")).toHaveLength(1);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    await expect(query(facts.databaseUrl, "select 1")).rejects.toThrow();
  });

  test("naming another database is a contradiction", async () => {
    const url = "postgresql://nobody@127.0.0.1:1/none";
    const both = await headroom(["up", "--ephemeral", "--json", "--database-url", url]);
    expect(both.status).toBe(2);
    expect(JSON.parse(both.out)).toMatchObject({ error: { code: "usage" } });
  });

  test("answers only to names of this machine, on every port that it opens, and leaves nothing when it is killed, either", async () => {
    const up = startHeadroom(["up", "--ephemeral", "--json", "--metrics-port", "0"]);
    const line: unknown = JSON.parse(await up.line(() => true));
    const { url, sandboxUrl, metricsUrl, databaseUrl } = factsSchema.extend({ metricsUrl: z.url() }).parse(line);
    for (const [at, path] of [
      [url, "/metrics"],
      [sandboxUrl, "/slack"],
      [metricsUrl, "/metrics"],
    ] as const) {
      for (const [target, host] of forgedHosts(at, path)) {
        const { status } = await rawRequest(at, target, [`host: ${host}`]);
        expect([at, target, host, status]).toEqual([at, target, host, 421]);
      }
      expect((await fetch(`${at}${path}`)).status).toBe(200);
    }
    const { pid, folder } = await serverFacts(databaseUrl);
    await up.end("SIGKILL");
    await until(
      () => isAlive(pid),
      (alive) => !alive,
      "the server to be cleared away",
    );
    await until(
      () => existsSync(folder),
      (exists) => !exists,
      "the folder to be removed",
    );
  });

  test("a signal during the start ends it in order", async () => {
    const folder = await temporaryFolder();
    const up = startHeadroom(["up", "--ephemeral", "--json"], { env: { TMPDIR: folder } });
    await until(
      () => placesIn(folder).length > 0,
      (begun) => begun,
      "the start to begin",
    );
    expect(await up.end("SIGTERM")).toMatchObject({ status: 0 });
    await until(
      () => placesIn(folder),
      (left) => left.length === 0,
      "the folder to be removed",
    );
  });

  test("when npm is killed while the commands still load, it ends too", async () => {
    const folder = await temporaryFolder();
    // Kills our parent, as npm kills its shell, just before the command line is loaded.
    const orphan = `
      import { registerHooks } from "node:module";
      registerHooks({
        resolve(specifier, context, next) {
          if (specifier.endsWith("/main.ts")) {
            const parent = process.ppid;
            process.kill(parent, "SIGTERM");
            while (process.ppid === parent) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
          }
          return next(specifier, context);
        },
      });`;
    const hook = `data:text/javascript,${encodeURIComponent(orphan)}`;
    const line = `"$1" --import "$2" "$3" up --ephemeral --json; true`;
    const shell = spawn("/bin/sh", ["-c", line, "sh", process.execPath, hook, program], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: process.env["PATH"], npm_command: "start", TMPDIR: folder },
    });
    // The pipe closes when its last holder has ended: our process, not the shell.
    await wholeText(shell.stdout);
    expect(shell.signalCode).toBe("SIGTERM");
    await until(
      () => placesIn(folder),
      (left) => left.length === 0,
      "the folder to be removed",
    );
  });
});

/** The address that it prints. */
async function ready(up: Running): Promise<string> {
  const line = await up.line((text) => text.trimStart().startsWith('psql "postgresql://'));
  await up.line((text) => text.includes("Ctrl-C"));
  return /psql "([^"]+)"/.exec(line)?.[1] ?? "";
}

/** One installation, whose tests follow each other: what a start leaves is what the next one finds. */
describe("without flags", { timeout: 150_000 }, async () => {
  const cwd = await makeEnterableFolder("headroom-up-");
  const kills: (() => Promise<void>)[] = [];
  let server = { pid: 0, folder: "" };
  afterAll(async () => {
    for (const kill of kills) await kill();
    // A killed start leaves its server running.
    if (server.pid !== 0 && isAlive(server.pid)) process.kill(server.pid, "SIGINT");
    await rm(cwd, { recursive: true, force: true });
  });
  let up: Running;
  let url = "";
  const start = async (): Promise<void> => {
    up = startHeadroom(["up", ...freePorts], { cwd, atEnd: (kill) => void kills.push(kill) });
    url = await ready(up);
    server = await serverFacts(url);
  };
  const addressOn = async (label: string): Promise<string> =>
    /http:\/\/[\d.:]+/.exec(await up.line((line) => line.startsWith(label)))?.[0] ?? "";
  const keysFile = join(cwd, ".headroom", "keys.json");

  test("keeps its data, says what to do next, and survives kill -9", async () => {
    await start();
    const { pid } = server;
    await query(url, enqueueFirst);
    await up.line((line) => line.includes("delivered") && line.includes("stream=notifications"));
    await untilDelivered(url);
    // Commands in the same folder need no address.
    const status = await headroom(["outbox", "status", "--json"], { cwd });
    expect(status.status).toBe(0);
    expect(JSON.parse(status.out).relays).toHaveLength(1);
    const rival = await headroomProcess(["up", ...freePorts], { cwd });
    expect(rival).toMatchObject({ status: 1, out: "" });
    expect(rival.err).toContain("already runs");
    // What a killed relay had in its hands waits for its lease to end, longer than the next tests.
    await until(
      () => query(url, "select from outbox.pending union all select from outbox.pending_unordered"),
      (left) => left.length === 0,
      "the example to be delivered",
      60_000,
    );
    await up.end("SIGKILL");
    expect(isAlive(pid)).toBe(true);

    await start();
    expect(server.pid).toBe(pid);
    expect(up.errors.join("\n")).toContain("Took over the database server");
    await untilDelivered(url);
  });

  test("a second start finds the example unchanged, and keys that nobody else can read", async () => {
    const [request] = await query<{ id: string; version: number }>(
      url,
      "select id, version from public.capacity_requests where state = 'UNDER_REVIEW' order by id desc limit 1",
    );
    await query(url, `select public.apply_capacity_event('${request?.id}', 'TECH_REVIEW_APPROVED', 'user', 'omar')`);
    const kept = readFileSync(keysFile, "utf8");
    expect(statSync(keysFile).mode & 0o077).toBe(0);
    const { pid } = server;
    expect(await up.end("SIGTERM")).toMatchObject({ status: 0 });
    expect(isAlive(pid)).toBe(false);

    await start();
    await up.line((line) => line.includes("with its earlier data"));
    expect(readFileSync(keysFile, "utf8")).toBe(kept);
    // The stand-ins remember too: the thread's root can still be updated.
    await until(
      () => query(url, "select from outbox.dead"),
      (dead) => dead.length === 0,
      "nothing to be dead",
    );
    const slack = await addressOn("Slack");
    await until(
      async () => (await fetch(`${slack}/slack`)).text(),
      (page) => page.includes(request?.id ?? "nothing") && page.includes("approved by Omar Haddad"),
      "the thread to be there, and current",
    );
    expect(await query(url, "select count(*)::int as requests from public.capacity_requests")).toEqual([
      { requests: 3 },
    ]);
    expect(
      await query(url, `select technical_approved_by as by from public.capacity_requests where id = '${request?.id}'`),
    ).toEqual([{ by: "omar" }]);
  });

  test("commands in its folder find its keys; webhooks may go to this machine", async () => {
    const api = await addressOn("API");
    const token = await headroom(["keys", "token", "--member", "riley"], { cwd });
    expect([token.status, token.err]).toEqual([0, expect.stringContaining("headroom keys revoke")]);
    const me = await fetch(`${api}/auth/me`, { headers: { authorization: `Bearer ${token.out.trim()}` } });
    expect([me.status, await me.json()]).toEqual([200, expect.objectContaining({ memberId: "riley" })]);
    const { secrets } = JSON.parse((await headroom(["secret", "list", "--json"], { cwd })).out);
    expect(secrets).toContainEqual(expect.objectContaining({ name: "SLACK_SIGNING_SECRET", readable: true }));

    const doctor = await headroom(["doctor", "--json"], { cwd });
    const { findings } = JSON.parse(doctor.out) as { findings: { check: string; status: string }[] };
    expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
    expect(doctor.status).toBe(0);
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "providers", message: expect.stringContaining("the stand-ins of its sandbox") }),
    );

    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const add = ["endpoint", "add", "here", "--url", `${receiver.url}/hook`, "--topic", "*"];
    const refused = await headroom(add, { cwd });
    expect([refused.status, refused.err]).toEqual([1, expect.stringContaining("--allow-private")]);
    expect(await headroom([...add, "--allow-private"], { cwd })).toMatchObject({ status: 0, err: "" });
    expect(await headroom(["endpoint", "test", "here"], { cwd })).toMatchObject({ status: 0, err: "" });

    // Another database has other keys.
    const elsewhere = await headroom(["keys", "token", "--member", "riley"], {
      cwd,
      env: { DATABASE_URL: "postgresql://127.0.0.1:1/none" },
    });
    expect([elsewhere.status, elsewhere.err]).toEqual([2, expect.stringContaining("HEADROOM_JWT_SECRET is not set")]);
    expect(await up.end("SIGTERM")).toMatchObject({ status: 0 });
  });

  test("without its file of keys it makes new ones, and stores what it needs under them", async () => {
    await rm(keysFile);
    await start();
    const listed = await headroom(["secret", "list", "--json"], { cwd });
    const { secrets } = JSON.parse(listed.out) as { secrets: { name: string; readable: boolean }[] };
    expect(secrets.map(({ name }) => name)).toContain("CONFIRMATION_TOKEN_SECRET");
    expect(secrets.filter(({ readable }) => !readable)).toEqual([]);
    const { connected } = JSON.parse((await headroom(["jobs", "connect", "--json"], { cwd })).out);
    expect(connected).toMatchObject({ owner: "acme", repo: "infrastructure", secret: "readable" });
  });

  test("restarts the server when its process dies, and ends in order even in the middle of that", async () => {
    const deaths = () => up.lines.filter((line) => line.includes("database server ended")).length;
    process.kill(server.pid, "SIGKILL");
    await up.line(() => deaths() === 1);
    const answer = await until(
      () => query<{ outbox_id: string }>(url, enqueueNext).catch(() => []),
      (rows) => rows.length === 1,
      "the server to be back",
      30_000,
    );
    expect(answer).toHaveLength(1);
    await untilDelivered(url, "next");
    server = await serverFacts(url);
    process.kill(server.pid, "SIGKILL");
    await up.line(() => deaths() === 2);
    const { status, out, err } = await up.end();
    expect(status, `${out}\n${err}`).toBe(0);
    const left = await readPidFile(server.folder);
    expect(left === undefined || !isAlive(left.pid)).toBe(true);
  });
});

test("a file of keys from before there were callbacks gets the missing secret, once", async () => {
  const folder = await temporaryFolder();
  const { provisioningCallbackSecret: _, ...before } = await makeInstallationKeys();
  await writeFile(join(folder, "keys.json"), JSON.stringify(before));
  const keys = await keepInstallationKeys(folder);
  expect(keys).toMatchObject({ ...before, provisioningCallbackSecret: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await keepInstallationKeys(folder)).toEqual(keys);
});

test("uses the server that DATABASE_URL names, without showing its password", { timeout: 60_000 }, async () => {
  await using db = await createEmptyDatabase();
  const cwd = await temporaryFolder();
  const up = startHeadroom(["up"], { cwd, env: { DATABASE_URL: db.url } });
  await ready(up);
  await query(db.url, enqueueFirst);
  await untilDelivered(db.superuserUrl);
  const { status, out, err } = await up.end();
  expect(status).toBe(0);
  expect(out + err).not.toContain(`:${new URL(db.url).password}@`);
  expect(readdirSync(cwd)).toEqual([]);
});
