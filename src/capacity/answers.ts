/**
 * What the functions of the workflow answer, checked and in our names. Apart from the wrappers that call the database, because the
 * client of the HTTP API reads the same answers where there is no database driver.
 */
import { z } from "zod";
import { askedSchema, personSchema, planSchema, requestSchema, requestStates } from "./request.ts";

const asked = z.array(askedSchema);
export const previewSchema = planSchema
  .extend({
    commercial: planSchema.shape.commercial.extend({ asked }),
    technical: planSchema.shape.technical.extend({ asked }),
    state: z.enum(requestStates),
    slack_channel_id: z.string().nullable(),
  })
  .transform(({ slack_channel_id: slackChannelId, ...rest }) => ({ ...rest, slackChannelId }));
/** The plan with whom it would ask first, the state that the request would be in, and where it would be posted. */
export type Preview = z.infer<typeof previewSchema>;

export const nudgeSchema = z
  .object({
    request_id: z.string(),
    notice_id: z.number(),
    next_nudge_at: z.coerce.date(),
    effects: z.array(z.string()),
    asked: z.array(personSchema),
  })
  .transform((answer) => ({
    outcome: "nudged" as const,
    requestId: answer.request_id,
    noticeId: answer.notice_id,
    nextNudgeAt: answer.next_nudge_at,
    effects: answer.effects,
    asked: answer.asked,
  }));
/** Whom the nudge asks, through what, and when another one may follow. */
export type Nudged = z.infer<typeof nudgeSchema>;

export const decisionSchema = z
  .object({
    request: requestSchema,
    repeated: z.boolean(),
    counts: z.boolean(),
    decided_by: z.string(),
    decided_at: z.coerce.date(),
  })
  .transform((answer) => ({
    /** `repeated`: taken before; nothing was changed. */
    outcome: answer.repeated ? ("repeated" as const) : ("decided" as const),
    /** As it is now. */
    request: answer.request,
    /** False for an endorsement, which leaves the decision to a higher authority. */
    counts: answer.counts,
    /** The member who decided, by this call or before it; a rule or the customer where it was one of these. */
    decidedBy: answer.decided_by,
    decidedAt: answer.decided_at,
  }));
export type Decided = z.infer<typeof decisionSchema>;
