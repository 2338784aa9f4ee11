/** Why a customer is not asked, and the commands that change that. */
import type { CapacityRequest, Unasked } from "../../../capacity/index.ts";
import { printLine } from "../../output.ts";

const reasons: Readonly<Record<Unasked, string>> = {
  no_address: "their e-mail address is not known",
  bad_address: "the e-mail address that was given for them is not valid",
  no_public_url: "the workspace has no public address for their link",
  mail_failed: "the mail with their link could not be delivered",
  not_sent: "no link has been sent to them yet",
  erased: "their data has been erased",
};

/** `by`: a member who may do it. Without an id, the request does not exist yet. */
export function showUnasked(
  unasked: Unasked | null,
  { id, state, commercialOwner }: Partial<Pick<CapacityRequest, "id" | "state" | "commercialOwner">>,
  by = commercialOwner ?? "<owner>",
): void {
  if (unasked === null) return;
  const asks = id !== undefined && state === "CUSTOMER_CONFIRMATION_REQUIRED";
  printLine(`The customer ${asks ? "has not been asked" : "will not be asked by mail"}: ${reasons[unasked]}.`);
  for (const line of remedies(unasked, id, asks, by)) printLine(`  ${line}`);
}

function remedies(unasked: Unasked, id: string | undefined, asks: boolean, by: string): string[] {
  const link = `headroom request link ${id ?? "<id>"} --as ${by}`;
  const address = `headroom request address ${id ?? "<id>"} name@example.com --as ${by}`;
  switch (unasked) {
    case "no_address":
    case "bad_address":
      return [id === undefined ? "Pass --email name@example.com." : address];
    case "no_public_url":
      return ["headroom policy settings --public-url https://…", ...(asks ? [link] : [])];
    case "mail_failed":
      return [link, `${address}   (to another address)`];
    case "not_sent":
      return [link];
    default:
      return [];
  }
}
