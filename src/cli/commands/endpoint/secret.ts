/** How a new secret is shown: once, with what to do with it. */
import { printLine } from "../../output.ts";

export function showSecret(secret: string): void {
  printLine();
  printLine(`  ${secret}`);
  printLine();
  printLine(
    "This is the secret that its requests are signed with. Give it to the receiver now: it is not shown again.",
  );
}
