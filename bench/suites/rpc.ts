/**
 * Calls of the two functions that clients make most: over HTTP, with connections kept open, to a server in a process of its own; or
 * over the driver, with the session entered once, which no gateway can undercut.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { openGatewayLogin } from "../../src/db/gateway-login.ts";
import { migrate } from "../../src/db/migrate.ts";
import { signToken } from "../../src/cli/make-keys.ts";
import { nowMs, percentile, round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const CONNECTIONS = [8, 32] as const;
const WARM_UP_MS = 500;
const PASSWORD = "for-this-run-only";
const JWT_SECRET = "a-secret-that-lives-as-long-as-this-run";
const PROGRAM = fileURLToPath(new URL("../../bin/headroom.js", import.meta.url));

const terms = {
  p_requester_user_id: "ann",
  p_commercial_owner_user_id: "bob",
  p_infra_owner_group: "infra",
  p_customer_ref: { name: "Initech" },
  p_requested_size: "32XL",
  p_quantity: 4,
  p_region: "us-east-1",
  p_needed_by_date: null,
  p_expected_duration_days: 30,
  p_estimated_monthly_cost_usd: 500,
} as const;

const directory = `
insert into directory.members (workspace_id, id, display_name, slack_user_id, roles) values
  ('default', 'ann', 'Ann', 'U0ANN', '{requester}'), ('default', 'bob', 'Bob', 'U0BOB', '{commercial}'), ('default', 'ida', 'Ida', 'U0IDA', '{requester}');
insert into directory.groups (workspace_id, id, name) values ('default', 'infra', 'Infra');
insert into directory.group_members (workspace_id, group_id, member_id) values ('default', 'infra', 'ida');
update directory.workspaces set slack_channel_id = 'C0123456' where id = 'default'`;

/** One call on one of the connections; the answer is the id of a request that was created. */
interface Way {
  call(connection: number, name: string, given: object): Promise<string>;
  close(): Promise<void>;
}

async function prepare(url: string): Promise<string> {
  const client = new Client(url);
  await client.connect();
  try {
    await migrate(client);
    await client.query(directory);
    return await openGatewayLogin(client, url, PASSWORD);
  } finally {
    await client.end();
  }
}

async function openDriver(gatewayUrl: string, connections: number): Promise<Way> {
  const clients = Array.from({ length: connections }, () => new Client(gatewayUrl));
  for (const client of clients) {
    await client.connect();
    await client.query(
      "select set_config('role', 'service_role', false), set_config('request.jwt.claims', $1, false)",
      [JSON.stringify({ role: "service_role" })],
    );
  }
  return {
    async call(connection, name, given) {
      const names = Object.keys(given);
      const list = names.map((key, index) => `${key} => $${index + 1}`).join(", ");
      const text = `select to_json(t)::text as body from public.${name}(${list}) t`;
      const answer = await clients[connection]?.query<{ body: string }>({ name, text, values: Object.values(given) });
      return answer?.rows[0]?.body ?? "";
    },
    async close() {
      for (const client of clients) await client.end();
    },
  };
}

interface ServerProcess {
  readonly url: URL;
  readonly child: ChildProcess;
}

async function startServer(gatewayUrl: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0"], {
    env: { PATH: process.env["PATH"], HEADROOM_GATEWAY_URL: gatewayUrl, HEADROOM_JWT_SECRET: JWT_SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /^server\s+(http:\S+)/.exec(line)?.[1];
    if (found === undefined) continue;
    child.stdout.resume();
    return { url: new URL(found), child };
  }
  throw new Error("the server did not start");
}

async function openHttp({ url }: ServerProcess, connections: number): Promise<Way> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const key = await signToken({ role: "service_role" }, { jwtSecret: JWT_SECRET, expiresAt: null });
  const headers = { apikey: key, authorization: `Bearer ${key}`, "content-type": "application/json" };
  return {
    call: (_connection, name, given) =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify(given);
        const options = { agent, host: url.hostname, port: url.port, method: "POST", path: `/rest/v1/rpc/${name}` };
        const sent = request({ ...options, headers: { ...headers, "content-length": Buffer.byteLength(body) } });
        sent.on("error", reject);
        sent.on("response", (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
          response.on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
        });
        sent.end(body);
      }),
    close: async () => agent.destroy(),
  };
}

/** Each connection calls again as soon as it was answered. */
async function load(connections: number, ms: number, step: (connection: number) => Promise<unknown>) {
  const took: number[] = [];
  const startedAt = nowMs();
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      while (nowMs() - startedAt < ms) {
        const sentAt = nowMs();
        await step(connection);
        took.push(nowMs() - sentAt);
      }
    }),
  );
  return { perSecond: (took.length * 1000) / (nowMs() - startedAt), took };
}

export const rpcSuite: Suite = async ({ url, params, emit }) => {
  const who = params.text("who");
  const seconds = params.number("seconds");
  const gatewayUrl = await prepare(url);
  const server = who === "headroom" ? await startServer(gatewayUrl) : undefined;
  try {
    for (const connections of CONNECTIONS) {
      const way =
        server === undefined ? await openDriver(gatewayUrl, connections) : await openHttp(server, connections);
      const created: string[] = [];
      const steps = {
        async create(connection: number) {
          const body = await way.call(connection, "create_capacity_request", terms);
          const { id } = JSON.parse(body) as { id: string };
          created.push(id);
        },
        get: (connection: number) =>
          way.call(connection, "get_capacity_request", {
            p_request_id: created[Math.floor(Math.random() * created.length)] ?? "",
          }),
      };
      for (const [call, step] of Object.entries(steps)) {
        await load(connections, WARM_UP_MS, step);
        const { perSecond, took } = await load(connections, seconds * 1000, step);
        emit({
          measure: `rpc/${call}-${connections}`,
          who,
          variant: `${connections} connections, ${server === undefined ? "prepared over the driver" : "kept open over HTTP"}`,
          value: round(perSecond),
          unit: "calls/s",
          details: { p50Ms: round(percentile(took, 50), 2), p99Ms: round(percentile(took, 99), 2) },
        });
      }
      await way.close();
    }
  } finally {
    if (server !== undefined) {
      server.child.kill("SIGTERM");
      await once(server.child, "close");
    }
  }
};
