/**
 * A relay of the stream `provisioning` with the real rail.
 *
 *     node relay-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { createGithubActionsRail } from "../../../src/rails/github-actions/rail.ts";
import { relayTrapSchema, runRelayPart } from "../kit/relay-part.ts";

const configSchema = z.object({
  connectionString: z.string(),
  apiUrl: z.string(),
  visibleAfterMs: z.number(),
  trap: relayTrapSchema.optional(),
});

const { connectionString, apiUrl, visibleAfterMs, trap } = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
const rail = createGithubActionsRail({ token: "sandbox", apiUrl, timeoutMs: 1_500, visibleAfterMs });
await runRelayPart({ connectionString, rails: [rail], streams: ["provisioning"], reapMs: 250, trap });
