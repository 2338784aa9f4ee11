import { expect, test } from "vitest";
import { LimitedLog } from "../observe/limited-log.ts";
import { RelayMetrics } from "../observe/metrics.ts";
import { defaults } from "../relay/options.ts";
import { engineTasks } from "./engine-tasks.ts";

test("a reap has time to wait for two seconds for each of a hundred claims that somebody has locked", () => {
  const tasks = engineTasks({
    settings: defaults,
    metrics: new RelayMetrics(),
    limitedLog: new LimitedLog(() => undefined),
    onStep: undefined,
  });
  expect(tasks.find(({ name }) => name === "reap")?.timeoutMs).toBeGreaterThan(100 * 2_000);
});
