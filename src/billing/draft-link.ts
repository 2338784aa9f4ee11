/** The link in the mail of the self-service wizard. */
import type { ClientBase } from "pg";
import { call } from "../db/call.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";

/**
 * The token that proves a draft's address, made from the draft's id for the mail that is being sent at this moment. Whoever calls this puts
 * it into that mail and nowhere else.
 */
export async function makeProofToken(client: ClientBase, draftId: string, key?: SecretKey): Promise<string> {
  return await withSecretKey(client, key, () => call(client, "billing.proof_token", { p_draft_id: draftId }));
}
