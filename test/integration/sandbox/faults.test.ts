import { describe, expect, test } from "vitest";
import { faultKinds, FaultPlan, type FaultKind } from "../../../src/sandbox/core/faults.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { setStage } from "./harness.ts";

const channel = "C0CAPACITY";
const patience = (): AbortSignal => AbortSignal.timeout(10_000);

function post(sandbox: Sandbox, text: string, signal = patience()): Promise<Response> {
  return fetch(`${sandbox.url}/slack/api/chat.postMessage`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer xoxb-sandbox" },
    body: JSON.stringify({ channel, text }),
    signal,
  });
}

const effects = (sandbox: Sandbox): string[] => sandbox.slack.messages(channel).map(({ text }) => text);

/** What the caller sees of each fault, and whether the message exists afterwards. */
const expected: Record<Exclude<FaultKind, "hang" | "hangBeforeAccept" | "late">, { sees: string; effect: boolean }> = {
  error500: { sees: "500", effect: false },
  error500Midway: { sees: "500", effect: false },
  rateLimit: { sees: "429", effect: false },
  locked: { sees: "500", effect: false },
  refuse: { sees: "200 restricted_action", effect: false },
  refuseEchoing: { sees: "200 restricted_action", effect: false },
  dropBeforeAccept: { sees: "cut", effect: false },
  error500AfterAccept: { sees: "500", effect: true },
  dropAfterAccept: { sees: "cut", effect: true },
  cutAnswer: { sees: "cut in the body", effect: true },
  garbage: { sees: "200 unreadable", effect: true },
  answer: { sees: "200 unreadable", effect: false },
};

async function seen(call: Promise<Response>): Promise<string> {
  let response: Response;
  try {
    response = await call;
  } catch {
    return "cut";
  }
  if (!response.ok) return String(response.status);
  let text: string;
  try {
    text = await response.text();
  } catch {
    return "cut in the body";
  }
  if (!text.startsWith("{")) return "200 unreadable";
  return `200 ${(JSON.parse(text) as { error?: string }).error ?? "well"}`;
}

describe("a planned fault", () => {
  for (const [kind, { sees, effect }] of Object.entries(expected)) {
    test(`${kind} hits once, ${effect ? "has the effect" : "has no effect"}, and ends`, async () => {
      await using stage = await setStage();
      stage.sandbox.faults.add({ provider: "slack", kind: kind as FaultKind, times: 1 });
      expect(await seen(post(stage.sandbox, "first"))).toBe(sees);
      expect(effects(stage.sandbox)).toEqual(effect ? ["first"] : []);
      expect(stage.sandbox.requests.list().at(-1)).toMatchObject({ fault: kind, effect });
      expect(await seen(post(stage.sandbox, "second"))).toBe("200 well");
      expect(stage.sandbox.faults.list()).toEqual([]);
    });
  }

  for (const [kind, effect] of [
    ["hang", true],
    ["hangBeforeAccept", false],
  ] as const) {
    test(`${kind} answers nobody, ${effect ? "has the effect" : "has no effect"}, and ends with the caller`, async () => {
      await using stage = await setStage();
      stage.sandbox.faults.add({ provider: "slack", kind, times: 1 });
      const caller = new AbortController();
      const hanging = seen(post(stage.sandbox, "first", caller.signal));
      await stage.sandbox.requests.waitFor((request) => request.fault === kind, patience());
      caller.abort();
      expect(await hanging).toBe("cut");
      expect(effects(stage.sandbox)).toEqual(effect ? ["first"] : []);
    });
  }

  test("late has the effect immediately and answers correctly when it is released", async () => {
    await using stage = await setStage();
    stage.sandbox.faults.add({ provider: "slack", kind: "late", times: 1 });
    const late = post(stage.sandbox, "first");
    await stage.sandbox.requests.waitFor((request) => request.fault === "late", patience());
    expect(await seen(post(stage.sandbox, "overtakes"))).toBe("200 well");
    expect(effects(stage.sandbox)).toEqual(["first", "overtakes"]);
    stage.sandbox.faults.release();
    expect(await seen(late)).toBe("200 well");
  });

  test("a caller that hangs does not keep the sandbox from closing", async () => {
    const stage = await setStage();
    stage.sandbox.faults.add({ provider: "slack", kind: "hang" });
    const hanging = seen(post(stage.sandbox, "first"));
    await stage.sandbox.requests.waitFor((request) => request.fault === "hang", patience());
    await stage[Symbol.asyncDispose]();
    expect(await hanging).toBe("cut");
  });

  test("every kind is tried here", () => {
    expect(Object.keys(expected).concat("hang", "hangBeforeAccept", "late").toSorted()).toEqual(
      [...faultKinds].toSorted(),
    );
  });
});

const call = { provider: "slack", method: "chat.postMessage", channel: "C1" } as const;

function draws(seed: number): boolean[] {
  const plan = new FaultPlan();
  plan.add({ provider: "slack", kind: "error500", probability: 0.5, seed });
  return Array.from({ length: 200 }, () => plan.draw(call) !== undefined);
}

describe("the plan of faults", () => {
  test("a rule applies only to the method and the channel that it names", () => {
    const plan = new FaultPlan();
    plan.add({ provider: "slack", kind: "error500", method: "chat.update", channel: "C2" });
    expect(plan.draw(call)).toBeUndefined();
    expect(plan.draw({ ...call, method: "chat.update" })).toBeUndefined();
    expect(plan.draw({ ...call, method: "chat.update", channel: "C2" })?.kind).toBe("error500");
    expect(plan.draw({ provider: "linear", method: "chat.update", channel: "C2" })).toBeUndefined();
  });

  test("chance comes from the seed: the same calls fail again", () => {
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
    const hits = draws(7).filter(Boolean).length;
    expect(hits).toBeGreaterThan(70);
    expect(hits).toBeLessThan(130);
  });

  test("calls pass first when the rule says so", () => {
    const plan = new FaultPlan();
    plan.add({ provider: "slack", kind: "error500", after: 2, times: 1 });
    expect(Array.from({ length: 4 }, () => plan.draw(call)?.kind)).toEqual([
      undefined,
      undefined,
      "error500",
      undefined,
    ]);
  });
});

describe("the control API", () => {
  test("faults are added, listed and removed, and nonsense is refused with the reason", async () => {
    await using stage = await setStage();
    const control = `${stage.sandbox.url}/_control/faults`;
    const add = (body: string): Promise<Response> => fetch(control, { method: "POST", body });
    const added = await add(JSON.stringify({ provider: "slack", kind: "error500", times: 2 }));
    expect(added.status).toBe(201);
    const { fault } = (await added.json()) as { fault: { id: string } };
    for (const nonsense of ["", "[]", "{", '{"provider":"slack"}', '{"provider":"slack","kind":"error500","tims":1}']) {
      const refused = await add(nonsense);
      expect(refused.status).toBe(400);
      expect(refused.headers.get("content-type")).toContain("application/problem+json");
    }
    expect(await (await fetch(control)).json()).toEqual({
      faults: [{ ...fault, provider: "slack", kind: "error500", times: 2, hits: 0 }],
    });
    expect((await fetch(`${control}/${fault.id}`, { method: "DELETE" })).status).toBe(204);
    expect((await fetch(`${control}/${fault.id}`, { method: "DELETE" })).status).toBe(404);
    expect((await fetch(`${control}?provider=nobody`, { method: "DELETE" })).status).toBe(400);
  });

  test("requests can be read back, without the token, and a reset deletes them", async () => {
    await using stage = await setStage();
    await post(stage.sandbox, "first");
    await fetch(`${stage.sandbox.url}/slack/api/auth.test?token=xoxb-in-the-query`);
    const read = async (): Promise<string> => (await fetch(`${stage.sandbox.url}/_control/requests`)).text();
    expect(await read()).toContain("chat.postMessage");
    expect(await read()).not.toContain("xoxb-");
    expect((await fetch(`${stage.sandbox.url}/_control/reset`, { method: "POST" })).status).toBe(204);
    expect(await read()).toBe('{"requests":[]}');
    expect(effects(stage.sandbox)).toEqual([]);
  });
});
