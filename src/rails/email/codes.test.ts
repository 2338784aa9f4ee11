import { expect, test } from "vitest";
import { codeOfPostalError, codeOfReply, codeOfStatus, emailCodes, isAboutRecipient } from "./codes.ts";
import { domainOf } from "./config.ts";

test("a reply says whether to try again: the fours pass, the fives do not", () => {
  for (const reply of [421, 450, 451, 452]) expect(emailCodes[codeOfReply(reply)].outcome).toBe("retry");
  for (const reply of [500, 550, 552, 554]) expect(emailCodes[codeOfReply(reply)].outcome).toBe("rejected");
});

test("a failing application and a gateway that lost sight of it prove nothing", () => {
  const outcomes = [500, 502, 503, 504].map((status) => emailCodes[codeOfStatus(status)].outcome);
  expect(outcomes).toEqual(["unknown", "unknown", "unknown", "unknown"]);
});

test("what Postal says about our settings is tried again, and about the mail is not", () => {
  expect(emailCodes[codeOfPostalError("AccessDenied")].outcome).toBe("retry");
  expect(emailCodes[codeOfPostalError("NoContent")].outcome).toBe("rejected");
  expect(codeOfPostalError(undefined)).toBe("postal_refused");
});

test("the sender's domain is found with a name and without", () => {
  expect(domainOf("Headroom <capacity@mail.example.com>")).toBe("mail.example.com");
  expect(domainOf("capacity@example.com")).toBe("example.com");
});

test.each<[string, boolean, boolean]>([
  ["550 5.1.1", true, true],
  ["550-5.1.1", true, true],
  ["550 5.1.10", true, true],
  ["550 5.2.1", false, true],
  ["553 5.1.3", false, true],
  ["551", true, true],
  ["551", false, false],
  ["550", true, false],
  ["550 5.7.1", true, false],
  ["552 5.2.2", true, false],
  ["550 5.1.8", true, false],
  ["450 4.1.1", true, false],
  ["451", true, false],
  ["", true, false],
])("the reply %j, to the recipient %s, says that the address does not work: %s", (status, toRecipient, wanted) => {
  expect(isAboutRecipient(status, toRecipient)).toBe(wanted);
});
