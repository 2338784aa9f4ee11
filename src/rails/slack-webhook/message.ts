/**
 * What rows for a webhook say: a text, and blocks. Where it goes is no part of it, nor as whom.
 */
import { z } from "zod";

export const webhookMessageSchema = z.strictObject({
  text: z.string().min(1),
  blocks: z
    .array(z.looseObject({ type: z.string() }))
    .max(50)
    .optional(),
});
