/** `headroom request address | link`: the customer's address, and sending them the link again. */
import type { Command } from "commander";
import { sendLink, setAddress, type Asking } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { asOption, parseRequestId, requireMember, type ActingOptions } from "../../acting.ts";
import { parseAddress } from "./terms.ts";
import { showUnasked } from "./unasked.ts";

export function registerCustomer(request: Command): void {
  addCommon(
    request
      .command("address")
      .description("set the customer's e-mail address, and mail the link if the request waits on the customer")
      .argument("<id>", "request id", parseRequestId)
      .argument("<address>", "the new address; a link that was sent to another one is no longer valid", parseAddress)
      .addOption(asOption()),
  ).action(runAddress);
  addCommon(
    request
      .command("link")
      .description("mail the customer the link again")
      .argument("<id>", "request id", parseRequestId)
      .addOption(asOption()),
  ).action(runLink);
}

async function runAddress(id: string, address: string, options: ActingOptions): Promise<void> {
  const as = requireMember(options);
  show(
    orFail(await withDatabase(options, "request address", (client) => setAddress(client, id, address, as))),
    as,
    options,
  );
}

async function runLink(id: string, options: ActingOptions): Promise<void> {
  const as = requireMember(options);
  show(orFail(await withDatabase(options, "request link", (client) => sendLink(client, id, as))), as, options);
}

function show(asking: Asking, as: string, options: ActingOptions): void {
  if (options.json === true) return printJson(asking);
  const { requestId: id, nextLinkAt } = asking;
  if (asking.outcome === "repeated") printLine(`${id}: this is the customer's address already. Nothing was changed.`);
  else if (asking.mailed) printLine(`${id}: the link is on its way to the customer.`);
  else printLine(`${id}: the customer's address is set.`);
  showUnasked(
    asking.customerUnasked,
    { id, ...(nextLinkAt === null ? {} : { state: "CUSTOMER_CONFIRMATION_REQUIRED" }) },
    as,
  );
  if (nextLinkAt !== null) printLine(`The link can be sent again from ${nextLinkAt.toISOString()} on.`);
}
