/** Separate people for each test of notifications, and notifying them. Does not own: what is asserted. */
import { randomUUID } from "node:crypto";
import { oneOf, rowsOf, type Queryable } from "../outbox/queries.ts";

export interface Told {
  readonly category?: string;
  readonly channels?: readonly string[];
  readonly about?: string;
  readonly title?: string;
  readonly body?: string;
}

let seen = 0;

/** A member of Acme with an address, whom no other test knows. */
export async function somebody(db: Queryable, roles: readonly string[] = []): Promise<string> {
  const id = `p${(seen += 1)}-${randomUUID().slice(0, 8)}`;
  await rowsOf(
    db,
    `insert into directory.members (workspace_id, id, display_name, email, roles)
     values ('acme', $1, 'Somebody', $1 || '@acme.example', $2)`,
    [id, roles],
  );
  return id;
}

export async function tell(db: Queryable, member: string, told: Told = {}): Promise<string> {
  const { category = "general", channels = ["in-app"], about = null, title = "A title", body = "A body." } = told;
  const { id } = await oneOf<{ id: string }>(
    db,
    "select notify.tell(notify.recipient('acme', 'member', $1), $2, notify.content($3, $4, $5, $6, p_about => $7)) as id",
    [member, randomUUID(), category, title, body, channels, about],
  );
  return id;
}

/** The state of each notification of a person on each channel. */
export async function stages(db: Queryable, member: string): Promise<string[]> {
  const rows = await rowsOf<{ line: string }>(
    db,
    `select concat_ws(' ', coalesce(n.title, '(erased)'), s.channel, s.stage) as line
       from notify.part_stages s join notify.notifications n on n.id = s.notification_id
      where n.recipient = $1 order by n.created_at, n.id, s.channel`,
    [member],
  );
  return rows.map(({ line }) => line);
}

/** Makes what is held for a person due now. */
export async function makeDue(db: Queryable, member: string): Promise<void> {
  await rowsOf(db, "update notify.parts set due_at = now() where recipient = $1 and state = 'held'", [member]);
}
