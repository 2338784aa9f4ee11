/**
 * The payload of rows for a webhook: a text and blocks. It contains neither the receiver nor the sender.
 */
import { z } from "zod";

export const webhookMessageSchema = z.strictObject({
  text: z.string().min(1),
  blocks: z
    .array(z.looseObject({ type: z.string() }))
    .max(50)
    .optional(),
});
