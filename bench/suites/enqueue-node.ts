/** Enqueue as an application does it, through each contender's own client: ten connections, and bulk calls of 1,000. */
import { ratePerSecond, round } from "../measure.ts";
import { makeBody } from "../workload.ts";
import { openContender } from "./open-contender.ts";
import type { Suite } from "./suite.ts";

const CONNECTIONS = 10;
const BULK = 1_000;
const BULK_CALLS = 60;

export const enqueueNodeSuite: Suite = async ({ url, params, emit }) => {
  const keys = params.number("keys");
  const durationMs = params.number("seconds") * 1_000;
  const contender = await openContender(params.text("contender"), { url, keys });

  const single = await ratePerSecond(CONNECTIONS, durationMs, (i) => contender.enqueueOne(makeBody(i, "none", keys)));
  emit({
    measure: "enqueue/node-single",
    who: contender.name,
    variant: `one transaction each, ${CONNECTIONS} connections, from Node`,
    value: round(single.rate),
    unit: "rows/s",
    details: { rows: single.calls },
  });

  const batch = (call: number) => Array.from({ length: BULK }, (_, j) => makeBody(call * BULK + j, "none", keys));
  // Indices start beyond those of the single rows: an idempotency key may be used once.
  const offset = 1_000_000;
  const bulk = await ratePerSecond(1, durationMs, (i) => contender.enqueueMany(batch(offset + i)), BULK_CALLS);
  emit({
    measure: "enqueue/node-bulk",
    who: contender.name,
    variant: `${BULK} rows per call, one connection, from Node`,
    value: round(bulk.rate * BULK),
    unit: "rows/s",
    details: { rows: bulk.calls * BULK },
  });
  await contender.close();
};
