/** The customer's page over real HTTP: what a browser without scripts shows, and what its forms do. */
import { describe, expect, test } from "vitest";
import { rowsOf } from "../../capacity/harness.ts";
import { startTestGateway } from "../harness.ts";
import { startOffers } from "../offers.ts";

const { workflow, offer } = await startOffers();
const gateway = await startTestGateway(workflow.db, { dependencies: { trustedProxies: 1 } });
const timeless = await startTestGateway(workflow.db, { dependencies: { now: () => 0 } });

/** Every request comes from a different address, so that none is rate-limited. */
let addresses = 0;
const fromElsewhere = () => ({ "x-forwarded-for": `192.0.2.${(addresses += 1)}` });

const get = (token: string, init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {}) =>
  fetch(`${gateway.url}/confirm/${token}`, {
    redirect: "manual",
    ...init,
    headers: { accept: "text/html", ...fromElsewhere(), ...init.headers },
  });

const post = (token: string, form: Record<string, string> | string, headers: Record<string, string> = {}) =>
  get(token, {
    method: "POST",
    body: typeof form === "string" ? form : new URLSearchParams(form).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", ...headers },
  });

/** The text that a reader sees on a page. */
const words = (page: string): string =>
  page
    .replace(/<style>[^]*<\/style>/, "")
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ")
    .replace(/ ([.,])/g, "$1");

async function everything(): Promise<unknown> {
  return [await workflow.size(), await rowsOf(workflow.superuser, "select * from capacity.requests order by id")];
}

describe("an open offer", () => {
  test("is shown with its terms, its deadline in words and as a time, and both answers", async () => {
    const { id, token } = await offer({ neededBy: "2027-03-01", justification: "Before the Zugzwang launch" });
    const response = await get(token);
    expect(response.status).toBe(200);
    const page = await response.text();
    expect(words(page)).toContain("Please confirm this offer");
    for (const fact of [
      id,
      "4 × 32XL in us-east-1",
      "Monday, 1 March 2027",
      "30 days",
      "USD 500.00 a month",
      "which is in 7 days",
    ])
      expect(words(page)).toContain(fact);
    expect(page).toMatch(/<time datetime="\d{4}-\d\d-\d\dT[^"]+Z">\w+, \d+ \w+ \d{4}, \d\d:\d\d UTC<\/time>/);
    expect(words(page)).toContain("Ask Cora at Acme");
    expect(page.match(/<form method="post"/g)).toHaveLength(2);
    expect(page).not.toContain("<script");
    expect(page).not.toMatch(/Initech|Zugzwang/);
  });

  test("has headers that keep the link and the page private to its reader", async () => {
    const { token } = await offer();
    const { headers } = await get(token);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-robots-tag")).toContain("noindex");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("script-src");
    expect(policy).not.toContain("unsafe-inline");
  });

  test("is not changed by GET, by HEAD, or by a scanner that requests all of it", async () => {
    const { token } = await offer();
    const before = await everything();
    for (const method of ["GET", "HEAD", "GET"]) expect((await get(token, { method })).status).toBe(200);
    expect((await get(`${token}?decision=confirm`)).status).toBe(200);
    expect(await everything()).toEqual(before);
  });

  test("is escaped wherever it shows what others wrote", async () => {
    const { token } = await offer();
    await rowsOf(workflow.superuser, `update directory.workspaces set name = '<i>"A&B''</i>' where id = 'acme'`);
    const page = await (await get(token)).text();
    await rowsOf(workflow.superuser, "update directory.workspaces set name = 'Acme' where id = 'acme'");
    expect(page).toContain("&lt;i&gt;&quot;A&amp;B&#39;&lt;/i&gt;");
    expect(page).not.toContain("<i>");
  });
});

describe("an answer", () => {
  test("that confirms moves the request on, and leads back to a page that says so", async () => {
    const { id, token } = await offer();
    const response = await post(token, { decision: "confirm" });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(`/confirm/${token}`);
    expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING" });
    expect((await workflow.events<{ via: string; actor_type: string }>(id)).at(-1)).toMatchObject({
      via: "link",
      actor_type: "customer",
    });
    const page = words(await (await get(token)).text());
    expect(page).toContain("This offer is confirmed");
    expect(page).toMatch(/It was confirmed through this link on \w+, \d+ \w+ \d{4}, \d\d:\d\d UTC/);
    expect(page).toContain("You need not do anything else");
  });

  test("that declines puts its reason into the log, with line ends and signs as they were meant", async () => {
    const { id, token } = await offer();
    const reason = "Too expensive: 1+1 = 2 & 50 %\r\nSorry 🙂";
    expect((await post(token, { decision: "decline", reason })).status).toBe(303);
    expect(await workflow.row(id)).toMatchObject({ state: "CANCELLED" });
    const page = words(await (await get(token)).text());
    expect(page).toContain("This offer is declined");
    expect(page).toContain("ask Cora for a new offer");
    const { body } = await rowsOf<{ body: string }>(
      workflow.superuser,
      `select (public.get_capacity_request($1) -> 'history' -> -1 -> 'payload')::text as body`,
      [id],
    ).then(([row]) => row ?? { body: "" });
    expect(JSON.parse(body)).toMatchObject({ reason: "Too expensive: 1+1 = 2 & 50 %\nSorry 🙂" });
  });

  test.each([
    ["lines", "x\r\n".repeat(1000)],
    ["signs that take nine bytes in a form", "价".repeat(2000)],
    ["signs that are two units", "🙂".repeat(1000)],
  ])("with a reason as long as the page allows, of %s, is taken", async (_, reason) => {
    const { id, token } = await offer();
    expect((await post(token, { decision: "decline", reason })).status).toBe(303);
    expect(await workflow.row(id)).toMatchObject({ state: "CANCELLED" });
  });

  test("without a reason declines too", async () => {
    const { token } = await offer();
    expect((await post(token, { decision: "decline", reason: "  " })).status).toBe(303);
  });

  test("that is sent twice counts once, and the second time shows who answered and when", async () => {
    const { id, token } = await offer();
    const answers = await Promise.all([1, 2, 3].map(() => post(token, { decision: "confirm" })));
    expect(answers.map((response) => response.status)).toEqual([303, 303, 303]);
    const events = await workflow.events(id);
    expect(events.filter((event) => event.event_type === "CUSTOMER_CONFIRMED")).toHaveLength(1);
  });

  test("opposite to the given one is refused, and the page says which answer counts", async () => {
    const { id, token } = await offer();
    await post(token, { decision: "confirm" });
    const response = await post(token, { decision: "decline", reason: "on second thoughts" });
    expect(response.status).toBe(409);
    const page = words(await response.text());
    expect(page).toContain("Your answer was not recorded. This offer was already confirmed.");
    expect(page).toContain("This offer is confirmed");
    expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING" });
  });
});

describe("a link that cannot be answered", () => {
  test("because the time has passed says when it ended and whom to ask", async () => {
    const { id, token } = await offer();
    await workflow.passDeadline(id);
    const shown = await get(token);
    expect(shown.status).toBe(410);
    const page = words(await shown.text());
    expect(page).toContain("This offer has expired");
    expect(page).toContain("ask Cora for a new offer");
    const answered = await post(token, { decision: "confirm" });
    expect(answered.status).toBe(410);
    expect(words(await answered.text())).toContain(
      "Your answer was not recorded. The time to answer this offer has passed.",
    );
    expect(await workflow.row(id)).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED" });
  });

  test("because the request was cancelled says so", async () => {
    const { id, token } = await offer();
    await workflow.apply(id, "CANCEL_APPROVED", "ada");
    const shown = await get(token);
    expect(shown.status).toBe(410);
    expect(words(await shown.text())).toContain("This offer was withdrawn");
  });

  test("because the answer was recorded for the customer says who recorded it", async () => {
    const { id, token } = await offer();
    await workflow.apply(id, "CUSTOMER_CONFIRMED", "cora");
    expect(words(await (await get(token)).text())).toMatch(/Acme recorded your answer for you: confirmed on \w+/);
  });

  test.each([
    ["short", "x"],
    ["forged", "a".repeat(64)],
    ["a zero byte", "%00"],
    ["a path", "..%2f..%2fetc"],
    ["long", "a".repeat(5000)],
    ["emoji", "%F0%9F%99%82"],
    ["broken UTF-8", "%ff"],
  ])("because there is none (%s) is explained, for looking and for answering", async (_what, token) => {
    const before = await workflow.size();
    const shown = await get(token);
    expect(shown.status).toBe(404);
    expect(words(await shown.text())).toContain("copy it from the mail as a whole");
    expect((await post(token, { decision: "confirm" })).status).toBe(404);
    expect(await workflow.size()).toEqual(before);
  });
});

describe("an unknown answer", () => {
  test.each([
    ["nothing", "", 400],
    ["another decision", "decision=maybe", 400],
    ["two decisions", "decision=confirm&decision=decline", 400],
    ["a reason that is too long", `decision=decline&reason=${"x".repeat(2001)}`, 400],
    ["more than a form holds", `decision=decline&reason=${"x".repeat(40_000)}`, 413],
    ["a zero byte", "decision=decline&reason=%00", 400],
  ])("%s is refused, and nothing changes", async (_what, form, status) => {
    const { token } = await offer();
    const before = await everything();
    const response = await post(token, form);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(await everything()).toEqual(before);
  });

  test("a body that is not a form is refused", async () => {
    const { token } = await offer();
    const response = await post(token, '{"decision":"confirm"}', { "content-type": "application/json" });
    expect(response.status).toBe(415);
  });

  test.each([
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ "sec-fetch-site": "", origin: "https://evil.example" }],
  ])("a form on another site (%j) decides nothing", async (headers) => {
    const { id, token } = await offer();
    const response = await post(token, { decision: "confirm" }, headers);
    expect(response.status).toBe(403);
    expect(await workflow.row(id)).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED" });
  });

  test("an old browser that does not send its origin can still answer", async () => {
    const { token } = await offer();
    const response = await fetch(`${gateway.url}/confirm/${token}`, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: "null", ...fromElsewhere() },
      body: "decision=confirm",
    });
    expect(response.status).toBe(303);
  });
});

test("a program that does not accept a page gets problem details", async () => {
  const { token } = await offer();
  const response = await fetch(`${gateway.url}/confirm/${token}`, {
    method: "POST",
    body: "decision=confirm",
    headers: fromElsewhere(),
  });
  expect(response.status).toBe(415);
  expect(await response.json()).toMatchObject({ code: "unsupported_media_type", request_id: expect.any(String) });
});

test("the token is in no log line and in no metric", async () => {
  const { token } = await offer();
  await get(token);
  await post(token, { decision: "confirm" });
  await post(token, { decision: "decline" });
  const metrics = await (
    await fetch(`${gateway.url}/metrics`, { headers: { apikey: gateway.keys.serviceKey } })
  ).text();
  expect(metrics).toContain("/confirm/:token");
  for (const text of [JSON.stringify(gateway.log), metrics]) expect(text).not.toContain(token);
});

test("an address that tries many links is rate-limited, with a page", async () => {
  const statuses = [];
  for (let turn = 0; turn < 61; turn += 1) {
    const request = new Request("http://x/confirm/guess", { headers: { accept: "text/html" } });
    statuses.push((await timeless.app.fetch(request)).status);
  }
  expect(statuses.slice(0, 60).every((status) => status === 404)).toBe(true);
  expect(statuses.at(-1)).toBe(429);
});
