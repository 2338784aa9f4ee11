/** Creating a request, which submits it for review. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { requestSchema, type CapacityRequest } from "./request.ts";
import { newRequestArguments, type NewRequest } from "./terms.ts";

export type Created = { readonly outcome: "created"; readonly request: CapacityRequest };

export async function createRequest(db: Queryable, terms: NewRequest): Promise<Created | Refused> {
  return refusable(create(db, terms));
}

async function create(db: Queryable, terms: NewRequest): Promise<Created> {
  const row = await call(db, "public.create_capacity_request", newRequestArguments(terms));
  return { outcome: "created", request: requestSchema.parse(row) };
}
