/** Logins of applications that may notify people, in addition to machines with a service key. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface Producer {
  readonly role: string;
  readonly addedAt: Date;
  readonly addedBy: string;
  /** False if the role was dropped since. */
  readonly present: boolean;
}

export async function listProducers(db: Queryable): Promise<readonly Producer[]> {
  const rows = await call(db, "notify.list_producers", {});
  return rows.map((row) => ({
    role: row.role_name,
    addedAt: row.added_at,
    addedBy: row.added_by,
    present: row.present,
  }));
}

/** `changed`: it could not notify people before. */
export async function addProducer(
  db: Queryable,
  role: string,
  actor: string,
): Promise<{ readonly outcome: "done"; readonly changed: boolean } | Refused> {
  return refusable(done(call(db, "notify.add_producer", { p_role: role, p_actor: actor })));
}

/** `changed`: it could notify people before. */
export async function removeProducer(
  db: Queryable,
  role: string,
): Promise<{ readonly outcome: "done"; readonly changed: boolean } | Refused> {
  return refusable(done(call(db, "notify.remove_producer", { p_role: role })));
}

async function done(answer: Promise<boolean>): Promise<{ readonly outcome: "done"; readonly changed: boolean }> {
  return { outcome: "done", changed: await answer };
}
