/** Payments, refunds and disputes. */
import { runPlanted } from "../kit/planted.ts";
import type { Subject } from "../kit/subject.ts";
import { planted } from "./planted.ts";
import { runPayments } from "./run.ts";
import { paymentsSettings } from "./settings.ts";

export const payments: Subject = {
  flag: {
    name: "payments",
    about: "attacks payments, refunds and disputes, with hostile logins, instead of the delivery engine",
  },
  run: (flags, hooks) => runPayments(paymentsSettings(flags), hooks),
  planted: (options) => runPlanted(planted, options),
};
