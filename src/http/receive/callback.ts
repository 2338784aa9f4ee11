/**
 * Answers the reports of runs of provisioning workflows.
 *
 * Owns: the answer's status. Does not own: what the callback means (the database).
 */
import { z } from "zod";
import type { Json } from "../../db/generated.gen.ts";

/** The longest that the database accepts. */
export const callbackBytes = 16_384;

const refused = z.object({ status: z.int().min(400).max(599), retry_after: z.int().optional() });

/** A correctly signed callback that is refused was recorded, so it gets its own status and no exception is thrown. */
export function callbackResponse(answer: Json): Response {
  const { status = 200, retry_after: seconds } = refused.safeParse(answer).data ?? {};
  return Response.json(answer, { status, headers: seconds === undefined ? {} : { "retry-after": String(seconds) } });
}
