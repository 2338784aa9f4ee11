import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { terms } from "./callback-receiver.ts";
import { begin } from "./workflow-stage.ts";

describe("what is sent and written", () => {
  test.each([
    ["many characters", "x".repeat(10_000), "x".repeat(4_000)],
    ["characters of four bytes", "🛠".repeat(5_000), "🛠".repeat(2_000)],
    ["what JSON doubles", '"\\'.repeat(5_000), expect.stringMatching(/^(?:"\\){1900,2000}$/)],
    ["control characters", "a\u0000b\u0007\u007fc\td\r\ne", "a b c d | e"],
    ["half a character", "a\ud83d", "a\ufffd"],
  ])("an error of %s is cut and cleaned", async (_what, given, expected) => {
    const { receiver, run, folder } = await begin();
    await run(["start"]);
    // The environment cannot contain zero bytes or invalid Unicode, so a command's output does not use it.
    const file = join(folder, "words");
    await writeFile(file, JSON.stringify(given));
    const print = "process.stderr.write(JSON.parse(fs.readFileSync(process.argv[1], 'utf8'))); process.exitCode = 1";
    await run(["exec", "--", process.execPath, "-e", print, file]);
    await run(["finish"], { HEADROOM_RESULT: "failure" });
    expect(receiver.heard.at(-1)?.error).toEqual(expected);
    expect(receiver.refused).toEqual([]);
  });

  test("an error that a step sets itself is cut to the size of a body", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    await run(["finish"], { HEADROOM_RESULT: "failure", HEADROOM_ERROR: "🛠".repeat(5_000) });
    expect(receiver.heard.at(-1)?.error).toMatch(/^(?:🛠){2900,3000}$/u);
    expect(receiver.refused).toEqual([]);
  });

  test("a step's name is cut and cleaned, and so is the one that failed", async () => {
    const { receiver, run } = await begin();
    await run(["start"]);
    await run(["step", `<b>\u0007${"s".repeat(300)}`]);
    await run(["finish"], { HEADROOM_RESULT: "failure" });
    const name = `<b> ${"s".repeat(196)}`;
    expect(receiver.heard.slice(1)).toMatchObject([{ step: name }, { failed_step: name }]);
  });

  test("terms cannot set any other variable", async () => {
    const { receiver, run, written, folder } = await begin();
    receiver.job = { ...terms, size: "XL\nPATH<<x\n/evil\nx", region: "::add-path::/evil" };
    const { said } = await run(["start"]);
    expect(await written("env")).toMatchObject({
      HEADROOM_SIZE: "XL | PATH<<x | /evil | x",
      HEADROOM_REGION: "::add-path::/evil",
    });
    expect((await readFile(join(folder, "env"), "utf8")).split("\n").filter((line) => line.startsWith("PATH"))).toEqual(
      [],
    );
    expect(said.split("\n").filter((line) => line.startsWith("::"))).toEqual([]);
  });

  test("the secret is in no file and on no command line", async () => {
    const { receiver, run, folder, heartbeatsPid } = await begin();
    await run(["start"]);
    const pid = await heartbeatsPid();
    expect(await readFile(`/proc/${pid}/cmdline`, "utf8")).not.toContain(receiver.secret);
    for (const file of ["env", "output", "headroom/claim", "headroom/heartbeats", "headroom/heartbeats.log"])
      expect(await readFile(join(folder, file), "utf8")).not.toContain(receiver.secret);
    await run(["finish"], { HEADROOM_RESULT: "cancelled" });
  });
});

describe("the input", () => {
  test.each([
    ["HEADROOM_CALLBACK_SECRET", "", "HEADROOM_CALLBACK_SECRET is not set."],
    ["HEADROOM_JOB_ID", "", "HEADROOM_JOB_ID is not set."],
    ["HEADROOM_ATTEMPT", "0; rm -rf /", "HEADROOM_ATTEMPT is not a number from 1."],
    ["HEADROOM_TASK", "destroy", "HEADROOM_TASK is provision or cleanup."],
    ["HEADROOM_CALLBACK_URL", "nowhere", "HEADROOM_CALLBACK_URL is not an address."],
    [
      "HEADROOM_CALLBACK_URL",
      "http://headroom.example/webhooks/provisioning",
      "HEADROOM_CALLBACK_URL must begin with https://",
    ],
    ["HEADROOM_CALLBACK_URL", "http://127.0.0.1.evil.example/", "HEADROOM_CALLBACK_URL must begin with https://"],
    ["HEADROOM_CALLBACK_URL", "file:///etc/passwd", "HEADROOM_CALLBACK_URL must begin with https://"],
    ["HEADROOM_CALLBACK_URL", "https://user:word@headroom.example/", "HEADROOM_CALLBACK_URL must hold no password."],
    ["GITHUB_RUN_ID", "x", "GITHUB_RUN_ID is not a number from 1."],
    ["RUNNER_TEMP", "", "RUNNER_TEMP is not set."],
  ])("%s = %j is refused, and nothing is sent", async (name, value, words) => {
    const { receiver, run } = await begin();
    const { code, said } = await run(["start"], { [name]: value });
    expect(code).toBe(2);
    expect(said).toContain(`headroom: ${words}`);
    expect(receiver.heard).toEqual([]);
  });

  test.each([[["dance"]], [[]], [["step"]], [["step", "Create", "101"]], [["step", "Create", "-1"]], [["exec", "ls"]]])(
    "the words %j are explained",
    async (words) => {
      const { run } = await begin();
      expect((await run(words)).code).toBe(2);
    },
  );

  test("a step before the start is refused, and a finish without one has nothing to report", async () => {
    const { receiver, run } = await begin();
    expect(await run(["step", "Create"])).toEqual({ code: 2, said: "headroom: start has to come first.\n" });
    expect(await run(["exec", "--", "true"])).toEqual({ code: 2, said: "headroom: start has to come first.\n" });
    expect(await run(["finish"], { HEADROOM_RESULT: "failure" })).toEqual({
      code: 0,
      said: "headroom: this run has no job, so there is nothing to report\n",
    });
    expect(receiver.heard).toEqual([]);
  });
});
