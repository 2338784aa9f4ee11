/** Paying over real HTTP: from the customer's page to Stripe's and back, and what the page says then. */
import { describe, expect, test } from "vitest";
import { answerCheckout } from "../../billing/wizard.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { startTestGateway } from "../harness.ts";
import { startPaying, words } from "../paying.ts";
import { Visitor } from "../visitor.ts";

const { workflow, offer, say } = await startPaying();
const gateway = await startTestGateway(workflow.db, {
  dependencies: { trustedProxies: 1, payments: { waitMs: 4_000 } },
});
const hasty = await startTestGateway(workflow.db, { dependencies: { trustedProxies: 1, payments: { waitMs: 50 } } });
const safe = await startTestGateway(workflow.db, {
  dependencies: { trustedProxies: 1, publicUrl: "https://capacity.acme.example", payments: { waitMs: 50 } },
});

const stripe = "https://checkout.stripe.com/c/pay/cs_test";
const locationOf = (response: Response): string => response.headers.get("location") ?? "";
let customers = 0;
const customer = () => ({ customer: { name: "Initech", email: `cfo${(customers += 1)}@initech.example` } });

/** An offer whose customer has been to Stripe. */
async function begun() {
  const { id, token } = await offer(customer());
  const visitor = new Visitor(hasty.url);
  await visitor.post(`/confirm/${token}`, { decision: "pay" });
  const checkout = await answerCheckout(workflow, id, stripe);
  const read = async (query = "", headers = {}): Promise<string> =>
    words(await (await visitor.get(`/confirm/${token}${query}`, headers)).text());
  return { id, token, visitor, checkout, read };
}

const checkoutsOf = (id: string) =>
  rowsOf(workflow.superuser, "select id from billing.checkouts where request_id = $1", [id]);

describe("an offer with a price", () => {
  test("shows its amount in the reader's format, and asks for payment", async () => {
    const { token } = await offer(customer());
    const visitor = new Visitor(gateway.url);
    const page = await visitor.get(`/confirm/${token}`);
    const html = await page.text();
    expect(words(html)).toContain("Pay USD 1,200.00");
    expect(words(html)).not.toContain("Estimated cost");
    expect(html).not.toContain("Confirm the offer");
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https://checkout.stripe.com;");
    expect(words(await (await visitor.get(`/confirm/${token}`, { "accept-language": "de-DE" })).text())).toContain(
      "Pay 1.200,00 USD",
    );
  });

  test("cannot be confirmed without paying, and can be declined", async () => {
    const { id, token } = await offer(customer());
    const visitor = new Visitor(gateway.url);
    const refused = await visitor.post(`/confirm/${token}`, { decision: "confirm" });
    expect(refused.status).toBe(409);
    expect(words(await refused.text())).toContain("Your answer was not recorded.");
    expect(await workflow.row(id)).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED" });
    expect((await visitor.post(`/confirm/${token}`, { decision: "decline" })).status).toBe(303);
    expect(await workflow.row(id)).toMatchObject({ state: "CANCELLED" });
  });

  test("opens no checkout by GET or HEAD, however often", async () => {
    const { id, token } = await offer(customer());
    const visitor = new Visitor(gateway.url);
    for (const path of ["", "?decision=pay", "/pay", "/pay?try=3"]) {
      await visitor.get(`/confirm/${token}${path}`);
      await visitor.send(`/confirm/${token}${path}`, { method: "HEAD" });
    }
    expect(await checkoutsOf(id)).toEqual([]);
  });

  test("whose time for reading has passed says only that", async () => {
    const { id, token } = await offer(customer());
    await rowsOf(
      workflow.superuser,
      "update capacity.confirmation_tokens set expires_at = now() - interval '91 days' where request_id = $1",
      [id],
    );
    for (const path of ["", "/pay"]) {
      const answer = await new Visitor(gateway.url).get(`/confirm/${token}${path}`);
      expect(answer.status).toBe(410);
      expect(words(await answer.text())).toContain("This page can no longer be read");
    }
  });
});

describe("going to pay", () => {
  test("leads to Stripe's page as soon as Stripe has answered, with a cookie for the way back", async () => {
    const { id, token } = await offer(customer());
    const visitor = new Visitor(gateway.url);
    const answer = visitor.post(`/confirm/${token}`, { decision: "pay" });
    await expect.poll(() => checkoutsOf(id), { timeout: 5_000 }).toHaveLength(1);
    const checkout = await answerCheckout(workflow, id, stripe);
    const sent = await answer;
    expect([sent.status, locationOf(sent)]).toEqual([303, stripe]);
    expect(sent.headers.get("referrer-policy")).toBe("no-referrer");
    expect(sent.headers.getSetCookie()).toEqual([
      `headroom_pay=${token}; Path=/paid/${checkout}; Max-Age=86400; HttpOnly; SameSite=Lax`,
    ]);
    expect(locationOf(await visitor.get(`/paid/${checkout}`))).toBe(`/confirm/${token}?returned=1`);
    expect(locationOf(await visitor.get(`/paid/${checkout}?cancelled=1`))).toBe(`/confirm/${token}?cancelled=1`);
  });

  test("twice at the same time, and again after coming back, is one open checkout", async () => {
    const { id, token } = await offer(customer());
    const visitor = new Visitor(hasty.url);
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post(`/confirm/${token}`, { decision: "pay" })));
    expect(answers.map(locationOf)).toEqual(Array(3).fill(`/confirm/${token}/pay`));
    expect(await checkoutsOf(id)).toHaveLength(1);
    const waiting = await visitor.get(`/confirm/${token}/pay`);
    const page = await waiting.text();
    expect(page).toContain(`<meta http-equiv="refresh" content="3; url=/confirm/${token}/pay?try=1"`);
    expect(words(page)).toContain("Nothing has been charged yet.");
    expect((await visitor.get(`/confirm/${token}/pay?try=40`)).status).toBe(503);
    await answerCheckout(workflow, id, stripe);
    expect(locationOf(await visitor.get(`/confirm/${token}/pay`))).toBe(stripe);
    expect(locationOf(await visitor.post(`/confirm/${token}`, { decision: "pay" }))).toBe(stripe);
    expect(await checkoutsOf(id)).toHaveLength(1);
  });

  test("on https restricts the cookie to https", async () => {
    const { token } = await offer(customer());
    const sent = await new Visitor(safe.url).post(`/confirm/${token}`, { decision: "pay" });
    expect(sent.headers.getSetCookie()[0]).toMatch(/^__Secure-headroom_pay=.*; SameSite=Lax; Secure$/);
  });

  test.each([
    "http://checkout.stripe.com/c/pay/x",
    "https://checkout.stripe.com.evil.example/c/pay/x",
    "https://user:password@checkout.stripe.com/c/pay/x",
    "javascript:alert(1)",
    "//evil.example/",
  ])("never leads to an address that is not Stripe's (%s)", async (url) => {
    const { id, token } = await offer(customer());
    const visitor = new Visitor(hasty.url);
    await visitor.post(`/confirm/${token}`, { decision: "pay" });
    await answerCheckout(workflow, id, url);
    for (const answer of [
      await visitor.get(`/confirm/${token}/pay`),
      await visitor.post(`/confirm/${token}`, { decision: "pay" }),
    ]) {
      expect([answer.status, locationOf(answer)]).toEqual([503, ""]);
      expect(await answer.text()).not.toContain(url);
    }
  });

  test("while another job of the same customer is in progress is refused, and the page names that job", async () => {
    const same = customer();
    const first = await offer(same);
    const second = await offer(same);
    const visitor = new Visitor(hasty.url);
    await visitor.post(`/confirm/${first.token}`, { decision: "pay" });
    await say(first.id, { status: "complete", payment_status: "paid", mode: "payment" });
    const refused = await visitor.post(`/confirm/${second.token}`, { decision: "pay" });
    expect(refused.status).toBe(409);
    expect(words(await refused.text())).toContain(`Another request of yours, ${first.id}, is being provided`);
    expect(await checkoutsOf(second.id)).toEqual([]);
  });

  test("after the deadline, after a cancellation, or without its price is refused with an explanation", async () => {
    const late = await offer(customer());
    await workflow.passDeadline(late.id);
    const cancelled = await offer(customer());
    await workflow.apply(cancelled.id, "CANCEL_APPROVED", "ada");
    const visitor = new Visitor(hasty.url);
    for (const [token, text] of [
      [late.token, "The time to answer this offer has passed."],
      [cancelled.token, "This offer was withdrawn."],
    ] as const) {
      const refused = await visitor.post(`/confirm/${token}`, { decision: "pay" });
      expect(refused.status).toBe(410);
      expect(words(await refused.text())).toContain(text);
    }
    const free = await offer({ ...customer(), size: "S" });
    const refused = await visitor.post(`/confirm/${free.token}`, { decision: "pay" });
    expect(refused.status).toBe(409);
    expect(words(await refused.text())).toContain("This offer has no price");
  });
});

describe("coming back", () => {
  test.each(["", "?cancelled=1"])("without the cookie reveals nothing (%s)", async (query) => {
    const { checkout, id } = await begun();
    for (const address of [checkout, "0".repeat(36), "x"]) {
      const answer = await new Visitor(gateway.url).get(`/paid/${address}${query}`);
      expect(answer.status).toBe(200);
      const page = words(await answer.text());
      expect(page).toContain("open the link in your mail");
      expect(page).not.toContain(id);
    }
  });

  test.each(["nonsense", `${"a".repeat(64)}.EVIL/../.${"b".repeat(64)}`, "a".repeat(65), `${"a".repeat(63)}/`])(
    "with a cookie that is not ours (%s) leads nowhere",
    async (value) => {
      const answer = await new Visitor(gateway.url).get(`/paid/${"0".repeat(36)}`, { cookie: `headroom_pay=${value}` });
      expect([answer.status, locationOf(answer)]).toEqual([200, ""]);
    },
  );

  test("before Stripe has reported waits for it; without a payment says that nothing was charged", async () => {
    const { token, visitor, read } = await begun();
    expect(await read("?returned=1")).toContain("We are checking your payment");
    expect(await (await visitor.get(`/confirm/${token}?returned=1`)).text()).toContain(
      `http-equiv="refresh" content="5"`,
    );
    expect(await read("?cancelled=1")).toContain("You did not pay, and nothing was charged.");
  });
});

describe("the customer's page", () => {
  test("says that a payment is being processed, even after the deadline, and asks for no other", async () => {
    const { id, token, visitor, read } = await begun();
    await say(id, { status: "complete", payment_status: "unpaid", mode: "payment" });
    for (let turn = 0; turn < 2; turn += 1) {
      const page = await read();
      expect(page).toContain("Your payment is being processed");
      expect(page).toContain("please do not pay again");
      expect(page).not.toContain("Pay USD");
      await workflow.passDeadline(id);
    }
    expect(locationOf(await visitor.get(`/confirm/${token}/pay`))).toBe(`/confirm/${token}`);
  });

  test("shows what was paid, its receipt, and the progress of the set-up", async () => {
    const { id, token, visitor, read } = await begun();
    await say(id, { status: "complete", payment_status: "paid", mode: "payment" });
    expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING" });
    const page = await read("", { "accept-language": "de" });
    expect(page).toContain("You paid, and with that confirmed it, on");
    expect(page).toContain("Received 1.200,00 USD");
    expect(page).toMatch(/Receipt number [0-9A-F]{12}/);
    expect(page).toContain("Being set up");
    expect(page).toContain("Ask Cora at Acme");
    expect(page).toMatch(/This page can be read until \w+/);
    const html = await (await visitor.get(`/confirm/${token}`)).text();
    expect(html).toContain('<meta http-equiv="refresh" content="10"');
    expect(await (await visitor.get(`/confirm/${token}?refresh=off`)).text()).not.toContain('http-equiv="refresh"');
  });

  test("shows plain names of steps and hides everything else that a run reports", async () => {
    const { id, read } = await begun();
    await say(id, { status: "complete", payment_status: "paid", mode: "payment" });
    await rowsOf(
      workflow.superuser,
      `with job as (update provisioning.jobs set state = 'provisioning', attempts = 1 where request_id = $1 returning id),
            run as (insert into provisioning.attempts (job_id, task, number, workspace_id, owner, repo, workflow, status, claimed_at, progress,
                                                       run_id, run_attempt, run_url)
                    select id, 'provision', 1, 'acme', 'o', 'r', 'w', 'claimed', now(), 40, 4711, 1, 'https://github.example/4711' from job)
       insert into provisioning.steps (job_id, task, attempt, n, step)
       select id, 'provision', 1, n, step from job, unnest(array['Create the machines', 'ssh root@10.0.0.1', '<b>x</b>']) with ordinality s(step, n)`,
      [id],
    );
    const page = await read();
    expect(page).toContain("Create the machines");
    for (const hidden of ["ssh", "10.0.0.1", "<b>", "4711", "github"]) expect(page).not.toContain(hidden);
  });

  test("shows what goes back when it could not be set up", async () => {
    const { id, read } = await begun();
    await say(id, { status: "complete", payment_status: "paid", mode: "payment" });
    await rowsOf(
      workflow.superuser,
      "select capacity.decide($1, 'PROVISIONING_FAILED', row('system', 'test', 'test')::capacity.actor, '{}')",
      [id],
    );
    const page = await read();
    expect(page).toMatch(/Refund USD 1,200.00 (is on its way back|will go back) to you/);
  });
});
