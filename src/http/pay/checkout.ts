/**
 * The way to Stripe's page: the checkout is committed, a relay asks Stripe for its page, and this module waits briefly for the address.
 *
 * Owns: the wait, which holds no connection, and which addresses a customer may be sent to. Does not own: the checkout (the database).
 */
import { z } from "zod";
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import { pause } from "../../db/wait/pause.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { RouteContext } from "../route.ts";
import { returnCookie, type Return } from "./return-cookie.ts";
import { parseUrl } from "../../db/parse-url.ts";

export const checkoutSchema = z.object({
  checkout_id: z.uuid(),
  state: z.string(),
  url: z.string().nullable(),
});
export type Checkout = z.infer<typeof checkoutSchema>;

const defaults = { checkoutOrigins: ["https://checkout.stripe.com"], waitMs: 8_000 } as const;

/** Where payment forms may lead: for the content security policy, and for the check of the address itself. */
export function checkoutOrigins({ payments }: HttpDependencies): readonly string[] {
  return payments?.checkoutOrigins ?? defaults.checkoutOrigins;
}

/** Only a page of Stripe, or of its stand-in. The address comes from our own database, and is still checked. */
export function isCheckoutUrl(address: string, origins: readonly string[]): boolean {
  const url = parseUrl(address);
  return url !== null && url.username === "" && url.password === "" && origins.includes(url.origin);
}

/** The newest checkout of an offer; undefined when there is none. Reads, and changes nothing. */
export async function newestCheckout(context: RouteContext, token: string): Promise<Checkout | undefined> {
  const answer = await context.transaction((client) => call(client, "public.get_checkout", { p_token: token }), {
    readOnly: true,
    request: { method: context.method, path: "/confirm/:token/pay", headers: {} },
    secrets: true,
  });
  return answer === null ? undefined : checkoutSchema.parse(answer);
}

/** Polls in short transactions until Stripe has answered; undefined if it has not in time. */
async function waitForAnswer(context: RouteContext, token: string, waitMs: number): Promise<Checkout | undefined> {
  const giveUp = AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]);
  for (let gapMs = 100; !giveUp.aborted; gapMs = Math.min(gapMs * 1.5, 1_000)) {
    await pause(gapMs, giveUp);
    if (giveUp.aborted) return undefined;
    const checkout = await newestCheckout(context, token);
    if (checkout?.state !== "asked") return checkout;
  }
  return undefined;
}

/** The answer to a customer who wants to pay: a redirect to Stripe's page, or to the page that waits for it. */
export async function sendToPay(
  context: RouteContext,
  dependencies: HttpDependencies,
  checkout: Checkout,
  back: Return,
): Promise<Response> {
  const waitMs = dependencies.payments?.waitMs ?? defaults.waitMs;
  const found = checkout.state === "asked" ? await waitForAnswer(context, back.token, waitMs) : checkout;
  const url = found?.url ?? undefined;
  if (url !== undefined && !isCheckoutUrl(url, checkoutOrigins(dependencies))) throw wrongAddress();
  return new Response(null, {
    status: 303,
    headers: {
      // The waiting page also handles other states, such as a payment that is being processed.
      location: url ?? `/confirm/${back.token}/pay`,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "set-cookie": returnCookie(dependencies.publicUrl, checkout.checkout_id, back),
    },
  });
}

export function wrongAddress(): HeadroomError {
  return new HeadroomError("not_configured", "The payment cannot be made here at the moment. Nothing was charged.", {
    detail: "the address of the Checkout session is not one of the origins that are allowed",
    hint: "Try again later, or ask the person who sent you the link.",
  });
}
