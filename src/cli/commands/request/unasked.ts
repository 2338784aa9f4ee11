/** What the command line says about a customer who is not asked, and which commands mend it. */
import type { CapacityRequest, Unasked } from "../../../capacity/index.ts";
import { printLine } from "../../output.ts";

const reasons: Readonly<Record<Unasked, string>> = {
  no_address: "no e-mail address of theirs is known",
  bad_address: "what is given as their e-mail address is none",
  no_public_url: "the workspace has no public address for their link",
  mail_failed: "the mail with their link was given up",
  not_sent: "no link has been sent to them yet",
  erased: "what was known about them has been erased",
};

/** `by`: somebody who may do it. Without an id the request is not made yet. */
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
