/** `headroom completion`: the scripts know every command and option, and bash completes with its script. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { headroom } from "./harness.ts";

const scripts = new Map<string, string>();
for (const shell of ["bash", "zsh", "fish"]) {
  const outcome = await headroom(["completion", shell]);
  if (outcome.status !== 0) throw new Error(outcome.err);
  scripts.set(shell, outcome.out);
}

const folder = await mkdtemp(join(tmpdir(), "headroom-completion-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const bashScript = join(folder, "headroom.bash");
await writeFile(bashScript, scripts.get("bash") ?? "");

test.each(["bash", "zsh", "fish"])("the script of %s has every command and option", (shell) => {
  const script = scripts.get(shell) ?? "";
  for (const word of [
    "outbox",
    "redrive",
    "inspect",
    "resolve",
    "relay",
    "doctor",
    "migrate",
    "jobs",
    "connect",
    "completion",
  ]) {
    expect(script).toMatch(new RegExp(String.raw`\b${word}\b`));
  }
  for (const option of ["out-of-order", "metrics-port", "ephemeral", "no-parked", "dry-run", "retry-sla-hours"]) {
    expect(script).toContain(option);
  }
});

test("another shell is refused", async () => {
  expect(await headroom(["completion", "tcsh"])).toMatchObject({ status: 2, out: "" });
});

/** What bash would offer after these words. */
async function complete(...words: string[]): Promise<string[]> {
  const program = `source "$1"
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_headroom; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = spawn("/bin/bash", ["--norc", "-c", program, "bash", bashScript], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [out] = await Promise.all([text(child.stdout), once(child, "close")]);
  return out.split("\n").filter((word) => word !== "");
}

/** Skipped only where there is no bash to try it with. */
describe.runIf(existsSync("/bin/bash"))("in bash", () => {
  test("commands, their commands, their options, and choices", async () => {
    expect(await complete("headroom", "")).toContain("outbox");
    expect(await complete("headroom", "mi")).toEqual(["migrate"]);
    expect(await complete("headroom", "outbox", "re")).toEqual(["redrive", "retry-now", "resolve"]);
    expect(await complete("headroom", "outbox", "redrive", "--out")).toEqual(["--out-of-order"]);
    expect(await complete("headroom", "relay", "--name", "x", "--metrics-")).toEqual([
      "--metrics-port",
      "--metrics-host",
    ]);
    expect(await complete("headroom", "jobs", "co")).toEqual(["complete", "connect"]);
    expect(await complete("headroom", "completion", "")).toEqual(["bash", "zsh", "fish", "--help"]);
    expect(await complete("headroom", "outbox", "dead", "--stream", "")).toEqual([]);
  });
});
