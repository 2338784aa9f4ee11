/**
 * The short form of `npm run chaos`, and tests of the suite itself. Flags select long runs and all planted bugs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { pause } from "../../src/db/wait/pause.ts";
import { childrenOf } from "./kit/crashable-postgres.ts";
import { planted } from "./engine/planted.ts";
import { patched } from "./kit/patch.ts";
import { testPlanted } from "./kit/planted-tests.ts";
import { Random } from "./kit/random.ts";
import { renderFindings } from "./kit/report.ts";
import { runEngine } from "./engine/run.ts";
import { ordinarySettings } from "./engine/settings.ts";

const boundMs = 120_000;
const never = new AbortController().signal;

describe("chaos", () => {
  it("a short run in which everything fails breaks no invariant", { timeout: boundMs }, async () => {
    const result = await runEngine(ordinarySettings({ seed: 7, minutes: 0.2, relays: 3 }), { signal: never });
    expect(renderFindings(result.findings)).toBe("All invariants hold.");
    expect(result.sections["rows"]).toHaveProperty("lost", 0);
    expect(result.sections["requests at the receiver"]).toHaveProperty("not matched", 0);
    expect(result.sections["faults"]).toHaveProperty("kill -9 of Postgres");
  });

  testPlanted(planted, 7);

  it("a patch that does not fit exactly once is refused", () => {
    const patch = { file: "some.sql", find: "once", replace: "never" };
    expect(patched("just once", patch)).toBe("just never");
    expect(() => patched("once and once again", patch)).toThrow("2 times instead of once");
    expect(() => patched("not at all", patch)).toThrow("0 times instead of once");
  });

  it("the same seed draws the same choices", () => {
    const [one, other] = [new Random(7), new Random(7)];
    expect(draw(one)).toEqual(draw(other));
    expect(draw(one.fork())).toEqual(draw(other.fork()));
    expect(draw(new Random(8))).not.toEqual(draw(new Random(7)));
  });

  it("an interrupted run leaves no process behind", { timeout: boundMs }, async () => {
    const program = fileURLToPath(new URL("run.ts", import.meta.url));
    const run = spawn(process.execPath, [program, "--minutes", "2"], { stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(run, "exit");
    for await (const line of createInterface({ input: run.stderr })) if (line === "the stage is up") break;
    const started = await descendantsOf(run.pid ?? 0);
    expect(started.length).toBeGreaterThan(5);
    run.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    await expect(untilGone(started)).resolves.toEqual([]);
  });
});

const draw = (random: Random): number[] => Array.from({ length: 20 }, () => random.between(1, 1_000));

async function descendantsOf(pid: number): Promise<number[]> {
  const children = await childrenOf(pid);
  const further = await Promise.all(children.map(descendantsOf));
  return [...children, ...further.flat()];
}

/** The processes that are still running after a while. */
async function untilGone(pids: readonly number[]): Promise<number[]> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const left = pids.filter(isAlive);
    if (left.length === 0 || performance.now() > deadline) return left;
    await pause(50);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
