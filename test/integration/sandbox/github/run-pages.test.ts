import { expect, test } from "vitest";
import { startBrowser } from "../../../helpers/browser.ts";
import { saidAddress, setRunStage } from "./run-stage.ts";

const browser = startBrowser();
const patience = { timeout: 15_000 } as const;

test("the next run's outcome is chosen by keyboard; it appears, fails, says why, and is run again", async () => {
  await using stage = await setRunStage();
  const page = await browser.current.newPage();
  await page.goto(`${stage.sandbox.url}/github`);
  await page.getByText("No run yet").waitFor();
  await page.getByLabel("Outcome").focus();
  // The next outcome, the step before, and on to the button.
  for (const key of ["ArrowDown", "Tab", "ArrowUp", "Tab", "Tab", "Tab", "Tab", "Enter"])
    await page.keyboard.press(key);
  await expect.poll(() => stage.sandbox.github.nextPlan(), patience).toMatchObject({ outcome: "fails", step: 1 });

  const run = await stage.sandbox.github.ended(await stage.dispatch());
  const article = page.getByRole("article", { name: run.title });
  await article.getByText("failure").waitFor();
  await article.getByRole("listitem").filter({ hasText: "Reserve the capacity" }).getByText("failed").waitFor();
  await article.getByRole("link", { name: run.title }).click();
  await page.getByText("Error: insufficient capacity in us-east-1 (on purpose)").waitFor();
  expect(await page.getByText(saidAddress).count()).toBe(1);
  expect(await page.content()).not.toContain(stage.receiver.secret);
  await page.getByRole("button", { name: "Re-run" }).click();
  await page.getByText("attempt 2").waitFor();
  await page.close();
});

test("a run that hangs is made slow to stop and cancelled on its own page, then forced", async () => {
  await using stage = await setRunStage({ speed: "slow", outcome: "hangs", step: 1 });
  const id = await stage.dispatch();
  await stage.receiver.heardAtLeast(1, "heartbeat");
  const page = await browser.current.newPage({ viewport: { width: 360, height: 740 } });
  await page.goto(`${stage.sandbox.url}/github?run=${id}`);
  await page.getByText("This step hangs on purpose.").waitFor();
  const excess = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
  expect(excess).toBe(0);
  await page.getByLabel("It is slow to stop").check();
  await page.getByRole("button", { name: "Use it for this run" }).click();
  await expect.poll(() => stage.sandbox.github.run(id).script?.plan.slowToStop, patience).toBe(true);
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("button", { name: "Force cancel" }).click();
  await page.getByText("cancelled", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Re-run" }).waitFor();
  await page.close();
});

test("nonsensical forms are explained", async () => {
  await using stage = await setRunStage();
  const post = (path: string, fields: Record<string, string>): Promise<Response> =>
    fetch(`${stage.sandbox.url}${path}`, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
  const whole = { speed: "quick", outcome: "fails", step: "2", loses: "nothing" };
  expect((await post("/github/act/plan", { ...whole, outcome: "explodes" })).status).toBe(400);
  expect((await post("/github/act/plan", { ...whole, run: "1" })).status).toBe(404);
  expect((await post("/github/act/run", { run: "1", what: "cancel" })).status).toBe(404);
  expect((await fetch(`${stage.sandbox.url}/github?run=x`)).status).toBe(404);
  expect((await post("/github/act/plan", { ...whole, slowToStop: "on" })).status).toBe(303);
  expect(stage.sandbox.github.nextPlan()).toEqual({ ...whole, affects: "both", step: 2, slowToStop: true });
});
