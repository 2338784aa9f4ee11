/**
 * What one approval costs when several clients decide at once, each its own request: through the workflow's function, or as
 * the same row writes by hand. One of them per process, on requests that were prepared in a set.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { WARM_UP_SECONDS } from "../load/protocol.ts";
import { runLoad } from "../load/run-load.ts";
import { round } from "../measure.ts";
import type { Suite } from "./suite.ts";

/** More than any machine decides in a second, so that no client runs out. */
const REQUESTS_A_SECOND = 5_000;
const sqlFile = (name: string): string => fileURLToPath(new URL(`../sql/apply-${name}.sql`, import.meta.url));

type Constants = Readonly<Record<"stream_id" | "rail_id" | "destination_id", number>>;

async function prepareRequests(url: string, count: number): Promise<Constants> {
  const client = new Client(url);
  await client.connect();
  try {
    await migrate(client);
    await client.query("create schema bench");
    await client.query("create sequence bench.requests");
    await client.query(await readFile(sqlFile("fill"), "utf8"), [count]);
    await client.query("vacuum analyze");
    const { rows } = await client.query<Constants>(
      `select s.stream_id, r.rail_id, d.destination_id
         from outbox.streams s, outbox.rails r, outbox.destinations d
        where s.name = 'capacity' and r.name = 'slack' and d.name = 'slack:C0123456'`,
    );
    const [constants] = rows;
    if (!constants) throw new Error("the workflow's stream, rail or destination is missing");
    return constants;
  } finally {
    await client.end();
  }
}

export const applySuite: Suite = async ({ url, params, emit }) => {
  const who = params.text("who");
  const clients = params.number("clients");
  const seconds = params.number("seconds");
  const constants = await prepareRequests(url, REQUESTS_A_SECOND * (seconds + WARM_UP_SECONDS));
  const file = sqlFile(who === "headroom" ? "event" : "by-hand");
  const load = await runLoad({ url, file, clients, seconds, constants });
  emit({
    measure: "apply/approve",
    who,
    variant: `${clients} clients, one transaction each, ${load.tool}`,
    value: round(load.perSecond),
    unit: "events/s",
  });
};
