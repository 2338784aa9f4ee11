/**
 * Billing: payments, and whether they add up.
 */
export { verifyPayments, type VerifiedPayments, type VerifyPaymentsOptions } from "./verify.ts";
