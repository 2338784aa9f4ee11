/**
 * A shop that tells its warehouse about orders through the outbox.
 *
 *     DATABASE_URL=postgresql://… npx node --conditions=source examples/outbox/shop.ts
 *
 * In your own project the package is installed, and plain `node` is enough. The example migrates the database first. Run it twice, and the
 * second run finds its rows already delivered.
 */
import { Client } from "pg";
import { createRelay, createStream, enqueue, enqueueMany, migrate, registerRails } from "headroom/outbox";
import { untilQuiet } from "./until-quiet.ts";
import { warehouse } from "./warehouse.ts";

const connectionString = process.env["DATABASE_URL"];
if (connectionString === undefined) throw new Error("Set DATABASE_URL.");
const client = new Client({ connectionString });
await client.connect();

// Once, when you deploy: the schema, a stream of our own, and the rails that rows may name.
await migrate(client);
await createStream(client, "orders", { maxTries: 3, backoffBaseMs: 100, onDead: "skip" });
await registerRails(client, [warehouse]);
await client.query("create table if not exists shop_orders (id text primary key, item text not null)");

// An order and its message, in one transaction: both or neither.
await client.query("begin");
await client.query("insert into shop_orders values ('order-1', 'kettle') on conflict do nothing");
const placed = {
  stream: "orders",
  key: "order-1",
  instructionId: "order-1",
  idempotencyKey: "placed",
  rail: "warehouse",
  payload: { item: "kettle" },
  captures: { parcel: ["parcel"] },
};
const first = await enqueue(client, placed);
await client.query("commit");
console.log(`enqueued order-1 #${first.seq}, new: ${first.created}`);

// Enqueueing the same message again returns the same row.
const again = await enqueue(client, placed);
console.log(`again: the same row: ${again.outboxId === first.outboxId}, new: ${again.created}`);

// A transaction that rolls back leaves nothing, not even a gap in the numbers.
await client.query("begin");
await enqueue(client, {
  stream: "orders",
  key: "order-1",
  instructionId: "order-1",
  idempotencyKey: "regretted",
  rail: "warehouse",
  payload: { item: "toaster" },
});
await client.query("rollback");

// Several rows in one call. The gift card needs the id of the kettle's parcel.
const rows = await enqueueMany(client, [
  {
    stream: "orders",
    key: "order-1",
    instructionId: "order-1",
    idempotencyKey: "gift-card",
    rail: "warehouse",
    payload: { item: "gift card" },
    binds: [{ path: ["parcel"], capture: "parcel" }],
  },
  {
    stream: "orders",
    key: "order-2",
    instructionId: "order-2",
    idempotencyKey: "placed-2",
    rail: "warehouse",
    payload: { item: "unicorn" },
  },
]);
console.log(`enqueued order-1 #${rows[0]?.seq} and order-2 #${rows[1]?.seq}`);

// A relay, in this process or any other; several of them share the work.
const relay = createRelay({ connectionString, rails: [warehouse], streams: ["orders"] });
await relay.start();
await untilQuiet(client, "orders");
await relay.stop();

const dead = await client.query<{ key: string; error_code: string }>(
  "select key, error_code from outbox.list_dead(p_stream => 'orders')",
);
for (const row of dead.rows) console.log(`dead letter: ${row.key}, ${row.error_code}`);
await client.end();
