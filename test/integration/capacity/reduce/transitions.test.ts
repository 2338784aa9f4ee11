/**
 * The state machine over all combinations: the database answers as the model does, nothing else happens, and the table from which the
 * documentation is drawn agrees.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf } from "../../outbox/queries.ts";
import { eventTypes, nextState, states, type EventType, type State } from "./model.ts";

interface Point {
  readonly state: State | null;
  readonly event: EventType | null;
  readonly commercial: boolean | null;
  readonly technical: boolean | null;
}

/** Tries one combination and returns the result, so that the whole space is one query. */
const attempt = `
create function public.attempt(s public.capacity_request_state, e public.capacity_request_event_type, c boolean, t boolean) returns text
language plpgsql as $$
declare
  v_detail text;
begin
  return capacity.compute_next_state(s, e, c, t);
exception when others then
  get stacked diagnostics v_detail = pg_exception_detail;
  return sqlstate || ' ' || split_part(v_detail, ':', 1);
end $$`;

const flags = [true, false, null] as const;
const space: Point[] = [...states, null].flatMap((state) =>
  [...eventTypes, null].flatMap((event) =>
    flags.flatMap((commercial) => flags.map((technical) => ({ state, event, commercial, technical }))),
  ),
);

describe.each(POSTGRES_VERSIONS)("the state machine on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const superuser = db.superuser.pool;

  beforeAll(() => superuser.query(attempt));

  test("every combination of state, event and flags has the model's next state, or is refused by the one error", async () => {
    const answers = await rowsOf<{ result: string }>(
      superuser,
      `select public.attempt((p ->> 'state')::public.capacity_request_state, (p ->> 'event')::public.capacity_request_event_type,
                             (p ->> 'commercial')::boolean, (p ->> 'technical')::boolean) as result
         from jsonb_array_elements($1) with ordinality x(p, ord) order by ord`,
      [JSON.stringify(space)],
    );
    const expected = space.map(
      ({ state, event, commercial, technical }) =>
        nextState(state, event, commercial, technical) ?? "PT409 invalid_transition",
    );
    expect(space.length).toBe(10 * 12 * 9);
    expect(answers.map((answer) => answer.result)).toEqual(expected);
  });

  test("the transition table holds exactly the steps that the function takes", async () => {
    const table = await rowsOf<{
      state_before: State;
      event_type: EventType;
      state_after: State;
      when_both_approved: boolean | null;
    }>(superuser, "select * from capacity.transitions()");
    const listed = table.flatMap((row) =>
      (row.when_both_approved === null ? [true, false] : [row.when_both_approved]).map((both) =>
        [row.state_before, row.event_type, both, row.state_after].join(" "),
      ),
    );
    const lawful = states.flatMap((state) =>
      eventTypes.flatMap((event) =>
        [true, false].flatMap((both) => {
          const next = nextState(state, event, both, both);
          return next === undefined ? [] : [[state, event, both, next].join(" ")];
        }),
      ),
    );
    expect(listed.toSorted()).toEqual(lawful.toSorted());
  });

  test("a refusal says which state and event did not match, and what to do", async () => {
    const refusal = await refusalOf(
      rowsOf(superuser, "select capacity.compute_next_state('COMPLETED', 'CANCEL_APPROVED', true, true)"),
    );
    expect(refusal).toMatchObject({
      code: "PT409",
      message: expect.stringContaining("COMPLETED"),
      detail: "invalid_transition: state COMPLETED, event CANCEL_APPROVED",
      hint: expect.stringContaining("Nothing was changed"),
    });
  });

  test("the functions of the fold are declared pure", async () => {
    const { pure } = await oneOf<{ pure: boolean }>(
      superuser,
      `select bool_and(provolatile = 'i') as pure from pg_proc
        where oid in ('capacity.compute_next_state'::regproc, 'capacity.project'::regproc, 'capacity.event_hash'::regproc)`,
    );
    expect(pure).toBe(true);
  });

  test.each([
    ["invalid_input", "PT400"],
    ["invalid_payload", "PT400"],
    ["not_signed_in", "PT401"],
    ["not_allowed", "PT403"],
    ["not_found", "PT404"],
    ["stale_version", "PT409"],
    ["invalid_transition", "PT409"],
    ["idempotency_conflict", "PT409"],
    ["conflict", "PT409"],
    ["deadline_passed", "PT409"],
    ["payment_due", "PT409"],
    ["already_used", "PT409"],
    ["gone", "PT410"],
    ["nobody_can_approve", "PT422"],
    ["too_soon", "PT429"],
    ["not_configured", "PT503"],
  ])("a refusal with the code %s has the state %s, and the code in its detail", async (code, state) => {
    const bare = await refusalOf(rowsOf(superuser, "select headroom.fail($1, 'No.')", [code]));
    expect(bare).toMatchObject({ code: state, message: "No.", detail: code });
    const full = await refusalOf(rowsOf(superuser, "select headroom.fail($1, 'No.', 'a: b', 'Do this.')", [code]));
    expect(full).toMatchObject({ code: state, detail: `${code}: a: b`, hint: "Do this." });
  });
});
