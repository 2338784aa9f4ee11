import { createHmac } from "node:crypto";
import { LinearClient, LinearErrorType, RatelimitedLinearError } from "@linear/sdk";
import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { describe, expect, test } from "vitest";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import { secrets, setStage } from "./harness.ts";

const teamId = defaultSampleData.linearTeam.id;
const issueId = "2c9d4f8e-0b1a-4c3d-8e5f-6a7b8c9d0e1f";
const patience = (): AbortSignal => AbortSignal.timeout(10_000);

function client(url: string): LinearClient {
  return new LinearClient({ apiKey: "lin_api_sandbox", apiUrl: `${url}/linear/graphql` });
}

function ask(url: string, query: string, variables: unknown = {}, key = "lin_api_sandbox"): Promise<Response> {
  return fetch(`${url}/linear/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: key },
    body: JSON.stringify({ query, variables }),
  });
}

describe("the Linear stand-in, through Linear's own SDK", () => {
  test("an issue is created under the caller's id, moved, commented on and read back", async () => {
    await using stage = await setStage();
    const linear = client(stage.sandbox.url);
    const created = await linear.createIssue({
      id: issueId,
      teamId,
      title: "CR-2026-000001: 4 × 32XL",
      description: "a",
    });
    expect(created.success).toBe(true);
    const states = await linear.workflowStates({ filter: { team: { id: { eq: teamId } } } });
    const done = states.nodes.find(({ type }) => type === "completed");
    await linear.updateIssue(issueId, { stateId: done?.id ?? "", description: "b" });
    await linear.createComment({ issueId, body: "Approved by Casey." });

    const issue = await linear.issue(issueId);
    expect(issue).toMatchObject({
      id: issueId,
      identifier: "CAP-1",
      title: "CR-2026-000001: 4 × 32XL",
      description: "b",
    });
    expect((await issue.state)?.name).toBe("Done");
    expect((await issue.comments()).nodes.map(({ body }) => body)).toEqual(["Approved by Casey."]);
    expect((await issue.team)?.key).toBe("CAP");
    expect((await linear.viewer).name).toBe("Headroom");
    const team = await linear.team(teamId);
    expect((await team.states()).nodes).toHaveLength(6);
  });

  test("a second issue or comment with the same id is refused, and the first can be read", async () => {
    await using stage = await setStage();
    const linear = client(stage.sandbox.url);
    const id = "6f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9";
    await linear.createIssue({ id: issueId, teamId, title: "first" });
    await expect(linear.createIssue({ id: issueId, teamId, title: "second" })).rejects.toMatchObject({
      type: LinearErrorType.InvalidInput,
      status: 200,
    });
    await linear.createComment({ id, issueId, body: "one" });
    await expect(linear.createComment({ id, issueId, body: "two" })).rejects.toMatchObject({ status: 200 });
    expect((await linear.issue(issueId)).title).toBe("first");
    expect((await linear.comment({ id })).body).toBe("one");
  });

  test("an attachment with the same URL replaces the previous one", async () => {
    await using stage = await setStage();
    const linear = client(stage.sandbox.url);
    await linear.createIssue({ id: issueId, teamId, title: "x" });
    await linear.createAttachment({ issueId, title: "one", url: "https://headroom.example/1" });
    await linear.createAttachment({ issueId, title: "two", url: "https://headroom.example/1" });
    const issue = await linear.issue(issueId);
    expect((await issue.attachments()).nodes.map(({ title }) => title)).toEqual(["two"]);
  });

  test("missing things, unknown fields and invalid keys are refused as Linear refuses them", async () => {
    await using stage = await setStage();
    const { url } = stage.sandbox;
    const linear = client(url);
    await expect(linear.issue("nothing")).rejects.toMatchObject({ type: LinearErrorType.InvalidInput });
    await expect(linear.createIssue({ teamId: "nothing", title: "x" })).rejects.toMatchObject({ status: 200 });
    await expect(linear.createIssue({ id: "no-uuid", teamId, title: "x" })).rejects.toMatchObject({ status: 200 });
    await expect(linear.createIssue({ teamId, title: "x", stateId: "no" })).rejects.toMatchObject({ status: 200 });
    const answers: [Promise<Response>, number, string][] = [
      [ask(url, "{ viewer { name } }", {}, ""), 401, "AUTHENTICATION_ERROR"],
      [ask(url, "{ viewer { nome } }"), 400, "GRAPHQL_VALIDATION_FAILED"],
      [ask(url, "{ nobody { name } }"), 400, "GRAPHQL_VALIDATION_FAILED"],
      [ask(url, "{ viewer }"), 400, "GRAPHQL_VALIDATION_FAILED"],
      [ask(url, "{ viewer { name"), 400, "GRAPHQL_PARSE_FAILED"],
      [ask(url, "{ a ".repeat(700)), 400, "GRAPHQL_PARSE_FAILED"],
      [ask(url, `{ issue(id: ${"[".repeat(200_000)}`), 400, "GRAPHQL_PARSE_FAILED"],
      [ask(url, `${"{ viewer ".repeat(40)}{ name }${" }".repeat(40)}`), 400, "Query is too complex."],
      [ask(url, "{ viewer { ...a } } fragment a on User { ...a }"), 400, "GRAPHQL_VALIDATION_FAILED"],
      [ask(url, "query A { viewer { name } } query B { viewer { name } }"), 400, "GRAPHQL_VALIDATION_FAILED"],
      [
        ask(url, "mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { success } }", {
          input: { teamId, title: "x", tilte: "y" },
        }),
        400,
        'Field \\"tilte\\" is not defined by type \\"IssueCreateInput\\"',
      ],
      [
        ask(url, `mutation { issueCreate(input: { teamId: "${teamId}", title: "x", tilte: "y" }) { success } }`),
        400,
        "GRAPHQL_VALIDATION_FAILED",
      ],
    ];
    for (const [call, status, code] of answers) {
      const response = await call;
      expect(response.status).toBe(status);
      expect(await response.text()).toContain(code);
    }
    expect(stage.sandbox.linear.issues()).toEqual([]);
  });

  test("aliases, inline fragments, literals and defaults are understood", async () => {
    await using stage = await setStage();
    const { url } = stage.sandbox;
    const made = await ask(
      url,
      `mutation ($input: IssueCreateInput = { teamId: "${teamId}", title: "a \\"b\\" \\u00e9", priority: 2 }) {
         mine: issueCreate(input: $input) { success issue { ... on Issue { key: identifier priority title } } } } # end`,
    );
    expect(await made.json()).toEqual({
      data: { mine: { success: true, issue: { key: "CAP-1", priority: 2, title: 'a "b" é' } } },
    });
  });

  test("a planned rate limit is HTTP 400 with RATELIMITED and the time of the reset", async () => {
    await using stage = await setStage();
    stage.sandbox.faults.add({
      provider: "linear",
      kind: "rateLimit",
      method: "issueCreate",
      times: 1,
      retryAfterSeconds: 9,
    });
    const error: unknown = await client(stage.sandbox.url)
      .createIssue({ teamId, title: "x" })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RatelimitedLinearError);
    expect(error).toMatchObject({ status: 400, retryAfter: 9, requestsRemaining: 0 });
  });
});

describe("what people do in Linear", () => {
  test("a comment and a move arrive signed, and Linear's own verifier accepts them", async () => {
    await using stage = await setStage();
    await client(stage.sandbox.url).createIssue({ id: issueId, teamId, title: "x" });
    await stage.ear.heardAtLeast(1, patience());
    await stage.sandbox.linear.comment({ person: "ines", issue: "CAP-1", body: "Räck 12 ✅" });
    await stage.sandbox.linear.move({ person: "ines", issue: "CAP-1", state: "Done" });
    expect(stage.ear.heard.map(({ path }) => path)).toEqual(Array(3).fill("/webhooks/linear"));
    const verifier = new LinearWebhookClient(secrets.linearWebhookSecret);
    for (const { body, headers } of stage.ear.heard) {
      const expected = createHmac("sha256", secrets.linearWebhookSecret).update(body).digest("hex");
      expect(headers["linear-signature"]).toBe(expected);
      expect(verifier.verify(Buffer.from(body), expected, headers["linear-timestamp"] as string)).toBe(true);
      expect(headers["linear-delivery"]).toMatch(/^[0-9a-f-]{36}$/);
    }
    const [echo, comment, move] = stage.ear.heard.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(echo).toMatchObject({ type: "Issue", action: "create", actor: { name: "Headroom" } });
    expect(comment).toMatchObject({
      type: "Comment",
      actor: { name: "Ines Ortiz" },
      data: { body: "Räck 12 ✅", issueId },
    });
    expect(move).toMatchObject({ type: "Issue", action: "update", data: { state: { name: "Done" } }, updatedFrom: {} });
  });
});
