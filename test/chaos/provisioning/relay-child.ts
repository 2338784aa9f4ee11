/**
 * A relay of the stream `provisioning` with the real rail, which kills itself at one step of one kind of call if it was told to.
 *
 *     node relay-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { createRelay } from "../../../src/outbox/relay/relay.ts";
import { createGithubActionsRail } from "../../../src/rails/github-actions/rail.ts";
import { endWithStarter } from "./part-process.ts";

const trapSchema = z.object({
  operation: z.enum(["dispatch", "stop", "watch"]),
  at: z.enum(["send.before", "send.after", "settle.before", "settle.after"]),
});
export type RelayTrap = z.infer<typeof trapSchema>;

const configSchema = z.object({ connectionString: z.string(), apiUrl: z.string(), trap: trapSchema.optional() });

const { connectionString, apiUrl, trap } = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
endWithStarter();
/** Whether a call of the kind that the trap waits for is under way. */
let isArmed = false;

function reach(step: string): void {
  if (isArmed && step === trap?.at) process.kill(process.pid, "SIGKILL");
}

const rail = createGithubActionsRail({ token: "sandbox", apiUrl, timeoutMs: 1_500, visibleAfterMs: 100 });
const operationOf = z.object({ operation: z.string().default("dispatch") });
const relay = createRelay({
  connectionString,
  rails: [
    {
      ...rail,
      send(message, context) {
        isArmed ||= operationOf.parse(message.payload).operation === trap?.operation;
        reach("send.before");
        return rail.send(message, context);
      },
    },
  ],
  streams: ["provisioning"],
  pollMs: 250,
  reapMs: 250,
  leaseMarginMs: 500,
  // The step before a send comes before the kind of the call is known.
  onStep: (step) => step !== "send.before" && reach(step),
  log({ event, ...entry }) {
    if (event === "relay_started") console.log(JSON.stringify({ ready: Number(entry["relayId"]) }));
  },
});
try {
  await relay.start();
} catch {
  process.exit(1);
}
