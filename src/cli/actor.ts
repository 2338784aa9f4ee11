/** The person at the command line, for operators' actions, in which no member is named. */
import { userInfo } from "node:os";
import { Option } from "commander";
import { parseText } from "./options.ts";

export interface ActorOption {
  readonly actor: string;
}

/** `cli:` and the login name, or the number of a user who has no name on this system. */
function defaultActor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:${process.getuid?.() ?? "unknown"}`;
  }
}

export function actorOption(): Option {
  return new Option("--actor <name>", "who does this").default(defaultActor()).argParser(parseText(200));
}
