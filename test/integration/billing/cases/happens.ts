/** The steps that most cases are made of, under short names. */
import type { StepName } from "./steps.ts";

export const open = "The customer opens Stripe's page." satisfies StepName;
export const again = "The customer opens Stripe's page again." satisfies StepName;
export const pays = "The customer pays by card." satisfies StepName;
export const debit = "The customer pays by a debit that takes days." satisfies StepName;
export const arrives = "The debit arrives." satisfies StepName;
export const fails = "The debit fails." satisfies StepName;
export const heldUp = "Stripe's events are held up." satisfies StepName;
export const lost = "Stripe's events are lost." satisfies StepName;
export const asUsual = "Stripe's events arrive as usual again." satisfies StepName;
export const come = "The events arrive." satisfies StepName;
export const reversed = "The events arrive, the last one first." satisfies StepName;
export const sweep = "The sweep runs." satisfies StepName;
export const cancels = "The requester cancels the request." satisfies StepName;
export const setUp = "The capacity is set up." satisfies StepName;
export const compare = "What Stripe has is compared with the books." satisfies StepName;
export const back = "The refund arrives." satisfies StepName;
