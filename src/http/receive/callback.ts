/**
 * Answers to what runs of provisioning workflows report.
 *
 * Owns: the answer's status, and what is read of a body before it is verified. Does not own: what the callback means (the database).
 */
import { z } from "zod";
import type { Json } from "../../db/generated.gen.ts";

/** The database takes no more. */
export const callbackBytes = 16_384;

const named = z.object({ workspace: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/) });

/** Which workspace the callback says that it is of. Nothing but limits may depend on it, since it is not verified. */
export function workspaceNamedIn(body: string): string {
  try {
    return named.safeParse(JSON.parse(body)).data?.workspace ?? "";
  } catch {
    return "";
  }
}

const refused = z.object({ status: z.int().min(400).max(599) });

/** A callback that was signed rightly and is refused was written down, so it is an answer with a status of its own and no exception. */
export function callbackResponse(answer: Json): Response {
  return Response.json(answer, { status: refused.safeParse(answer).data?.status ?? 200 });
}
