/**
 * A relay of the stream `provisioning` with the real rail.
 *
 *     node relay-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { createGithubActionsRail } from "../../../src/rails/github-actions/rail.ts";
import { relayTrapSchema, runRelayPart } from "../kit/relay-part.ts";

const configSchema = z.object({ connectionString: z.string(), apiUrl: z.string(), trap: relayTrapSchema.optional() });

const { connectionString, apiUrl, trap } = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
const rail = createGithubActionsRail({ token: "sandbox", apiUrl, timeoutMs: 1_500, visibleAfterMs: 100 });
await runRelayPart({ connectionString, rails: [rail], streams: ["provisioning"], reapMs: 250, trap });
