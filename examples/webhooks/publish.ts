/**
 * An application that publishes events about transfers, and a receiver that gets them.
 *
 *     npx node --conditions=source examples/webhooks/publish.ts
 *
 * It starts its own temporary Postgres; set DATABASE_URL to use yours. HEADROOM_SECRET_KEY is any text of 32 bytes or more; the database
 * encrypts the endpoint's secrets under it. Here one program plays all the parts: the application, the relay and the receiver.
 */
import { randomBytes } from "node:crypto";
import { Client, Pool } from "pg";
import { createStoredEndpoints, createWebhookRail, startEmbedded } from "headroom";
import { createDrainer, migrate } from "headroom/outbox";
import { putEndpoint, removeEndpoint, rotateEndpointSecret } from "headroom/webhooks";
import { startReceiver } from "./receiver.ts";

const { DATABASE_URL, HEADROOM_SECRET_KEY: key = randomBytes(32).toString("hex") } = process.env;
const server = DATABASE_URL === undefined ? await startEmbedded({ ephemeral: true }) : undefined;
const connectionString = server?.url ?? DATABASE_URL;
const client = new Client({ connectionString });
await client.connect();
await migrate(client);

// An endpoint, and the secret that its requests are signed with. It is returned only once.
let secret = "";
const receiver = await startReceiver(
  () => secret,
  (event) => console.log(`receiver: ${event.type} of ${event.subject}: ${JSON.stringify(event.data)}`),
);
const made = await putEndpoint(
  client,
  "billing",
  { url: receiver.url, topics: ["com.example.transfer.*"] },
  { key, allowPrivate: true },
);
secret = made.secret ?? "";

// The change and its event, in one transaction: both or neither.
await client.query("create table if not exists transfers (id text primary key, amount integer not null)");
await client.query("begin");
await client.query("insert into transfers values ('t-1', 100) on conflict do nothing");
const settled = await publish("t-1:settled", "com.example.transfer.settled", { amount: 100 });
await client.query("commit");
console.log(`published ${settled.status}`);

// Nobody receives this one: its type is not among the topics.
const other = await publish("t-1:noted", "com.example.note", {});
console.log(`noted ${await statusOf(other.id)}`);

// One run of a relay; `headroom relay` and the route /api/internal/outbox-relay do the same.
const pool = new Pool({ connectionString, max: 2 });
const stored = createStoredEndpoints({ pool, secretKey: key, rememberMs: 0 });
const webhook = createWebhookRail({
  endpoint: (message) => stored.find(message),
  gone: (endpoint) => stored.gone(endpoint),
  allowHttp: true,
  allowPrivate: ["127.0.0.1/32"],
});
const relay = createDrainer({ connectionString, rails: [webhook], streams: ["transfers"] });
console.log(`delivered ${(await relay.drain()).delivered}`);
console.log(`settled ${await statusOf(settled.id)}`);

// Publishing it again is the same event, and is not sent again.
const again = await publish("t-1:settled", "com.example.transfer.settled", { amount: 100 });
console.log(`again ${again.status}, same row: ${again.id === settled.id}`);

// A new secret. The receiver still has the old one, which also signs for a day.
const next = await rotateEndpointSecret(client, "billing", { key });
await publish("t-2:settled", "com.example.transfer.settled", { amount: 250 });
console.log(`delivered ${(await relay.drain()).delivered} while the receiver has the old secret`);
secret = next;
await publish("t-3:settled", "com.example.transfer.settled", { amount: 75 });
console.log(`delivered ${(await relay.drain()).delivered} now that it has the new one`);

await removeEndpoint(client, "billing");
await relay.close();
webhook.close();
receiver.close();
await pool.end();
await client.end();
await server?.stop();

interface Published {
  readonly id: string;
  readonly status: string;
}

async function publish(id: string, type: string, data: object): Promise<Published> {
  const envelope = { specversion: "1.0", id, source: "/example/bank", type, subject: id.split(":")[0], data };
  const { rows } = await client.query<Published>(
    "insert into payments.outbox_transfers (payload) values ($1) returning id, status",
    [envelope],
  );
  return rows[0] ?? { id: "", status: "?" };
}

async function statusOf(id: string): Promise<string> {
  const { rows } = await client.query<Published>("select id, status from payments.outbox_transfers where id = $1", [
    id,
  ]);
  return rows[0]?.status ?? "?";
}
