import { describe, expect, it } from "vitest";
import { InProgress } from "./in-progress.ts";

const options = { maxOfNamed: 2, maxOfNetwork: 3, maxWaiting: 1 };

describe("requests in progress", () => {
  it("wait for each other, and not for those of other callers", async () => {
    const inProgress = new InProgress(options);
    const leave = await inProgress.enter("a", true);
    await inProgress.enter("a", true);
    let entered = false;
    const third = inProgress.enter("a", true).then(() => (entered = true));
    await inProgress.enter("b", true);
    expect(entered).toBe(false);
    leave();
    await third;
  });

  it("leave once, however often leaving is called", async () => {
    const inProgress = new InProgress({ ...options, maxWaiting: 0 });
    const leave = await inProgress.enter("a", true);
    await inProgress.enter("a", true);
    leave();
    leave();
    await inProgress.enter("a", true);
    await expect(inProgress.enter("a", true)).rejects.toMatchObject({ code: "rate_limited" });
  });

  it("have a larger limit for anonymous callers, and are refused when too many wait", async () => {
    const inProgress = new InProgress(options);
    for (let count = 0; count < 3; count += 1) await inProgress.enter("network", false);
    void inProgress.enter("network", false);
    await expect(inProgress.enter("network", false)).rejects.toMatchObject({ code: "rate_limited" });
  });
});
