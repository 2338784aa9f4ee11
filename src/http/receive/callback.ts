/**
 * Answers to what runs of provisioning workflows report.
 *
 * Owns: the answer's status. Does not own: what the callback means (the database).
 */
import { z } from "zod";
import type { Json } from "../../db/generated.gen.ts";

/** The database takes no more. */
export const callbackBytes = 16_384;

const refused = z.object({ status: z.int().min(400).max(599), retry_after: z.int().optional() });

/** A callback that was signed rightly and is refused was written down, so it is an answer with a status of its own and no exception. */
export function callbackResponse(answer: Json): Response {
  const { status = 200, retry_after: seconds } = refused.safeParse(answer).data ?? {};
  return Response.json(answer, { status, headers: seconds === undefined ? {} : { "retry-after": String(seconds) } });
}
