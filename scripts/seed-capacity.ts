/**
 * Fills a workspace with requests that have complete logs, in sets: for testing lists, metrics and `headroom verify` at a size that no
 * office reaches in a day.
 *
 *     node scripts/seed-capacity.ts --database-url postgresql://… --requests 100000 --events 10 [--open 2] [--deliveries]
 *
 * Logs cannot be deleted, so use a separate database. The login must be a member of headroom_owner, as the migrating role is.
 */
import { parseArgs } from "node:util";
import { startProgress } from "../src/cli/output.ts";
import { withConnection } from "../src/db/connect.ts";
import { HeadroomError } from "../src/db/errors.ts";
import { seedCapacity } from "./seed-capacity/seed.ts";

function numberOf(text: string, name: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new HeadroomError("usage", `--${name} is a whole number from 1 to ${most}.`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      "database-url": { type: "string" },
      requests: { type: "string", default: "1000" },
      events: { type: "string", default: "5" },
      open: { type: "string", default: "20" },
      workspace: { type: "string", default: "seed" },
      deliveries: { type: "boolean", default: false },
    },
  });
  const url = values["database-url"] ?? process.env["DATABASE_URL"];
  if (url === undefined) throw new HeadroomError("usage", "Name the database: --database-url or DATABASE_URL.");
  const requests = numberOf(values.requests, "requests", 10_000_000);
  const events = numberOf(values.events, "events", 100);
  const open = numberOf(values.open, "open", 100);
  const progress = startProgress("Seeding");
  const startedAt = performance.now();
  try {
    const seeded = await withConnection(url, (client) =>
      seedCapacity(client, {
        requests,
        eventsPerRequest: events,
        openPercent: open,
        workspaceId: values.workspace,
        deliveries: values.deliveries,
        onProgress: (done) => progress.update(done, requests),
      }),
    );
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(
      `${seeded.requests} requests, ${seeded.events} events, ${seeded.deliveries} deliveries in ${seconds} s.`,
    );
  } finally {
    progress.finish();
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof HeadroomError)) throw error;
  console.error([error.message, error.detail, error.hint].filter(Boolean).join("\n"));
  process.exitCode = 1;
}
