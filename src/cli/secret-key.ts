/** The option that holds the key of the database's secrets, shared by every command that needs it. */
import { Option } from "commander";

/** From the environment alone: what stands on a command line is seen by everybody on the machine. */
export function secretKeyOption(): Option {
  return new Option("--secret-key <key>").env("HEADROOM_SECRET_KEY").hideHelp();
}
