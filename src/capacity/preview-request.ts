/** What would happen to a request, without making it. */
import { previewSchema, type Preview } from "./answer-schemas.ts";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { termArguments, type RequestTerms } from "./terms.ts";

export type Previewed = { readonly outcome: "previewed"; readonly preview: Preview };

export async function previewRequest(db: Queryable, terms: RequestTerms): Promise<Previewed | Refused> {
  return refusable(preview(db, terms));
}

async function preview(db: Queryable, terms: RequestTerms): Promise<Previewed> {
  const answer = await call(db, "public.preview_capacity_request", termArguments(terms));
  return { outcome: "previewed", preview: previewSchema.parse(answer) };
}
