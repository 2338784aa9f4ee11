/**
 * Calls of the two functions that clients use most, and lists of fifty requests by a machine and by a member: over HTTP, with connections
 * kept open, to a server in its own process; or over the driver, with the session entered once, which no gateway can beat.
 */
import { Agent, request } from "node:http";
import { Client } from "pg";
import { openGatewayLogin } from "../../src/db/gateway-login.ts";
import { migrate } from "../../src/db/migrate.ts";
import type { TokenClaims } from "../../src/cli/make-keys.ts";
import { copyRequest, prepareWorkspace, submitDelivered } from "../approvals.ts";
import { nowMs, percentile, round } from "../measure.ts";
import { memberClaims, startServe, tokenFor, type ServeProcess } from "../serve-process.ts";
import type { Suite } from "./suite.ts";

const CONNECTIONS = [8, 32] as const;
const WARM_UP_MS = 500;
/** How many requests the lists select from. */
const REQUESTS = 300;
const LISTED = 50;
const PASSWORD = "for-this-run-only";

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

/** A machine with a service key, and a member of the group that reviews. */
const SESSIONS = {
  service: { role: "service_role" },
  member: memberClaims("ida"),
} as const satisfies Record<string, TokenClaims>;

/** One call on a connection; returns the text of the body. */
interface Way {
  call(connection: number, name: string, given: object): Promise<string>;
  /** The newest requests that there are. */
  list(connection: number): Promise<string>;
  close(): Promise<void>;
}

async function prepare(url: string): Promise<string> {
  const client = new Client(url);
  await client.connect();
  try {
    await migrate(client);
    await prepareWorkspace(client);
    await copyRequest(client, await submitDelivered(client, url), REQUESTS);
    await client.query(
      "update capacity.requests set created_at = created_at - make_interval(mins => right(id, 6)::integer)",
    );
    await client.query("vacuum analyze");
    return await openGatewayLogin(client, url, PASSWORD);
  } finally {
    await client.end();
  }
}

async function openDriver(gatewayUrl: string, connections: number, claims: TokenClaims): Promise<Way> {
  const clients = Array.from({ length: connections }, () => new Client(gatewayUrl));
  for (const client of clients) {
    await client.connect();
    await client.query("select set_config('role', $1, false), set_config('request.jwt.claims', $2, false)", [
      claims.role,
      JSON.stringify(claims),
    ]);
  }
  const ask = async (connection: number, name: string, text: string, values: unknown[] = []): Promise<string> => {
    const answer = await clients[connection]?.query<{ body: string }>({ name, text, values });
    return answer?.rows[0]?.body ?? "";
  };
  return {
    async call(connection, name, given) {
      const names = Object.keys(given);
      const list = names.map((key, index) => `${key} => $${index + 1}`).join(", ");
      const text = `select to_json(t)::text as body from public.${name}(${list}) t`;
      return ask(connection, name, text, Object.values(given));
    },
    list: (connection) =>
      ask(
        connection,
        "list",
        `select json_agg(t)::text as body from (select * from public.capacity_requests order by created_at desc limit ${LISTED}) t`,
      ),
    async close() {
      for (const client of clients) await client.end();
    },
  };
}

async function openHttp({ url }: ServeProcess, connections: number, claims: TokenClaims): Promise<Way> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const apikey = await tokenFor({ role: claims.role === "service_role" ? "service_role" : "anon" });
  const headers = { apikey, authorization: `Bearer ${await tokenFor(claims)}` };
  const ask = (method: string, path: string, body?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const content =
        body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const target = { agent, host: url.hostname, port: url.port, method, path: `/rest/v1/${path}` };
      const sent = request({ ...target, headers: { ...headers, ...content } });
      sent.on("error", reject);
      sent.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        response.on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
      });
      sent.end(body);
    });
  return {
    call: (_connection, name, given) => ask("POST", `rpc/${name}`, JSON.stringify(given)),
    list: () => ask("GET", `capacity_requests?order=created_at.desc&limit=${LISTED}`),
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

type Steps = Readonly<Record<string, (connection: number) => Promise<unknown>>>;

function callsOf(way: Way): Steps {
  const created: string[] = [];
  return {
    async create(connection) {
      const { id } = JSON.parse(await way.call(connection, "create_capacity_request", terms)) as { id: string };
      created.push(id);
    },
    get: (connection) =>
      way.call(connection, "get_capacity_request", {
        p_request_id: created[Math.floor(Math.random() * created.length)] ?? "",
      }),
  };
}

/** A short list would be fast for the wrong reason. */
async function checkList(way: Way): Promise<void> {
  const { length } = JSON.parse(await way.list(0)) as unknown[];
  if (length !== LISTED) throw new Error(`a list had ${length} requests instead of ${LISTED}`);
}

export const rpcSuite: Suite = async ({ url, params, emit }) => {
  const who = params.text("who");
  const seconds = params.number("seconds");
  const gatewayUrl = await prepare(url);
  const server = who === "headroom" ? await startServe(gatewayUrl) : undefined;
  const measure = async (
    connections: number,
    claims: TokenClaims,
    stepsOf: (way: Way) => Steps | Promise<Steps>,
  ): Promise<void> => {
    const way =
      server === undefined
        ? await openDriver(gatewayUrl, connections, claims)
        : await openHttp(server, connections, claims);
    for (const [call, step] of Object.entries(await stepsOf(way))) {
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
  };
  try {
    // Lists come first, so that they select from the same requests in every run.
    for (const connections of CONNECTIONS) {
      for (const [name, claims] of Object.entries(SESSIONS)) {
        await measure(connections, claims, async (way) => {
          await checkList(way);
          return { [`list-${name}`]: (connection) => way.list(connection) };
        });
      }
    }
    for (const connections of CONNECTIONS) await measure(connections, SESSIONS.service, callsOf);
  } finally {
    await server?.stop();
  }
};
