/** Rows that die immediately, through a real relay. */
import type { RailOutcome } from "../../../../src/contract/rail.ts";
import { probeRail } from "../../outbox/relay/rails.ts";
import type { Stage } from "../../outbox/relay/stage.ts";

/** Contains something that a terminal would execute. */
export const refused: RailOutcome = { kind: "rejected", code: "http_400", reason: "no such\u001b[2J field" };
export const lost: RailOutcome = { kind: "unknown", code: "reset", reason: "hung up" };

export interface DeadRowsOptions {
  readonly outcome?: RailOutcome;
  readonly key?: string;
  /** With `block` only the first row dies. Default: skip. */
  readonly onDead?: "block" | "skip";
}

/** The relay has stopped when this returns. */
export async function deadRows(
  stage: Stage,
  count: number,
  options: DeadRowsOptions = {},
): Promise<{ readonly stream: string; readonly ids: string[] }> {
  const blind = options.outcome?.kind === "unknown";
  const rail = probeRail({
    name: blind ? "blind-probe" : "probe",
    capability: blind ? "blind" : "idempotent",
    send: () => options.outcome ?? refused,
  });
  await stage.declare(rail);
  const stream = await stage.stream({ onDead: options.onDead ?? "skip" });
  const row = { stream, rail: rail.name, ...(options.key === undefined ? {} : { key: options.key }) };
  const rows = await stage.enqueueMany(Array.from({ length: count }, () => row));
  const ids = rows.map(({ outboxId }) => outboxId);
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilStates(options.onDead === "block" ? ids.slice(0, 1) : ids, "FAILED");
  await relay.stop();
  return { stream, ids };
}
