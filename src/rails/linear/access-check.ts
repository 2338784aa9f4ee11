/**
 * Whether Linear accepts the key, and knows the teams whose issues mirror requests.
 *
 * Owns: the questions. Does not own: which teams are meant.
 */
import { z } from "zod";
import { openConnections } from "../exchange.ts";
import { requireSettings } from "../fields.ts";
import { lacking, maxPlaces, problemOf, type AccessProblem, type AccessCheck } from "../access-check.ts";
import { linearCodes } from "./codes.ts";
import { linearSettingsSchema, type LinearSettings } from "./config.ts";
import { createLinearQuery, type LinearFailure } from "./graphql.ts";

const viewerSchema = z.object({ viewer: z.object({ name: z.string() }) });

export async function checkLinearAccess(
  given: LinearSettings,
  teams: readonly string[],
  signal: AbortSignal,
): Promise<AccessCheck> {
  const settings = requireSettings("linear", linearSettingsSchema, given);
  const connections = openConnections();
  try {
    const query = createLinearQuery(settings, connections);
    const answer = await query("viewer", {}, signal);
    if (answer.kind === "failure") return refusal(answer);
    for (const teamId of teams.slice(0, maxPlaces)) {
      const states = await query("states", { teamId }, signal);
      if (states.kind === "data") continue;
      if (states.code !== "invalid_input" && states.code !== "forbidden") return refusal(states);
      return lacking(
        true,
        `There is no team ${teamId}, or the key cannot see it.`,
        "Give the key's owner access to the team, or name another: headroom policy settings --linear-team <id>",
      );
    }
    return { kind: "answers", as: viewerSchema.safeParse(answer.data).data?.viewer.name ?? "the key's owner" };
  } finally {
    connections.close();
  }
}

function refusal({ code, detail }: LinearFailure): AccessProblem {
  return problemOf(code, linearCodes[code].meaning, detail, ["not_authenticated", "forbidden"]);
}
