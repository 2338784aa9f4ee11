/**
 * The cost of one enqueue when many clients enqueue at the same time: through our function, as the same row writes by hand, or as
 * one bare INSERT. One variant per process, from empty tables.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openHeadroomQueue, RAIL, STREAMS } from "../contenders/headroom-queue.ts";
import { runLoad } from "../load/run-load.ts";
import { round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const sqlFile = (name: string): string => fileURLToPath(new URL(`../sql/${name}.sql`, import.meta.url));

export const enqueueSqlSuite: Suite = async ({ url, params, emit }) => {
  const order = params.text("order") === "ordered" ? "ordered" : "unordered";
  const clients = params.number("clients");
  const queue = await openHeadroomQueue(url, params.number("keys"));
  await queue.pool.query(await readFile(sqlFile("bare-tables"), "utf8"));
  const { rows } = await queue.pool.query<{ stream_id: number; rail_id: number }>(
    "select s.stream_id, r.rail_id from outbox.streams s, outbox.rails r where s.name = $1 and r.name = $2",
    [STREAMS[order], RAIL],
  );
  const constants = { ...rows[0] };

  const who = params.text("who");
  const file = sqlFile(`${who === "headroom" ? "enqueue" : who}-${order}`);
  const load = await runLoad({ url, file, clients, seconds: params.number("seconds"), constants });
  emit({
    measure: `enqueue/${order}`,
    who,
    variant: `${clients} clients, one transaction each, ${load.tool}`,
    value: round(load.perSecond),
    unit: "rows/s",
  });
  await queue.close();
};
