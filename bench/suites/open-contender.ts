/** Loads only the contender that this process measures, so that no other's code shares its heap. */
import type { Contender, ContenderOptions } from "../contenders/contender.ts";

export async function openContender(name: string, options: ContenderOptions): Promise<Contender> {
  switch (name) {
    case "headroom":
      return (await import("../contenders/headroom.ts")).openHeadroom(options);
    case "graphile-worker":
      return (await import("../contenders/graphile.ts")).openGraphile(options);
    case "pg-boss":
      return (await import("../contenders/pg-boss.ts")).openPgBoss(options);
    default:
      throw new Error(`there is no contender "${name}"`);
  }
}
