/**
 * The end-to-end stage of the fault tests: the real workflow in a database, a real relay, the providers' real rails, and the sandbox at the
 * other end, which fails on request.
 */
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Rail } from "../../../src/contract/rail.ts";
import { defaultSampleData, type SampleData } from "../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { linearRail, slackRail, startSurfaces, surfaceRail } from "../capacity/surfaces.ts";
import type { Surfaces } from "../capacity/surfaces.ts";
import { rowsOf } from "../capacity/harness.ts";
import { sandboxSecrets } from "./harness.ts";

export interface FaultStage {
  readonly surfaces: Surfaces;
  /** Started before the first test, and reset between tests. */
  sandbox(): Sandbox;
  /** Runs a relay with these rails; rows of other rails are delivered to nobody. */
  run(...rails: Rail[]): Promise<void>;
  /** The archive's states of a request's rows on one rail, in order. */
  lines(requestId: string, rail: string): Promise<readonly ArchiveLine[]>;
}

export interface ArchiveLine {
  readonly effect: string;
  readonly state: string;
  readonly uncertain: boolean;
  readonly code: string | null;
  readonly message: string | null;
}

/** Short waits and no limit per second: what is tested is what happens, not when. */
const inAHurry = `
update outbox.streams set backoff_base_ms = 10, backoff_factor = 1.5, backoff_cap_ms = 200, max_tries = 200
 where name in ('capacity', 'people');
update outbox.limits set open_base_ms = 20 where name = '*';`;

/** Call it while tests are being collected. */
export async function startFaultStage(sampleData: SampleData = defaultSampleData): Promise<FaultStage> {
  const surfaces = await startSurfaces(18);
  let sandbox: Sandbox | undefined;
  const there = (): Sandbox => {
    if (sandbox === undefined) throw new Error("the sandbox is started before the first test");
    return sandbox;
  };
  beforeAll(async () => {
    sandbox = await startSandbox({ sampleData, secrets: sandboxSecrets });
    await surfaces.db.superuser.pool.query(inAHurry);
    for (const { id } of sampleData.slackChannels) {
      await rowsOf(surfaces.superuser, "select outbox.limit_destination($1, 0)", [`slack:${id}`]);
    }
  });
  beforeEach(() => there().reset());
  afterAll(() => sandbox?.close());
  return {
    surfaces,
    sandbox: there,
    async run(...rails) {
      const names = new Set(rails.map((rail) => rail.name));
      const others = [slackRail(), linearRail(), surfaceRail("email"), surfaceRail("webhook")];
      await surfaces.relay(...rails, ...others.filter((rail) => !names.has(rail.name)));
    },
    lines: (requestId, rail) =>
      rowsOf<ArchiveLine>(
        surfaces.superuser,
        `select m.idempotency_key as effect, a.state, a.uncertain, a.error_code as code, w.message
           from outbox.payloads m join outbox.rails r on r.rail_id = m.rail_id
           join outbox.attempts a on a.outbox_id = m.outbox_id
           left join outbox.answers w on w.outbox_id = a.outbox_id and w.attempt_no = a.attempt_no
           left join notify.deliveries d on d.outbox_id = m.outbox_id
          where r.name = $2 and (m.instruction_id ~ ('^' || $1 || '[#!]') or d.recipient = $1) order by m.outbox_id, a.attempt_no`,
        [requestId, rail],
      ),
  };
}
