/** Lives of payments, compared with Stripe's own books. */
import { runPlanted } from "../../kit/planted.ts";
import type { Subject } from "../../kit/subject.ts";
import { planted } from "./planted.ts";
import { livesSettings, runLives } from "./run.ts";

export const lives: Subject = {
  flag: {
    name: "lives",
    about: "plays this many seeded lives of payments, over months, each compared with Stripe's own books",
    takesNumber: true,
  },
  partOf: "payments",
  run: (flags, hooks) => runLives(livesSettings({ ...flags, lives: flags.lives ?? 1 }), hooks),
  planted: (options) => runPlanted(planted, options),
};
