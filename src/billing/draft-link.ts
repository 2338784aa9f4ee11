/** The link in the mail of the self-service wizard. */
import type { ClientBase } from "pg";
import { call } from "../db/call.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";

/**
 * The token that proves a draft's address, made for the mail that is being sent to it at this moment. Whoever calls this puts it into
 * that mail and nowhere else. It is refused where the draft has another address by now.
 */
export async function makeProofToken(
  client: ClientBase,
  { draftId, address }: { readonly draftId: string; readonly address: string },
  key?: SecretKey,
): Promise<string> {
  const values = { p_draft_id: draftId, p_address: address };
  return await withSecretKey(client, key, () => call(client, "billing.proof_token", values));
}
