/**
 * The payloads of rows for Linear, as sql/functions/capacity/linear/render_linear_*.sql write them.
 */
import { z } from "zod";

/** Made when the row was enqueued and stored with it, so that a second try is harmless. */
const clientId = z.uuid("a UUID that was made when the row was enqueued");
const stateKind = z.enum(["triage", "backlog", "unstarted", "started", "completed", "canceled"]);
const entityId = z.string().min(1).max(100);

const withState = { team_id: entityId.optional(), state_kind: stateKind.optional() };

export const linearMessageSchema = z.discriminatedUnion("operation", [
  z.object({
    operation: z.literal("issueCreate"),
    ...withState,
    input: z.looseObject({ id: clientId, teamId: entityId, title: z.string().min(1), stateId: entityId.optional() }),
  }),
  z.object({
    operation: z.literal("issueUpdate"),
    ...withState,
    id: entityId,
    input: z.looseObject({ stateId: entityId.optional() }),
  }),
  z.object({
    operation: z.literal("commentCreate"),
    input: z.looseObject({ id: clientId, issueId: entityId, body: z.string().min(1) }),
  }),
]);

export type LinearMessage = z.infer<typeof linearMessageSchema>;
/** The messages that set a state. */
export type IssueMessage = Exclude<LinearMessage, { operation: "commentCreate" }>;
