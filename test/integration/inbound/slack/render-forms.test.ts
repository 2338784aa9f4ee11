/** The complete forms as Slack gets them. That no input can break them is tested in fuzz.test.ts. */
import { describe, expect, test } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { oneOf } from "../../capacity/harness.ts";

const plain = (text: string) => ({ type: "plain_text", text });
const modal = (form: string, title: string, submit: string, close: string, metadata: object, blocks: object[]) => ({
  type: "modal",
  callback_id: form,
  title: plain(title),
  submit: plain(submit),
  close: plain(close),
  private_metadata: metadata,
  blocks,
});
const input = (name: string, label: string, optional: boolean, element: object, hint?: string) => ({
  type: "input",
  block_id: name,
  optional,
  label: plain(label),
  element: { action_id: "value", ...element },
  ...(hint === undefined ? {} : { hint: plain(hint) }),
});
const area = (max_length: number) => ({ type: "plain_text_input", multiline: true, max_length });
const number = (more: object) => ({ type: "number_input", is_decimal_allowed: false, min_value: "1", ...more });
const text = (max_length: number, initial_value: string) => ({
  type: "plain_text_input",
  max_length,
  initial_value,
});

describe("a form of Slack", async () => {
  const db = await createTestDatabase();
  const viewOf = async (call: string, values: unknown[]): Promise<object> => {
    const { view } = await oneOf<{ view: { private_metadata: string } }>(
      db.superuser.pool,
      `select inbound.${call} as view`,
      values,
    );
    return { ...view, private_metadata: JSON.parse(view.private_metadata) as object };
  };

  test.each([
    ["tech_reject", "Reject", "Why is it rejected in the technical review?"],
    ["customer_decline", "Record refusal", "Why does the customer decline?"],
    ["job_complete", "Record as running", "How is the capacity there already?"],
    ["cancel", "Cancel request", "Why is the request cancelled?"],
  ])("that asks why, for %s", async (action, submit, question) => {
    const hint = "The requester reads it, and it stays in the log. Do not name the customer in it.";
    expect(await viewOf("render_reason('CR-2026-000042', $1, 'C1')", [action])).toEqual(
      modal("capacity_reason", "CR-2026-000042", submit, "Back", { request: "CR-2026-000042", action, channel: "C1" }, [
        input(
          "reason",
          question,
          action === "customer_decline",
          action === "customer_decline" ? area(2000) : { ...area(2000), min_length: 1 },
          hint,
        ),
      ]),
    );
  });

  test("for a note, and for the customer's address", async () => {
    const metadata = { request: "CR-2026-000042" };
    expect(await viewOf("render_follow_up('CR-2026-000042', 'note', null, null)", [])).toEqual(
      modal("capacity_note", "CR-2026-000042", "Add the note", "Back", metadata, [
        input(
          "note",
          "Note",
          false,
          { ...area(3000), min_length: 1 },
          "Everybody who may read the request sees it. It decides nothing.",
        ),
      ]),
    );
    const hint =
      "The link is mailed to this address. If you change it, the link that was mailed before no longer works.";
    const element = { type: "email_text_input", initial_value: "a@b.example" };
    expect(await viewOf("render_follow_up('CR-2026-000042', 'link', null, 'a@b.example')", [])).toEqual(
      modal("capacity_link", "CR-2026-000042", "Mail the link", "Back", metadata, [
        input("email", "Customer's e-mail address", false, element, hint),
      ]),
    );
  });

  test("for a new request, filled in with what suits its fields", async () => {
    const fields = {
      size: "32XL",
      quantity: "4",
      region: "us-east-1",
      customer: "Acme   Corp",
      email: "no address",
      needed_by: "2026-12-01",
      days: "1.5",
      cost: "12.50",
      justification: "We launch\nin March.",
      owner: "U0CORA",
      group: "infra",
    };
    const option = { text: plain("Infra"), value: "infra" };
    const view = await viewOf("render_intake($1, $2, 'C1', 'command:1')", [
      JSON.stringify(fields),
      JSON.stringify([{ id: "infra", name: "Infra" }]),
    ]);
    expect(view).toEqual(
      modal("capacity_intake", "Request capacity", "Submit", "Cancel", { channel: "C1", opened_by: "command:1" }, [
        input("size", "Size", false, text(32, "32XL"), "Such as 32XL"),
        input("quantity", "How many", false, number({ initial_value: "4" })),
        input("region", "Region", false, text(32, "us-east-1"), "Such as us-east-1"),
        input("customer", "Customer", true, text(200, "Acme Corp"), "Who it is for"),
        input(
          "email",
          "Customer's e-mail address",
          true,
          { type: "email_text_input" },
          "The customer's link goes there. Without an address the commercial owner has to ask the customer.",
        ),
        input("needed_by", "Needed by", true, { type: "datepicker", initial_date: "2026-12-01" }),
        input("days", "For how many days", true, number({})),
        input(
          "cost",
          "Estimated cost per month, in dollars",
          true,
          number({ is_decimal_allowed: true, min_value: "0", initial_value: "12.50" }),
        ),
        input(
          "justification",
          "Why it is needed",
          true,
          { ...area(2000), initial_value: "We launch\nin March." },
          "Those who decide read it. The customer does not.",
        ),
        input(
          "owner",
          "Commercial owner",
          true,
          { type: "users_select", initial_user: "U0CORA" },
          "Needed where no rule names one",
        ),
        input("group", "Infra group", true, { type: "static_select", options: [option], initial_option: option }),
      ]),
    );
  });
});

const section = (length: number) => ({ type: "section", text: { type: "mrkdwn", text: "🚀".repeat(length / 2) } });
const buttons = { type: "actions", elements: [{ type: "button", text: plain("Approve") }] };

describe("blocks", async () => {
  const db = await createTestDatabase();
  const kept = async (blocks: (object | null)[], max: number): Promise<{ type: string }[]> =>
    (
      await oneOf<{ kept: { type: string }[] }>(db.superuser.pool, "select notify.slack_blocks($1, $2) as kept", [
        JSON.stringify(blocks),
        max,
      ])
    ).kept;
  test.each([50, 100])("are at most %i, without unusable ones", async (max) => {
    expect(await kept([null, section(2), null], max)).toEqual([section(2)]);
    const many = Array.from({ length: max + 20 }, () => section(2));
    expect(await kept([null, ...many], max)).toHaveLength(max);
  });

  test("have no more text than Slack accepts in total, and keep the buttons", async () => {
    const made = await kept([...Array.from({ length: 6 }, () => section(3000)), section(900), buttons], 50);
    expect(made).toEqual([section(3000), section(3000), section(3000), section(3000), section(900), buttons]);
  });

  test("have no section that is too long", async () => {
    const { made } = await oneOf<{ made: { text: { text: string } } }>(
      db.superuser.pool,
      "select notify.slack_section($1) as made",
      ["word 🚀 ".repeat(600)],
    );
    expect(made.text.text.length).toBeLessThanOrEqual(3000);
    expect(made.text.text).toMatch(/^(word 🚀 ){300,}.*…$/u);
  });
});
