/**
 * Why capacity is needed: what is accepted, where it is stored, and who reads it. Erasure: ../erase/erasure.test.ts. Rendering:
 * ../story/rendering.test.ts. That the customer's page does not show it: ../../http/confirm.test.ts.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { memberSession, overHttp } from "../gateway.ts";
import { oneOf, refusalOf, rowsOf, startWorkflow, type RequestInput } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("the justification of a request on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { superuser } = workflow;
  const preview = async (justification: string): Promise<string | null> =>
    (
      await oneOf<{ text: string | null }>(
        superuser,
        `select public.preview_capacity_request('rita', 'cora', 'infra', '32XL', 1, 'us-east-1', p_workspace_id => 'acme',
                                                p_justification => $1) ->> 'justification' as text`,
        [justification],
      )
    ).text;

  test.each([
    [" We launch in March.\r\n\r\n\tTwice.  \n", "We launch in March.\n\n\tTwice."],
    ["x".repeat(2000), "x".repeat(2000)],
    [`  ${"🚀".repeat(2000)}\n`, "🚀".repeat(2000)],
    ["", null],
    [" \r\n\t ", null],
  ])("%j is kept without surrounding whitespace", async (given, kept) => {
    expect(await workflow.create({ justification: given })).toMatchObject({ justification: kept });
    expect(await preview(given)).toBe(kept);
  });

  test.each(["x".repeat(2001), "a bell: \u0007", "an escape: \u001b[31m", "a return alone\rhere"])(
    "%j is refused by the field's name, and nothing is written",
    async (given) => {
      const before = await workflow.size();
      for (const ask of [() => workflow.create({ justification: given }), () => preview(given)]) {
        expect(await refusalOf(ask())).toMatchObject({
          code: "PT400",
          message: "The justification of the request is not acceptable.",
          detail: expect.stringContaining("justification: up to 2000 characters") as string,
        });
      }
      expect(await workflow.size()).toEqual(before);
    },
  );

  test.each<[string, RequestInput]>([
    ["with a customer", {}],
    ["without a customer", { customer: null }],
  ])(
    "is stored apart from the log, %s, which has only a salted hash of it, and verification compares the two",
    async (_, input) => {
      const { id } = await workflow.create({ ...input, justification: "the zugzwang launch" });
      const { id: other } = await workflow.create({ ...input, justification: "the zugzwang launch" });
      const logOf = (which: string) =>
        oneOf<{ log: string; hash: string }>(
          superuser,
          "select string_agg(e::text, '') as log, min(payload ->> 'customer_hash') as hash from capacity.events e where request_id = $1",
          [which],
        );
      const [one, two] = [await logOf(id), await logOf(other)];
      expect(one.log).not.toContain("zugzwang");
      expect(one.hash).toMatch(/^[0-9a-f]{64}$/);
      expect(two.hash).not.toBe(one.hash);
      await workflow.expectWhole([id, other]);
      const findings = "select code from capacity.verify_fold($1, $2, null) where subject = $2";
      expect(await rowsOf(superuser, findings, ["", id])).toEqual([]);
      await superuser.query("update capacity.personal_data set justification = 'another' where request_id = $1", [id]);
      expect(await rowsOf(superuser, findings, ["", id])).toEqual([{ code: "customer_differs" }]);
      await superuser.query(
        "update capacity.personal_data set justification = 'the zugzwang launch' where request_id = $1",
        [id],
      );
    },
  );

  test("is read by readers of the request, and by nobody else", async () => {
    const { id } = await workflow.create({ justification: "the zugzwang launch" });
    const read = (member: string, workspace?: string) =>
      overHttp(workflow.db, memberSession(member, workspace), (client) =>
        rowsOf(client, "select justification from public.capacity_requests where id = $1", [id]),
      );
    for (const member of ["rita", "cora", "tess", "ada"]) {
      expect(await read(member)).toEqual([{ justification: "the zugzwang launch" }]);
    }
    expect(await read("carl")).toEqual([]);
    expect(await read("glen", "globex")).toEqual([]);
  });
});
