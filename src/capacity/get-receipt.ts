/** The receipt of a request, or of one of its events. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { receiptSchema, type Receipt } from "./receipt.ts";

export interface Receipted {
  readonly outcome: "receipted";
  readonly receipt: Receipt;
}

export async function getReceipt(db: Queryable, requestId: string, event?: number): Promise<Receipted | Refused> {
  return refusable(get(db, requestId, event));
}

async function get(db: Queryable, requestId: string, event?: number): Promise<Receipted> {
  const answer = await call(db, "public.get_capacity_receipt", { p_request_id: requestId, p_seq: event ?? null });
  return { outcome: "receipted", receipt: receiptSchema.parse(answer) };
}
