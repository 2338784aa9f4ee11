import { expect, test } from "vitest";
import type { LinearQuery } from "./graphql.ts";
import { createWorkflowStates } from "./states.ts";

const signal = new AbortController().signal;
const nodes = [
  { id: "later", type: "started", position: 9 },
  { id: "first", type: "started", position: 1 },
  { id: "done", type: "completed", position: 0 },
];

/** Linear's side, counting how often it is asked. */
function counting(answer: Awaited<ReturnType<LinearQuery>>): { readonly query: LinearQuery; readonly asked: string[] } {
  const asked: string[] = [];
  const query: LinearQuery = (_document, { teamId }) => {
    asked.push(String(teamId));
    return Promise.resolve(answer);
  };
  return { query, asked };
}

const answered = { kind: "data", data: { team: { states: { nodes } } } } as const;

test("a team is asked once in five minutes, whichever kind is wanted, and again after a refusal", async () => {
  let now = 0;
  const { query, asked } = counting(answered);
  const states = createWorkflowStates(query, () => now);
  expect(await states.find("team", "started", signal)).toEqual({ kind: "state", id: "first", remembered: false });
  expect(await states.find("team", "completed", signal)).toEqual({ kind: "state", id: "done", remembered: true });
  expect(await states.find("team", "triage", signal)).toEqual({ kind: "state", id: null, remembered: true });
  now = 5 * 60_000;
  expect(await states.find("team", "started", signal)).toMatchObject({ remembered: false });
  states.forget("team");
  expect(await states.find("team", "started", signal)).toMatchObject({ remembered: false });
  expect(asked).toEqual(["team", "team", "team"]);
});

test("a failure is not remembered, and an answer of another form is one", async () => {
  const failing = counting({ kind: "failure", code: "http_5xx" });
  const states = createWorkflowStates(failing.query);
  expect(await states.find("team", "started", signal)).toMatchObject({ kind: "failure", code: "http_5xx" });
  expect(await states.find("team", "started", signal)).toMatchObject({ kind: "failure" });
  expect(failing.asked).toHaveLength(2);
  const odd = createWorkflowStates(counting({ kind: "data", data: { team: null } }).query);
  expect(await odd.find("team", "started", signal)).toMatchObject({ kind: "failure", code: "bad_answer" });
});

test("only so many teams are remembered", async () => {
  const { query, asked } = counting(answered);
  const states = createWorkflowStates(query, () => 0);
  for (let team = 0; team <= 500; team += 1) await states.find(`team-${team}`, "started", signal);
  await states.find("team-500", "started", signal);
  await states.find("team-0", "started", signal);
  expect(asked).toHaveLength(502);
});
