/**
 * Whether the mail server or Postal lets us in. No mail is sent: with SMTP the session ends after the login, and Postal is asked about a
 * message that it cannot have, which it answers only to a key that it knows.
 */
import { requireSettings } from "../fields.ts";
import { problemOf, type AccessCheck } from "../access-check.ts";
import { emailCodes, type EmailFailure } from "./codes.ts";
import { emailSettingsSchema, type EmailSettings } from "./config.ts";
import { checkPostalAccess } from "./postal.ts";
import { checkSmtpAccess } from "./smtp.ts";

export async function checkEmailAccess(given: EmailSettings, signal: AbortSignal): Promise<AccessCheck> {
  const { transport } = requireSettings("email", emailSettingsSchema, given);
  const failure =
    transport.kind === "postal"
      ? await checkPostalAccess(transport, signal)
      : await checkSmtpAccess(transport.url, signal);
  if (failure === undefined) return { kind: "answers", as: new URL(transport.url).host };
  return problemOf(failure.code, emailCodes[failure.code].meaning, failure.status, refusals);
}

const refusals: readonly EmailFailure["code"][] = ["auth_failed", "postal_access_denied", "postal_suspended"];
