import { afterEach, beforeEach, expect, test } from "vitest";
import { LinearClient } from "@linear/sdk";
import { createLinearRail } from "../../../../src/rails/linear/rail.ts";
import type { LinearRail } from "../../../../src/rails/linear/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import type { FaultKind } from "../../../../src/sandbox/core/faults.ts";
import { startFaultStage } from "../fault-stage.ts";
import { linearKey } from "../provider-plans.ts";

const stage = await startFaultStage();
const { surfaces } = stage;
let rail: LinearRail | undefined;

beforeEach(() => surfaces.settings({ linear_team_id: defaultSampleData.linearTeam.id }));
afterEach(() => rail?.close());

const kinds: readonly FaultKind[] = [
  "rateLimit",
  "error500",
  "error500AfterAccept",
  "hangBeforeAccept",
  "hang",
  "dropBeforeAccept",
  "dropAfterAccept",
  "cutAnswer",
  "garbage",
  "late",
];

test.each(kinds)(
  "Linear fails (%s), and a request has one issue, in its state, with one comment for each step",
  async (kind) => {
    const { faults, linear, url } = stage.sandbox();
    for (const method of ["issueCreate", "commentCreate", "issueUpdate", "team"]) {
      faults.add({ provider: "linear", method, kind, times: 1, retryAfterSeconds: 0 });
    }
    rail = createLinearRail({ apiKey: linearKey, apiUrl: `${url}/linear/graphql`, timeoutMs: 700 });
    await stage.run(rail);
    const { id } = await surfaces.create();
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
    await surfaces.untilFinished(id);

    const ours = linear.issues().filter(({ title }) => title.startsWith(`${id}:`));
    expect(ours).toHaveLength(1);
    const [issue] = ours;
    if (issue === undefined) return;
    expect(linear.stateOf(issue)?.type).toBe("started");
    expect(linear.comments(issue.id)).toHaveLength(2);
    const lines = await stage.lines(id, "linear");
    expect(lines.filter(({ state }) => state === "FAILED")).toEqual([]);
    expect(lines.some(({ state }) => state === "RETRYABLE")).toBe(true);

    // This is what Linear's own client reads.
    const client = new LinearClient({ apiKey: linearKey, apiUrl: `${url}/linear/graphql` });
    const read = await client.issue(issue.id);
    expect(read.title).toBe(issue.title);
    const comments = await read.comments();
    expect(comments.nodes.map((comment) => comment.body).toSorted()).toEqual(
      linear
        .comments(issue.id)
        .map((comment) => comment.body)
        .toSorted(),
    );
  },
);
