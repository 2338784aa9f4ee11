/**
 * The cost of one approval when several clients each decide their own request at the same time: through the workflow's function, or as
 * the same row writes done another way. One variant per process, on requests that were prepared in a set.
 */
import { Client } from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { DECIDERS, prepareApprovals, SCRIPTS } from "../approvals.ts";
import { WARM_UP_SECONDS } from "../load/protocol.ts";
import { runLoad } from "../load/run-load.ts";
import { round } from "../measure.ts";
import type { Suite } from "./suite.ts";

/** More than any machine can decide in a second, so that no client runs out. */
const REQUESTS_A_SECOND = { headroom: 4_000, "one-function": 8_000, "by-hand": 8_000 } as const;

export const applySuite: Suite = async ({ url, params, emit }) => {
  const who = DECIDERS.find((name) => name === params.text("who"));
  if (who === undefined) throw new Error(`nobody decides as "${params.text("who")}"`);
  const clients = params.number("clients");
  const seconds = params.number("seconds");
  const partitions = params.number("partitions");
  const client = new Client(url);
  await client.connect();
  try {
    await migrate(client);
    await prepareApprovals(client, url, { requests: REQUESTS_A_SECOND[who] * (seconds + WARM_UP_SECONDS), partitions });
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
  const load = await runLoad({ url, file: SCRIPTS[who], clients, seconds, constants: {} });
  emit({
    measure: `apply/approve-${partitions}`,
    who,
    variant: `${clients} clients, one transaction each, ${partitions} partitions, ${load.tool}`,
    value: round(load.perSecond),
    unit: "events/s",
  });
};
