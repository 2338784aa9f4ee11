/** The self-service wizard over real HTTP: what a browser without scripts shows, and what its forms do. */
import { describe, expect, test } from "vitest";
import { answerCheckout, startWizard } from "../../billing/wizard.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { startTestGateway } from "../harness.ts";
import { Visitor } from "../visitor.ts";

const { workflow, proofOf, mails, size } = await startWizard();
const gateway = await startTestGateway(workflow.db, { dependencies: { trustedProxies: 1, payments: { waitMs: 300 } } });

/** The text that a reader sees on a page. */
const words = (page: string): string =>
  page
    .replace(/<style>[^]*<\/style>/, "")
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ")
    .replace(/ ([.,:])/g, "$1");

const textOf = async (response: Response): Promise<string> => words(await response.text());
const locationOf = (response: Response): string => response.headers.get("location") ?? "";
const tokenIn = (path: string): string => path.split("/")[3] ?? "";

const what = { size: "S", region: "us-east-1", quantity: "2" };
const when = { needed_by: "", duration_days: "30" };
let buyers = 0;
const who = () => ({ name: "Bea Buyer", organisation: "Initech", email: `bea${(buyers += 1)}@initech.example` });

/** A visitor who has filled in the first three steps. */
async function fillIn(answers: { what?: object; when?: object; who?: object } = {}) {
  const visitor = new Visitor(gateway.url);
  const first = locationOf(await visitor.get("/new/acme"));
  const base = first.replace(/\/1$/, "");
  expect((await visitor.post(first, { revision: "0", ...what, ...answers.what })).status).toBe(303);
  expect((await visitor.post(`${base}/2`, { revision: "1", ...when, ...answers.when })).status).toBe(303);
  const mailed = await visitor.post(`${base}/3`, { revision: "2", ...who(), ...answers.who });
  expect([mailed.status, locationOf(mailed)]).toEqual([303, `${base}/4`]);
  const token = tokenIn(first);
  return { visitor, base, token, proof: `/new/acme/${await proofOf(token)}` };
}

/** The second step of an order that was begun. */
const beginStep = async (visitor: Visitor): Promise<string> => {
  const first = locationOf(await visitor.get("/new/acme"));
  await visitor.post(first, { revision: "0", ...what });
  return first.replace(/1$/, "2");
};

const order = (page: string): Record<string, string> => ({
  action: "order",
  revision: /name="revision" value="(\d+)"/.exec(page)?.[1] ?? "",
  seen: /name="seen" value="([^"]*)"/.exec(page)?.[1] ?? "",
});

test("GET begins nothing: a visitor gets an empty first step, and nothing is stored", async () => {
  const before = await size();
  const visitor = new Visitor(gateway.url);
  const begun = await visitor.get("/new/acme");
  expect(begun.status).toBe(303);
  const page = await visitor.get(locationOf(begun));
  expect(page.status).toBe(200);
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  const html = await page.text();
  expect(words(html)).toContain("What do you need?");
  expect(html).toMatch(/<option value="32XL" *>/);
  expect(html).not.toContain("<script");
  expect(await size()).toEqual(before);
});

test("an order is filled in, proven by the mail, and leads to Stripe in one action", async () => {
  const { visitor, base, proof } = await fillIn();
  const waiting = await textOf(await visitor.get(`${base}/4`));
  expect(waiting).toContain("Look in your mailbox");
  expect(waiting).toContain("USD 240.00");
  const review = await (await new Visitor(gateway.url).get(`${proof}/4`)).text();
  expect(words(review)).toContain("2 × S in us-east-1");
  expect(words(review)).toContain("This is approved at once");
  expect(words(review)).toContain("Order and pay USD 240.00");

  const sent = await visitor.post(`${proof}/4`, order(review));
  expect(sent.status).toBe(303);
  expect(locationOf(sent)).toMatch(/^\/confirm\/[\w-]{64}\/pay$/);
  const cookie = sent.headers.getSetCookie()[0] ?? "";
  expect(cookie).toMatch(/^headroom_pay=[^;]+; Path=\/paid\/[0-9a-f-]{36}; Max-Age=86400; HttpOnly; SameSite=Lax$/);
  const link = locationOf(sent).replace(/\/pay$/, "");
  expect(await textOf(await visitor.get(locationOf(sent)))).toContain("Preparing the payment");

  const [request] = await rowsOf<{ id: string; state: string; requester_user_id: string }>(
    workflow.superuser,
    "select r.id, r.state, r.requester_user_id from capacity.requests r join billing.drafts d on d.request_id = r.id",
  );
  expect(request).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED", requester_user_id: "web" });
  const checkout = await answerCheckout(workflow, request?.id ?? "", "https://checkout.stripe.com/c/pay/cs_1");
  expect(locationOf(await visitor.get(locationOf(sent)))).toBe("https://checkout.stripe.com/c/pay/cs_1");

  // Again, and from a second window: the same request and the same page.
  const again = await visitor.post(`${proof}/4`, order(review));
  expect(locationOf(again)).toBe("https://checkout.stripe.com/c/pay/cs_1");
  expect(
    await rowsOf(workflow.superuser, "select from billing.checkouts where request_id = $1", [request?.id]),
  ).toHaveLength(1);

  const cancelled = await visitor.get(`/paid/${checkout}?cancelled=1`);
  expect(locationOf(cancelled)).toBe(`${proof}/4?cancelled=1`);
  const back = await textOf(await visitor.get(locationOf(cancelled)));
  expect(back).toContain("You did not pay, and nothing was charged.");
  expect(back).toContain("Pay USD 240.00");
  expect(locationOf(await visitor.get(`/paid/${checkout}`))).toBe(`${link}?returned=1`);
  expect(locationOf(await visitor.get(`${proof}/1`))).toBe(`${proof}/4`);
});

test("what a rule does not approve becomes an ordinary request, and the page says what happens next", async () => {
  const { visitor, proof } = await fillIn({ what: { size: "32XL", quantity: "1" }, when: { duration_days: "" } });
  const review = await (await visitor.get(`${proof}/4`)).text();
  expect(words(review)).toContain("Acme reviews this first: its commercial team and its technical team.");
  expect(words(review)).toContain("USD 300.00 each month");
  expect(words(review)).not.toMatch(/Cora|Tess/);
  const sent = await visitor.post(`${proof}/4`, order(review));
  expect(locationOf(sent)).toBe(`${proof}/4`);
  const page = await textOf(await visitor.get(`${proof}/4`));
  expect(page).toMatch(/It has the number CR-\d+-\d+\./);
  expect(page).toContain("you get a mail with a link to pay");
});

describe("a step", () => {
  test("that is wrong keeps what was entered, and says next to each field what to do", async () => {
    const visitor = new Visitor(gateway.url);
    const first = locationOf(await visitor.get("/new/acme"));
    const answer = await visitor.post(first, { revision: "0", size: "XXL", region: "us-east-1", quantity: "many" });
    expect([answer.status, locationOf(answer)]).toEqual([303, first]);
    const page = await (await visitor.get(first)).text();
    expect(page).toContain('<p class="error" id="quantity-error">Give a whole number from 1 to 10000.</p>');
    expect(page).toMatch(
      /<input[^>]*id="quantity"[^>]*value="many"[^>]*aria-describedby="quantity-error quantity-hint"[^>]*aria-invalid="true"/,
    );
    expect(page).toMatch(/<select[^>]*id="size"[^>]*autofocus/);
    expect((await visitor.get(first.replace(/1$/, "2"))).status).toBe(409);
    await visitor.post(first, { revision: "0", ...what });
    expect(await (await visitor.get(first)).text()).not.toContain('class="error"');
  });

  test("that was sent twice is stored once, and back shows what was entered", async () => {
    const visitor = new Visitor(gateway.url);
    const first = locationOf(await visitor.get("/new/acme"));
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post(first, { revision: "0", ...what })));
    expect(answers.map(locationOf)).toEqual(Array(3).fill(first.replace(/1$/, "2")));
    expect(await (await visitor.get(first)).text()).toMatch(/value="2"[^>]*aria-describedby="quantity-hint"/);
  });

  test("that another window has changed is refused, shows what was entered, and can be sent again", async () => {
    const { visitor, base } = await fillIn();
    const stale = await visitor.post(`${base}/1`, { revision: "1", ...what, quantity: "5" });
    expect(stale.status).toBe(409);
    const page = await stale.text();
    expect(words(page)).toContain("This order was changed in another window meanwhile.");
    expect(page).toContain('value="5"');
    const revision = /name="revision" value="(\d+)"/.exec(page)?.[1] ?? "";
    expect((await visitor.post(`${base}/1`, { revision, ...what, quantity: "5" })).status).toBe(303);
    expect(await textOf(await visitor.get(`${base}/4`))).toContain("5 × S in us-east-1");
  });

  test("whose turn has not come is refused, for looking and sending, and leads to the one whose turn it is", async () => {
    const visitor = new Visitor(gateway.url);
    const base = locationOf(await visitor.get("/new/acme")).replace(/\/1$/, "");
    for (const step of [2, 3, 4]) {
      const shown = await visitor.get(`${base}/${step}`);
      expect([step, shown.status]).toEqual([step, 409]);
      expect(await textOf(shown)).toContain("Step 1 comes first");
    }
    expect((await visitor.post(`${base}/2`, { revision: "0", ...when })).status).toBe(410);
    expect((await visitor.post(`${base}/4`, { action: "order", revision: "0", seen: "" })).status).toBe(403);
    await visitor.post(`${base}/1`, { revision: "0", ...what });
    const early = await visitor.post(`${base}/3`, { revision: "1", ...who() });
    expect(early.status).toBe(409);
    expect(await textOf(early)).toContain("Step 2 comes first");
  });

  test("has its markup escaped in every field, on every page", async () => {
    const markup = '<i title="x">&amp;\'</i>';
    const { visitor, base, proof } = await fillIn({ who: { name: markup, organisation: markup } });
    for (const path of [`${base}/3`, `${proof}/3`, `${proof}/4`]) {
      const page = await (await visitor.get(path)).text();
      expect(page).toContain("&lt;i title=&quot;x&quot;&gt;&amp;amp;&#39;&lt;/i&gt;");
      expect(page).not.toContain("<i title");
    }
    for (const [step, fields] of [
      [1, ["size", "region", "quantity"]],
      [2, ["needed_by", "duration_days"]],
      [3, ["name", "organisation", "email"]],
    ] as const) {
      const form = Object.fromEntries(fields.map((field) => [field, markup]));
      expect(locationOf(await visitor.post(`${base}/${step}`, { revision: "3", ...form }))).toBe(`${base}/${step}`);
      const page = await (await visitor.get(`${base}/${step}`)).text();
      expect(page).toContain('class="error"');
      expect(page).not.toContain("<i title");
    }
    const orders = await mails();
    expect(JSON.stringify(orders)).not.toContain("<i title");
  });
});

describe("the order", () => {
  test("is not sent without the link of the mail", async () => {
    const { visitor, base } = await fillIn();
    const before = await size();
    const refused = await visitor.post(`${base}/4`, { action: "order", revision: "3", seen: "one_off USD 24000" });
    expect(refused.status).toBe(403);
    expect(await textOf(refused)).toContain("The order is sent with the link in the mail.");
    expect(await size()).toEqual(before);
  });

  test("is not sent at a price that was not seen, and the page shows the current one", async () => {
    const { visitor, proof } = await fillIn({ what: { region: "eu-west-1" } });
    const review = await (await visitor.get(`${proof}/4`)).text();
    expect(words(review)).toContain("EUR 220.00");
    await rowsOf(
      workflow.superuser,
      `insert into billing.prices (workspace_id, size, region, duration_days, kind, currency, unit_amount, created_by)
       values ('acme', 'S', 'eu-west-1', 30, 'one_off', 'EUR', 11100, 'test')`,
    );
    const refused = await visitor.post(`${proof}/4`, order(review));
    expect(refused.status).toBe(409);
    const page = await textOf(refused);
    expect(page).toContain("The price has changed since you looked at it.");
    expect(page).toContain("EUR 222.00");
  });

  test("is changed by anybody with the link, and a new address needs a new proof", async () => {
    const { visitor, proof } = await fillIn();
    const onward = await visitor.post(`${proof}/1`, { revision: "3", ...what, quantity: "3" });
    expect(locationOf(onward)).toBe(`${proof}/4`);
    expect(await textOf(await visitor.get(`${proof}/4`))).toContain("3 × S");
    const moved = await visitor.post(`${proof}/3`, { revision: "4", ...who() });
    expect(locationOf(moved)).not.toContain(proof);
    expect(await textOf(await visitor.get(locationOf(moved)))).toContain("Look in your mailbox");
    expect((await visitor.get(`${proof}/4`)).status).toBe(404);
  });

  test("whose link is sent again three times is not sent a fourth time", async () => {
    const { visitor, base } = await fillIn();
    for (let turn = 0; turn < 2; turn += 1) {
      expect(locationOf(await visitor.post(`${base}/4`, { action: "resend" }))).toBe(`${base}/4?resent=1`);
    }
    const refused = await visitor.post(`${base}/4`, { action: "resend" });
    expect(refused.status).toBe(429);
    expect(await textOf(refused)).toContain("The link of this order was sent three times");
  });
});

test("of the abandoned ones from one address the longest idle is forgotten, and nobody else's", async () => {
  const mine = new Visitor(gateway.url);
  const myStep = await beginStep(mine);
  const many = new Visitor(gateway.url);
  const steps: string[] = [];
  for (let turn = 0; turn < 21; turn += 1) steps.push(await beginStep(many));
  expect((await many.get(steps[0]!)).status).toBe(409);
  expect((await many.get(steps[1]!)).status).toBe(200);
  expect((await mine.get(myStep)).status).toBe(200);
});

test("the person who filled it in is told to continue by the mail, once somebody has, and sees nothing of it", async () => {
  const { visitor, base, proof } = await fillIn();
  await visitor.post(`${proof}/1`, { revision: "3", ...what, quantity: "7" });
  for (const step of [1, 3, 4]) {
    const page = await visitor.get(`${base}/${step}`);
    expect(page.status).toBe(403);
    const text = await textOf(page);
    expect(text).toContain("This order continues with the link in its mail");
    expect(text).not.toMatch(/initech|Bea|7 ×/i);
  }
  expect((await visitor.post(`${base}/3`, { revision: "4", ...who() })).status).toBe(403);
});

describe("nothing can be ordered", () => {
  test.each(["globex", "default", "nowhere", "%00", "..%2f"])("where the wizard is closed (%s)", async (workspace) => {
    const answer = await new Visitor(gateway.url).get(`/new/${workspace}`);
    expect(answer.status).toBe(404);
    expect(await textOf(answer)).toContain("Nothing can be ordered here");
  });

  test.each([
    ["forged", `acme/${"a".repeat(64)}/1`],
    ["short", "acme/abc/1"],
    ["no such step", `acme/${"a".repeat(64)}/5`],
    ["another workspace's", `globex/${"a".repeat(64)}/4`],
  ])("with a token that is %s", async (_what, path) => {
    const visitor = new Visitor(gateway.url);
    const shown = await visitor.get(`/new/${path}`);
    expect(shown.status).toBe(404);
    expect(await textOf(shown)).toContain("This link is not valid");
    expect((await visitor.post(`/new/${path}`, { revision: "0", ...what })).status).toBe(404);
  });

  test.each([
    ["no revision", { ...what }],
    ["a revision that is not a number", { ...what, revision: "one" }],
    ["a negative revision", { ...what, revision: "-1" }],
  ])("with a form that was tampered with: %s", async (_what, form) => {
    const visitor = new Visitor(gateway.url);
    const before = await size();
    const answer = await visitor.post(locationOf(await visitor.get("/new/acme")), form);
    expect(answer.status).toBe(400);
    expect(await size()).toEqual(before);
  });

  test("from another site", async () => {
    const visitor = new Visitor(gateway.url);
    const first = locationOf(await visitor.get("/new/acme"));
    const answer = await visitor.post(first, { revision: "0", ...what }, { "sec-fetch-site": "cross-site" });
    expect(answer.status).toBe(403);
  });
});

test("no token of the wizard is in a log line, a payload or a metric", async () => {
  const { token, proof } = await fillIn();
  await new Visitor(gateway.url).get(`${proof}/4`);
  const payloads = JSON.stringify(await mails());
  expect(payloads).toContain("{{draft_link}}");
  for (const text of [JSON.stringify(gateway.log), payloads]) {
    expect(text).not.toContain(token);
    expect(text).not.toContain(tokenIn(`${proof}/4`));
  }
});
