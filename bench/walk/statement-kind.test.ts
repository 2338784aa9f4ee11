import { expect, it } from "vitest";
import { statementKind } from "./statement-kind.ts";

it.each([
  ["select * from capacity.requests r where r.id = $1 for update", "read"],
  ["with asked as (select m.id from directory.members m) select * from asked for no key update", "read"],
  ["v_steps <> '{}' and exists (select from capacity.still_asked(p_request, v_steps))", "bare"],
  ["select n.nspname from pg_extension e where e.extname = $1", "read"],
  ["select m.match from regexp_matches(v_text, $1) m(match)", "bare"],
  ["SELECT capacity.tell_people(p_request, v_story)", "bare"],
  ["insert into capacity.events values (v_event.*)", "write"],
  ["update capacity.requests r set version = $1", "write"],
  ["with told as (insert into notify.notifications (id) values ($1) returning id) select * from told", "write"],
  ["with moved as (update outbox.lanes l set next_seq = $1 returning l.key) select * from moved", "write"],
  ['SELECT $2 FROM ONLY "capacity"."requests" x WHERE "id" OPERATOR(pg_catalog.=) $1 FOR KEY SHARE OF x', "check"],
])("inside the database, %s is of the kind %s", (text, kind) => {
  expect(statementKind(text, false)).toBe(kind);
  expect(statementKind(text, true)).toBe("sent");
});
