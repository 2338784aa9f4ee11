/** Jobs and the runs of their workflows. */
import { runPlanted } from "../kit/planted.ts";
import type { Subject } from "../kit/subject.ts";
import { planted } from "./planted.ts";
import { runProvisioning } from "./run.ts";
import { provisioningSettings } from "./settings.ts";

export const provisioning: Subject = {
  flag: { name: "provisioning", about: "attacks jobs and the runs of their workflows, instead of the delivery engine" },
  run: (flags, hooks) => runProvisioning(provisioningSettings(flags), hooks),
  planted: (options) => runPlanted(planted, options),
};
