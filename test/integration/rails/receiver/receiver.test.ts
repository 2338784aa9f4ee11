/** The receiver is tested too, since the chaos runs rely on it. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { createSigner } from "../../../../src/rails/webhook/sign.ts";
import { spawnReceiver } from "./receiver-client.ts";
import { createFaultScript } from "./receiver-faults.ts";
import type { FaultPlan } from "./receiver-faults.ts";
import { startReceiver } from "./receiver.ts";
import { newSecret } from "../webhook/webhook-harness.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const secret = newSecret();
const sign = createSigner([secret]);

/** The status, or null when there was none. */
async function post(url: string, id: string, body = `{"id":"${id}"}`, at = new Date()): Promise<number | null> {
  try {
    const response = await fetch(url, { method: "POST", body, headers: { ...sign(id, at, body) } });
    await response.text();
    return response.status;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("the receiver", () => {
  test("counts every request, and one effect for each id", async () => {
    const receiver = await startReceiver({ secrets: [secret], faults: { queue: [{ kind: "drop" }] } });
    closers.push(() => receiver.close());
    expect(await post(receiver.url, "a")).toBeNull();
    expect(await post(receiver.url, "a")).toBe(200);
    expect(await post(receiver.url, "b")).toBe(200);
    expect(receiver.book.requests.map(({ seq, webhookId, effect, fault }) => [seq, webhookId, effect, fault])).toEqual([
      [1, "a", "first", "drop"],
      [2, "a", "repeat", "ok"],
      [3, "b", "first", "ok"],
    ]);
    expect(receiver.book.effects.map(({ webhookId, seq }) => [webhookId, seq])).toEqual([
      ["a", 1],
      ["b", 3],
    ]);
    expect(receiver.book.requests.map(({ atMs }) => atMs)).toEqual(
      receiver.book.requests.map(({ atMs }) => atMs).toSorted((x, y) => x - y),
    );
  });

  test("has no effect for a wrong signature, an old one, or changed bytes", async () => {
    const receiver = await startReceiver({ secrets: [secret] });
    closers.push(() => receiver.close());
    const headers = { ...sign("a", new Date(), "{}") };
    const changed = await fetch(receiver.url, { method: "POST", body: "{ }", headers });
    const unsigned = await fetch(receiver.url, { method: "POST", body: "{}" });
    expect([changed.status, unsigned.status]).toEqual([401, 401]);
    expect(await post(receiver.url, "b", "{}", new Date(Date.now() - 10 * 60_000))).toBe(401);
    expect(receiver.book.stats()).toMatchObject({ requests: 3, effects: 0, invalidSignatures: 3 });
  });

  test("notices a sender that changes the body of an id", async () => {
    const receiver = await startReceiver({ secrets: [secret] });
    closers.push(() => receiver.close());
    await post(receiver.url, "a", '{"amount":1}');
    await post(receiver.url, "a", '{"amount":2}');
    await post(receiver.url, "b");
    expect(receiver.book.stats()).toMatchObject({ effects: 2, repeats: 1, changedBodies: 1 });
  });

  test("has the effects that each fault defines", async () => {
    const receiver = await startReceiver({
      faults: { byId: { a: [{ kind: "status", status: 500, effect: true }], b: [{ kind: "ok", effect: false }] } },
    });
    closers.push(() => receiver.close());
    expect([await post(receiver.url, "a"), await post(receiver.url, "b")]).toEqual([500, 200]);
    expect(receiver.book.effects.map(({ webhookId }) => webhookId)).toEqual(["a"]);
  });

  test("answers late when it is released, or after a while", async () => {
    const receiver = await startReceiver({ faults: { queue: [{ kind: "late" }, { kind: "late", afterMs: 1 }] } });
    closers.push(() => receiver.close());
    const held = post(receiver.url, "a");
    await receiver.received("a");
    expect(await post(receiver.url, "b")).toBe(200);
    expect(receiver.release()).toBe(1);
    expect(await held).toBe(200);
  });
});

describe("chance", () => {
  const plan: FaultPlan = {
    chance: {
      seed: 7,
      maxPerId: 2,
      faults: [
        { fault: { kind: "drop" }, probability: 0.3 },
        { fault: { kind: "hang" }, probability: 0.2 },
      ],
    },
  };
  const ids = Array.from({ length: 1_000 }, (_none, at) => `id-${at}`);
  const draw = (order: readonly string[], seed = 7): Map<string, string[]> => {
    const script = createFaultScript({ ...plan, chance: { ...plan.chance, seed, faults: plan.chance?.faults ?? [] } });
    const drawn = new Map<string, string[]>(ids.map((id) => [id, []]));
    for (let round = 0; round < 3; round += 1) {
      for (const id of order) drawn.get(id)?.push(script.next(id).kind);
    }
    return drawn;
  };

  test("depends on the seed and the id, and not on the order of arrival", () => {
    expect(draw(ids.toReversed())).toEqual(draw(ids));
    expect(draw(ids, 8)).not.toEqual(draw(ids));
  });

  test("has about the requested probabilities", () => {
    const first = [...draw(ids).values()].map(([kind]) => kind);
    const share = (kind: string): number => first.filter((each) => each === kind).length / first.length;
    expect(share("drop")).toBeCloseTo(0.3, 1);
    expect(share("hang")).toBeCloseTo(0.2, 1);
    expect(share("ok")).toBeCloseTo(0.5, 1);
  });

  test("leaves an id alone after its share of faults", () => {
    const always: FaultPlan = {
      chance: { seed: 1, maxPerId: 2, faults: [{ fault: { kind: "drop" }, probability: 1 }] },
    };
    const script = createFaultScript(always);
    expect(Array.from({ length: 4 }, () => script.next("a").kind)).toEqual(["drop", "drop", "ok", "ok"]);
  });
});

describe("the receiver in a separate process", () => {
  test("takes commands and reports what it saw", async () => {
    const receiver = await spawnReceiver({ secrets: [secret] });
    closers.push(() => receiver.stop());
    await receiver.setFaults({ queue: [{ kind: "status", status: 500 }] });
    const id = randomUUID();
    expect([await post(receiver.url, id), await post(receiver.url, id)]).toEqual([500, 200]);
    await receiver.pushFaults({ kind: "close" });
    expect(await post(receiver.url, "b")).toBeNull();
    const { requests, effects } = await receiver.record();
    expect(requests.map(({ webhookId, fault, signature }) => [webhookId, fault, signature])).toEqual([
      [id, "status", "valid"],
      [id, "ok", "valid"],
      ["b", "close", "unchecked"],
    ]);
    expect(effects).toMatchObject([{ webhookId: id, seq: 2, body: `{"id":"${id}"}` }]);
    expect((await receiver.record(3)).requests).toHaveLength(1);
    expect(await receiver.waitUntil(({ requests: seen }) => seen === 3)).toMatchObject({ effects: 1 });
  });

  test("can refuse connections and come back on the same port", async () => {
    const receiver = await spawnReceiver({ secrets: [secret] });
    closers.push(() => receiver.stop());
    await receiver.refuse();
    expect(await post(receiver.url, "a")).toBeNull();
    await receiver.listen();
    expect(await post(receiver.url, "a")).toBe(200);
    await receiver.clear();
    expect(await receiver.stats()).toMatchObject({ requests: 0, effects: 0 });
  });

  test("answers nonsense on its control port with an error, and keeps running", async () => {
    const receiver = await spawnReceiver();
    closers.push(() => receiver.stop());
    const statuses = [];
    for (const [path, body] of [
      ["/faults", "{"],
      ["/queue", '[{"kind":"explode"}]'],
      ["/nowhere", "{}"],
    ] as const) {
      statuses.push((await fetch(`${receiver.controlUrl}${path}`, { method: "POST", body })).status);
    }
    expect(statuses).toEqual([400, 400, 404]);
    expect(await post(receiver.url, "a")).toBe(200);
  });

  test("ends when the process that started it is killed", async () => {
    const client = new URL("receiver-client.ts", import.meta.url).href;
    const program = `const { spawnReceiver } = await import(${JSON.stringify(client)});
      console.log((await spawnReceiver()).pid);
      setInterval(() => {}, 1_000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [pid] = await once(createInterface({ input: parent.stdout }), "line");
    parent.kill("SIGKILL");
    await expect.poll(() => isAlive(Number(pid)), { timeout: 10_000 }).toBe(false);
  });

  test("ends after it was stopped", async () => {
    const receiver = await spawnReceiver({ faults: { default: { kind: "hang" } } });
    const hanging = post(receiver.url, "a");
    await receiver.waitUntil(({ requests }) => requests === 1);
    await receiver.stop();
    expect(await hanging).toBeNull();
    expect(isAlive(receiver.pid)).toBe(false);
  });
});
