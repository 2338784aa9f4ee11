/** Tests of what all subjects of chaos share. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { pause } from "../../../src/db/wait/pause.ts";
import { childrenOf } from "./crashable-postgres.ts";
import { patched } from "./patch.ts";
import { Random } from "./random.ts";
import { splitParts } from "./tiers.ts";

const boundMs = 120_000;

describe("the kit of chaos", () => {
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

  it("the tiers together run everything, and each part once", () => {
    const parts = [1, 2, 3, 4, 5, 6, 7].map((number) => ({ name: `part ${number}` }));
    for (const few of [0, 1, 3, 7]) {
      for (const start of [0, 4, 6]) {
        const { first, second } = splitParts(parts, few, start);
        expect(first).toHaveLength(few);
        expect([...first, ...second].toSorted((a, b) => a.name.localeCompare(b.name))).toEqual(parts);
      }
    }
  });

  it("an interrupted run leaves no process behind", { timeout: boundMs }, async () => {
    const program = fileURLToPath(new URL("../run.ts", import.meta.url));
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
