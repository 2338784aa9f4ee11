/** The delivery engine: the default subject. */
import { runPlanted } from "../kit/planted.ts";
import type { Subject } from "../kit/subject.ts";
import { planted } from "./planted.ts";
import { runEngine } from "./run.ts";
import { ordinarySettings } from "./settings.ts";

export const engine: Subject = {
  run: (flags, hooks) => runEngine(ordinarySettings(flags), hooks),
  planted: (options) => runPlanted(planted, options),
};
