/**
 * What people do in Slack without deciding anything: nudges, notes, and having the customer asked; typed, by button and by form, by people
 * who may and by people who may not.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { channel, startSlack, typed } from "./slack.ts";

const idIn = (text: string | undefined): string => /CR-\d{4}-\d{6,}/.exec(text ?? "")?.[0] ?? "none";

describe.each(POSTGRES_VERSIONS)("follow-ups in Slack on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;

  beforeEach(async () => {
    await slack.takeInteractions();
    await rowsOf(
      workflow.superuser,
      "update directory.workspaces set public_url = 'https://cap.acme.example' where id = 'acme'",
    );
  });

  const create = (): Promise<string> => workflow.createIn("UNDER_REVIEW", { channel });
  const offered = (): Promise<string> => workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { channel });
  const noticesOf = (id: string) =>
    rowsOf<{ kind: string; actor_id: string; via: string; effects: string[]; body: string | null }>(
      workflow.superuser,
      "select kind, actor_id, via, effects, capacity.free_text(request_id, body_hash) as body from capacity.notices where request_id = $1 order by id",
      [id],
    );
  const mailTo = async (id: string): Promise<string[]> =>
    (
      await rowsOf<{ to: string }>(
        workflow.superuser,
        `select m.payload ->> 'to' as to
           from notify.notifications n join notify.parts p on p.notification_id = n.id join notify.deliveries d on d.id = p.delivery_id
           join outbox.payloads m on m.outbox_id = d.outbox_id
          where n.idempotency_key like $1 || '!%/customer' order by n.created_at`,
        [id],
      )
    ).map(({ to }) => to);

  test("a requester nudges by the command, is told who was asked, and cannot nudge twice in a row", async () => {
    const id = await create();
    const answer = await slack.command(`nudge ${id.toLowerCase()}`, "U0RITA");
    expect(answer).toMatchObject({ response_type: "ephemeral" });
    expect(answer.text).toMatch(
      new RegExp(`^${id}: Cora, Rob, Tess, Tim will be asked to decide\\. You can nudge again from .+ on\\.$`),
    );
    expect(await noticesOf(id)).toMatchObject([
      { kind: "nudge", actor_id: "rita", via: "slack", effects: ["slack:reply", "tell:asked"] },
    ]);
    expect((await slack.command(`nudge ${id}`, "U0RITA")).text).toContain("nudged a short while ago");
    expect((await slack.deliveries()).at(-1)).toMatchObject({ outcome: "refused", request_id: id });
    expect(await noticesOf(id)).toHaveLength(1);
  });

  test("the button does the same, and the answer is a note that only they see", async () => {
    const id = await create();
    expect(await slack.click("nudge", id, "U0RITA")).toEqual({});
    expect(await slack.takeInteractions()).toMatchObject([
      {
        method: "chat.postEphemeral",
        user: "U0RITA",
        channel,
        text: expect.stringContaining("will be asked to decide"),
      },
    ]);
    expect(await slack.click("nudge", id, "U0TESS")).toEqual({});
    expect(await slack.takeInteractions()).toMatchObject([
      { user: "U0TESS", text: expect.stringContaining("Only the requester or an admin may nudge") },
    ]);
    expect(await noticesOf(id)).toHaveLength(1);
  });

  test("a note is typed, and posted in the thread, where the command was not visible", async () => {
    const id = await create();
    expect((await slack.command(`note ${id} They need it\nby <!channel> spring`, "U0RITA")).text).toBe(
      `${id}: your note was added.`,
    );
    expect(await noticesOf(id)).toMatchObject([
      {
        kind: "note",
        actor_id: "rita",
        via: "slack",
        effects: ["slack:reply"],
        body: "They need it\nby <!channel> spring",
      },
    ]);
    const { payload } = await oneOf<{ payload: unknown }>(
      workflow.superuser,
      `select outbox.rendered(stream_id, 'slack-reply', payload) as payload
         from outbox.payloads where instruction_id = $1 || '!1' and idempotency_key = 'slack:reply'`,
      [id],
    );
    expect(JSON.stringify(payload)).toContain("Rita notes:");
    expect(JSON.stringify(payload)).not.toContain("<!channel>");
    expect((await slack.command(`note ${id}`, "U0RITA")).text).toContain("A note has 1 to 4000 characters");
    expect((await slack.command("note", "U0RITA")).text).toContain("Name the request");
  });

  test("the note button asks for its text in a form", async () => {
    const id = await create();
    expect(await slack.click("note", id, "U0TIM")).toEqual({});
    const [opened] = await slack.takeInteractions();
    expect(opened?.view).toMatchObject({ callback_id: "capacity_note" });
    const metadata = JSON.parse(opened?.view?.private_metadata ?? "") as object;
    expect(await slack.submit("capacity_note", { note: typed("  ") }, metadata, "U0TIM")).toMatchObject({
      response_action: "errors",
      errors: { note: expect.stringContaining("1 to 4000") },
    });
    expect(await slack.submit("capacity_note", { note: typed("Racks arrive in May") }, metadata, "U0TIM")).toEqual({
      response_action: "clear",
    });
    expect(await noticesOf(id)).toMatchObject([{ kind: "note", actor_id: "tim", body: "Racks arrive in May" }]);
    expect(await slack.takeInteractions()).toMatchObject([
      { method: "chat.postEphemeral", user: "U0TIM", channel, text: `${id}: your note was added.` },
    ]);
  });

  test.each([
    ["nudge", ""],
    ["note", "hello"],
    ["address", "x@y.example"],
    ["link", ""],
  ])("%s about a request that one may not read is answered as if it did not exist", async (verb, words) => {
    const id = await create();
    const unknown = await slack.command(`${verb} CR-2020-000001 ${words}`, "U0OTTO");
    const hidden = await slack.command(`${verb} ${id} ${words}`, "U0OTTO");
    expect(hidden.text?.replace(id, "CR-2020-000001")).toBe(unknown.text);
    expect(await noticesOf(id)).toEqual([]);
  });

  test("a person who sees the message but may not read the request adds no note through it", async () => {
    const id = await create();
    await slack.click("note", id, "U0OTTO");
    expect(await slack.takeInteractions()).toMatchObject([
      { user: "U0OTTO", text: expect.stringContaining("Only people who may read a request can add notes to it.") },
    ]);
  });

  test("a requester who gives no address is told so, and how to add it: by text and by form", async () => {
    const answer = await slack.command("create 32XL x4 us-east-1 for Initech owner cora group infra", "U0RITA");
    const id = idIn(answer.text);
    expect(answer.text).toContain("The customer will not be asked by mail: their e-mail address is not known.");
    expect(answer.text).toContain(`Add it with /capacity address ${id} name@example.com.`);
    expect(
      (await slack.command("create 32XL us-east-1 owner cora group infra email a@b.example", "U0RITA")).text,
    ).not.toContain("by mail");

    await slack.command("new", "U0RITA");
    const [opened] = await slack.takeInteractions();
    const email = opened?.view?.blocks.find(({ block_id }) => block_id === "email");
    expect(email).toMatchObject({
      hint: { text: expect.stringContaining("Without an address the commercial owner has to ask") },
    });
    const metadata = JSON.parse(opened?.view?.private_metadata ?? "") as object;
    const fields = {
      size: typed("32XL"),
      region: typed("us-east-1"),
      owner: { type: "users_select", selected_user: "U0CORA" },
      group: { type: "static_select", selected_option: { value: "infra" } },
    };
    expect(
      await slack.submit("capacity_intake", { ...fields, email: typed("a,b@x.example") }, metadata, "U0RITA"),
    ).toEqual({
      response_action: "errors",
      errors: { email: "That is not an e-mail address. Give one such as name@example.com." },
    });
    expect(await slack.submit("capacity_intake", fields, metadata, "U0RITA")).toEqual({ response_action: "clear" });
    expect(await slack.takeInteractions()).toMatchObject([
      { user: "U0RITA", channel, text: expect.stringContaining("The customer will not be asked by mail") },
    ]);
    // From the shortcut, which has no channel, the person is told directly.
    expect(await slack.submit("capacity_intake", fields, {}, "U0RITA")).toEqual({ response_action: "clear" });
    expect(await slack.takeInteractions()).toMatchObject([
      { method: "chat.postMessage", channel: "U0RITA", text: expect.stringContaining("will not be asked by mail") },
    ]);
  });

  test("the owner finds the customers who were not asked in their list, and asks them with the command", async () => {
    const id = await offered();
    const list = await slack.command("list", "U0CORA");
    expect(list.text).toContain("*Customers who have not been asked*");
    expect(list.text).toContain(id);
    expect((await slack.command("list", "U0RITA")).text).toMatch(
      new RegExp(`\\*${id}\\*.*waiting for the customer.*:warning: the customer has not been asked`),
    );
    expect((await slack.command(`address ${id} buyer@initech.example`, "U0RITA")).text).toContain(
      "its requester cannot change where the customer's link goes",
    );
    expect((await slack.command(`address ${id} nonsense`, "U0CORA")).text).toContain("That is not an e-mail address.");
    expect(
      (await slack.command(`address ${id} <mailto:buyer@initech.example|buyer@initech.example>`, "U0CORA")).text,
    ).toBe(`${id}: the link is on its way to the customer.`);
    expect(await mailTo(id)).toEqual(["buyer@initech.example"]);
    expect((await slack.command(`link ${id}`, "U0CORA")).text).toContain("mailed a short while ago");
    expect((await slack.command("list", "U0CORA")).text).not.toContain(id);
  });

  test("the message's button opens the form with the address for people who may, and sends the link", async () => {
    const id = await offered();
    await slack.click("customer_link", id, "U0RITA");
    expect(await slack.takeInteractions()).toMatchObject([
      { user: "U0RITA", text: expect.stringContaining("cannot change where the customer's link goes") },
    ]);
    expect(await slack.click("customer_link", id, "U0CORA")).toEqual({});
    const [opened] = await slack.takeInteractions();
    const metadata = JSON.parse(opened?.view?.private_metadata ?? "") as object;
    const send = (address: string) => slack.submit("capacity_link", { email: typed(address) }, metadata, "U0CORA");
    expect(await send("no address")).toMatchObject({
      response_action: "errors",
      errors: { email: expect.any(String) },
    });
    expect(await send("buyer@initech.example")).toEqual({ response_action: "clear" });
    expect(await slack.takeInteractions()).toMatchObject([
      { user: "U0CORA", channel, text: `${id}: the link is on its way to the customer.` },
    ]);
    expect(await mailTo(id)).toEqual(["buyer@initech.example"]);
    await slack.click("customer_link", id, "U0CORA");
    const [again] = await slack.takeInteractions();
    expect(again?.view?.blocks[0]?.element).toMatchObject({ initial_value: "buyer@initech.example" });
    // The same address means: send it again, which is too soon.
    expect(await send("buyer@initech.example")).toMatchObject({
      errors: { email: expect.stringContaining("short while ago") },
    });
    await workflow.expectWhole([id]);
  });

  test("the help lists them", async () => {
    const { text } = await slack.command("help");
    for (const word of ["nudge", "note", "address", "link"]) expect(text).toContain(`/capacity ${word} CR-`);
  });
});
