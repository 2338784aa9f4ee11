/** The link in the mail of the self-service wizard. */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";
import type { MailLink } from "../notify/sending.ts";

/**
 * The token that proves a draft's address, made for the mail that is being sent to it right now. The caller puts it into that mail and
 * nowhere else. It is refused if the draft's address has changed.
 */
export async function makeProofToken(
  db: Queryable,
  { draftId, address }: { readonly draftId: string; readonly address: string },
  key?: SecretKey,
): Promise<string> {
  const values = { p_draft_id: draftId, p_address: address };
  return await withSecretKey(db, key, () => call(db, "billing.proof_token", values));
}

const addressedSchema = z.object({ to: z.string() });

export const draftLink: MailLink = {
  streams: ["self-service"],
  makeToken(db, draftId, { payload }, key) {
    return makeProofToken(db, { draftId, address: addressedSchema.parse(payload).to }, key);
  },
};
