/**
 * A process that runs one relay turn, as the route does, and dies at the given step: for tests of what a killed server leaves behind.
 */
import { createDrainer } from "../../../src/outbox/relay/drain.ts";
import type { RelayStep } from "../../../src/outbox/observe/steps.ts";
import { storedRail } from "../webhooks/stored-rail.ts";

const [url, dieAt] = process.argv.slice(2) as [string, RelayStep | undefined];
const stored = storedRail(url);
const drainer = createDrainer({
  connectionString: url,
  rails: [stored.rail],
  streams: ["ledger"],
  onStep(step) {
    if (step === dieAt) process.kill(process.pid, "SIGKILL");
  },
});
process.stdout.write(`${JSON.stringify(await drainer.drain())}\n`);
await drainer.close();
await stored.close();
