/**
 * The e-mail rail's codes, for both of its transports: what a reply, a status or a failure means, in one table.
 *
 * A mail server accepts a mail with its reply to the end of the content, and not before. So whatever fails before the content was
 * never sent, and only a failure between the two is uncertain. From a failing Postal (5xx), only Postal's own error about the
 * mail or the key proves that it was not accepted.
 *
 * Owns: which outcome each is. Does not own: sending, or wording the reason.
 */
import { codeOfAnyStatus, exchangeCodes, statusCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";
import type { PauseRequest } from "../../contract/rail.ts";

export const emailCodes = {
  ...exchangeCodes,
  ...statusCodes,
  token_unavailable: { outcome: "retry", meaning: "The confirmation link could not be made." },
  token_gone: { outcome: "rejected", meaning: "The confirmation that the mail asks for is no longer there." },
  address_invalid: { outcome: "rejected", meaning: "No mail can be sent to this address." },
  recipient_refused: { outcome: "rejected", meaning: "The mail server knows no such mailbox, or it was closed." },
  message_too_large: { outcome: "rejected", meaning: "The mail is larger than the server takes." },
  auth_failed: { outcome: "retry", meaning: "The mail server does not accept the user name and password." },
  smtp_protocol: { outcome: "retry", meaning: "The server does not speak SMTP as it should, and took nothing over." },
  smtp_session: { outcome: "retry", meaning: "The mail server does not talk to us." },
  smtp_4xx: { outcome: "retry", meaning: "The mail server takes no mail for now." },
  smtp_5xx: { outcome: "rejected", meaning: "The mail server refuses the mail." },
  postal_refused: { outcome: "rejected", meaning: "Postal refuses the mail." },
  postal_access_denied: { outcome: "retry", meaning: "Postal does not accept the key." },
  postal_suspended: { outcome: "retry", meaning: "The mail server is suspended in Postal." },
  postal_sender: {
    outcome: "retry",
    meaning: "Postal does not let this mail server send for the address in MAIL_FROM.",
  },
  http_429: { outcome: "retry", meaning: "Postal asks for quiet." },
  http_other: { outcome: "retry", meaning: "A status that Postal does not use: a proxy, or the wrong address?" },
} as const satisfies Record<string, RailCode>;

export type EmailCodeName = keyof typeof emailCodes;

/** What a transport reports when it did not send. */
export interface EmailFailure extends PauseRequest {
  readonly kind: "failure";
  readonly code: EmailCodeName;
  /** Numbers and words of the protocol, which are safe to store because they never quote the mail. */
  readonly status?: string;
}

export type EmailResult = { readonly kind: "sent"; readonly code: string; readonly reference?: string } | EmailFailure;

const postalErrors: ReadonlyMap<string, EmailCodeName> = new Map([
  ["AccessDenied", "postal_access_denied"],
  ["InvalidServerAPIKey", "postal_access_denied"],
  ["ServerSuspended", "postal_suspended"],
  ["UnauthenticatedFromAddress", "postal_sender"],
  ["FromAddressMissing", "postal_sender"],
]);

/** `data.code` of Postal's answer with the status `error`. */
export function codeOfPostalError(code: string | undefined): EmailCodeName {
  return (code === undefined ? undefined : postalErrors.get(code)) ?? "postal_refused";
}

const postalRefusals: ReadonlySet<string> = new Set([
  ...postalErrors.keys(),
  "ValidationError",
  "NoRecipients",
  "NoContent",
  "TooManyToAddresses",
  "TooManyCCAddresses",
  "TooManyBCCAddresses",
  "AttachmentMissingName",
  "AttachmentMissingData",
]);

/** Whether the word is about a check that Postal makes before it accepts a mail. */
export function isPostalRefusal(code: string | undefined): boolean {
  return code !== undefined && postalRefusals.has(code);
}

const codesByStatus: ReadonlyMap<number, EmailCodeName> = new Map([
  [401, "postal_access_denied"],
  [403, "postal_access_denied"],
  [413, "message_too_large"],
  [429, "http_429"],
]);

export function codeOfStatus(status: number): EmailCodeName {
  return codesByStatus.get(status) ?? codeOfAnyStatus(status) ?? "http_other";
}

/** The code of a reply other than success. */
export function codeOfReply(reply: number): EmailCodeName {
  return reply >= 500 && reply <= 599 ? "smtp_5xx" : "smtp_4xx";
}

/**
 * Whether a reply says that the address does not work and never will: no mailbox, no host, moved away (5.1.x without those about the sender),
 * or a mailbox that was closed (5.2.1). A full mailbox, a policy or a reputation says nothing about the address. Without an enhanced
 * status, only 551 and 553 are used, which name the mailbox; 550 is used for policies as well.
 */
export function isAboutRecipient(status: string, toRecipient: boolean): boolean {
  const [reply, enhanced] = status.split(/[ -]/);
  if (reply === undefined || !/^5\d\d$/.test(reply)) return false;
  if (enhanced !== undefined) return /^5\.(1\.(0|1|2|3|6|10)|2\.1)$/.test(enhanced);
  return toRecipient && ["551", "553"].includes(reply);
}
