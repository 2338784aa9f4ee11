/** Message texts: our own templates are complete, a workspace's are used or refused, and no text makes a decision fail. */
import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { previewTemplate, type TemplatePreview } from "../../../../src/notify/index.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "../gateway.ts";
import { customer, startSurfaces } from "../surfaces.ts";
import { codeOf, oneOf, refusalOf, rowsOf } from "../harness.ts";
import { refusedTexts } from "./texts.ts";

const templates = new URL("../../../../sql/templates/", import.meta.url);
const theirs = { title: "Angebot {{request}}", body: "{{terms}}\n\nBis {{deadline}}." };

describe.each(POSTGRES_VERSIONS)("templates on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const { superuser } = surfaces;
  const control = surfaces.db.as("headroom_control").pool;
  const asked = <T>(session: Session, text: string, values: unknown[]): Promise<T> =>
    overHttp(surfaces.db, session, async (client) => (await oneOf<{ answer: T }>(client, text, values)).answer);
  const set = (session: Session, name: string, title: unknown, body: unknown, workspace: string | null = null) =>
    asked<{ changed: boolean; updated_by: string; title: string; body: string }>(
      session,
      "select public.set_notification_template($1, $2, $3, $4) as answer",
      [name, title, body, workspace],
    );
  const reset = (session: Session, name: string, workspace: string | null = null) =>
    asked<boolean>(session, "select public.reset_notification_template($1, $2) as answer", [name, workspace]);
  const stored = () =>
    rowsOf(superuser, "select workspace_id, name, title, updated_by from notify.templates order by 1, 2");
  const ada = memberSession("ada");
  const customerTold = async (id: string) =>
    (await surfaces.toldOf(id))
      .filter(({ audience }) => audience === "customer")
      .map(({ title, body }) => [title, body]);

  test("each of ours has a file, is declared, says what it must, and is used by some line of the table", async () => {
    const files = (await readdir(templates, { recursive: true })).filter((path) => path.endsWith(".txt"));
    const texts = await Promise.all(
      files.map(async (path) => {
        const [, language = "", name = ""] = path.replace(".txt", "").split("/");
        const [title = "", , ...body] = (await readFile(new URL(path, templates), "utf8")).split("\n");
        return { name, language, title, body: body.join("\n").trimEnd() };
      }),
    );
    const kept = await rowsOf(superuser, "select name, language, title, body from notify.own_templates");
    expect(new Set(kept.map((text) => JSON.stringify(text)))).toEqual(
      new Set(texts.map((text) => JSON.stringify(text))),
    );
    const problems = await rowsOf(
      superuser,
      `select o.name, capacity.check_template('acme', o.name, o.title, o.body) as problem from notify.own_templates o
        where capacity.check_template('acme', o.name, o.title, o.body) is not null
       union all
       select t.template, 'is not declared' from capacity.tells t where t.template not in (select k.name from capacity.known_templates() k)
       union all
       select k.name, 'has no text' from capacity.known_templates() k where k.name not in (select o.name from notify.own_templates o)
       union all
       select k.name, 'has no sample' from capacity.known_templates() k
        where not exists (select from capacity.template_samples('acme', k.name))
       union all
       select v.variable, 'is of no template, or required of another' from capacity.template_variables() v
        where not v.templates <@ array(select k.name from capacity.known_templates() k) or not v.required <@ v.templates
       union all
       select k.name, 'is for somebody else' from capacity.known_templates() k join capacity.tells t on t.template = k.name
        where (t.audience = 'customer') <> (k.audience = 'customer')`,
    );
    expect(problems).toEqual([]);
  });

  test("a template declares exactly what its samples have, each in at least one of them", async () => {
    const differing = await rowsOf(
      superuser,
      `with made as (select k.name, e.key from capacity.known_templates() k
                      cross join lateral capacity.template_samples('acme', k.name) s cross join lateral jsonb_each_text(s.vals) e
                      where e.value is not null),
            declared as (select t as name, v.variable as key from capacity.template_variables() v cross join unnest(v.templates) t)
       (table made except table declared) union all (table declared except table made)`,
    );
    expect(differing).toEqual([]);
  });

  test("an admin's text is used from the next message on, in their workspace only, until it is removed", async () => {
    const answer = await set(ada, "offer", `${theirs.title}  `, `${theirs.body.replaceAll("\n", "\r\n")}\r\n`);
    expect(answer).toMatchObject({ changed: true, updated_by: "ada", ...theirs });
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    const [told] = await customerTold(id);
    expect(told?.[0]).toBe(`Angebot ${id}`);
    expect(told?.[1]).toMatch(/^Request: CR-[\s\S]+\n\nBis \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/);
    expect(await surfaces.unmatched()).toEqual([]);
    const glen = memberSession("glen", "globex");
    const listed = await overHttp(surfaces.db, glen, (client) =>
      rowsOf(client, "select name from public.list_notification_templates() where changed or updated_by is not null"),
    );
    expect(listed).toEqual([]);
    expect(await reset(glen, "offer")).toBe(false);
    expect([await reset(ada, "offer"), await reset(ada, "offer")]).toEqual([true, false]);
    expect(await stored()).toEqual([]);
    const next = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    expect((await customerTold(next))[0]?.[0]).toMatch(/^Please confirm: /);
    expect((await customerTold(id))[0]?.[0]).toBe(`Angebot ${id}`);
  });

  test("machines and operators change texts for the workspace that they name, and it is recorded who did", async () => {
    expect(await set(service, "offer", theirs.title, theirs.body, "globex")).toMatchObject({
      updated_by: "service:key",
    });
    await rowsOf(control, "select public.set_notification_template('refunded', 'Back {{request}}', 'Money.', 'acme')");
    expect(await stored()).toMatchObject([
      { workspace_id: "acme", name: "refunded", updated_by: expect.stringMatching(/^cli:/) },
      { workspace_id: "globex", name: "offer", updated_by: "service:key" },
    ]);
    expect([await reset(service, "refunded", "acme"), await reset(service, "offer", "globex")]).toEqual([true, true]);
  });

  test.each([
    ["nobody", anonymous, null, /^42501/],
    ["a member who is no admin", memberSession("rita"), null, /not_allowed/],
    ["an admin of another workspace", memberSession("glen", "globex"), "acme", /not_found/],
    ["a machine that names none", service, null, /invalid_input/],
    ["a machine that names one that does not exist", service, "nowhere", /not_found/],
  ] as const)("%s neither sees nor changes them", async (_who, session, workspace, code) => {
    const tries = [
      () => set(session, "offer", theirs.title, theirs.body, workspace),
      () => reset(session, "offer", workspace),
      () => asked(session, "select public.get_notification_template('offer', $1) as answer", [workspace]),
      () =>
        asked(session, "select public.preview_notification_template('offer', p_workspace_id => $1) as answer", [
          workspace,
        ]),
      () => asked(session, "select count(*) as answer from public.list_notification_templates($1)", [workspace]),
    ];
    for (const attempt of tries) {
      const refusal = await refusalOf(attempt());
      expect(`${refusal.code} ${refusal.detail ?? ""}`).toMatch(code);
    }
    expect(await stored()).toEqual([]);
  });

  test.each(refusedTexts)(
    "refuses %s, in a preview as when it is set, and says why",
    async (_what, name, title, body, why) => {
      const refusal = await refusalOf(set(ada, name, title, body));
      expect(refusal.message).toMatch(/^The (title|body) of the template is not acceptable\.$/);
      expect(refusal.detail).toMatch(why);
      if (typeof title === "string" && typeof body === "string") {
        const previewed = await previewTemplate(control, { name, workspaceId: "acme" }, { title, body });
        expect(previewed).toMatchObject({
          outcome: "refused",
          code: "invalid_input",
          detail: expect.stringMatching(why),
        });
      }
      expect(await stored()).toEqual([]);
    },
  );

  test("an unknown name or language is refused, and the refusal lists the known ones", async () => {
    const unknown = await refusalOf(set(ada, "offers", theirs.title, theirs.body));
    expect([unknown.message, unknown.hint]).toEqual([
      "There is no template of that name.",
      expect.stringContaining("offer, own_mail_failed, payment_failed"),
    ]);
    for (const name of [null, "", "x".repeat(5_000), "'; drop table"]) {
      expect(await codeOf(set(ada, name as string, theirs.title, theirs.body))).toBe("not_found");
    }
    const text = "select public.get_notification_template('offer', p_language => 'xx') as answer";
    expect((await refusalOf(asked(ada, text, []))).hint).toContain("There are: en.");
  });

  test.each([
    ["that shows nothing", "{{#price}}x{{/price}}", "{{#price}}x{{/price}}"],
    ["whose title shows nothing", "\u200b", "Words."],
    ["with a tag that does not end", "{{", "{{#"],
    ["with a variable that was there once", "{{gone}}", "{{gone}}"],
  ])("a template %s makes no decision fail: our text is used", async (_what, title, body) => {
    const put = `insert into notify.templates (workspace_id, name, language, title, body, updated_by)
                 select 'acme', o.name, 'en', $1, $2, 'test' from notify.own_templates o`;
    await rowsOf(superuser, put, [title, body]);
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer, cost: 10 });
    const told = await surfaces.toldOf(id);
    await rowsOf(superuser, "delete from notify.templates");
    expect(told.length).toBeGreaterThan(3);
    for (const each of told) expect([each.title?.trim(), each.body?.trim()]).not.toContain("");
    if (title !== "{{") expect((await customerTold(id))[0]?.[0]).toMatch(/^Please confirm: /);
    expect(await surfaces.unmatched()).toEqual([]);
  });

  test("text that looks like markup, headers or links is plain text in every channel", async () => {
    const title = "<b>{{request}}</b> <!channel> & Bcc: x@y";
    const body =
      "<script>alert(1)</script> <https://evil.example|here> {confirmation_link}} {{review}} {\n\n<@U0ADA> &amp;";
    const previewed = await previewTemplate(control, { name: "asked", workspaceId: "acme" }, { title, body });
    if (previewed.outcome === "refused") throw new Error(previewed.detail);
    expect(previewed.samples.map(({ sample }) => sample)).toHaveLength(3);
    for (const { channels } of previewed.samples) {
      const { email, slack } = channels as Required<TemplatePreview["channels"]>;
      expect(email?.html).not.toMatch(/<script|<b>|<https|href="https:\/\/evil/);
      expect(email?.html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
      expect(email?.text).not.toContain("{{");
      expect(email?.subject).toBe("<b>CR-2026-000042</b> <!channel> & Bcc: x@y");
      expect(JSON.stringify(slack)).not.toMatch(/<!channel>|<@U0ADA>|<https/);
      expect(channels["in-app"]?.title).toBe(email?.subject);
    }
  });

  test("a preview shows a customer's message only as a mail, with the placeholder of the link, and notifies nobody", async () => {
    const before = await rowsOf(superuser, "select count(*) from notify.notifications");
    const previewed = await previewTemplate(control, { name: "offer", workspaceId: "acme" });
    if (previewed.outcome === "refused") throw new Error(previewed.message);
    expect(previewed.samples.map(({ channels }) => Object.keys(channels))).toEqual([["email"], ["email"], ["email"]]);
    const [priced, free] = previewed.samples.map(({ channels }) => channels.email?.text);
    expect(priced).toContain("Review and pay: {{confirmation_link}}");
    expect(free).toContain("Confirm or decline: {{confirmation_link}}");
    expect(await rowsOf(superuser, "select count(*) from notify.notifications")).toEqual(before);
  });
});
