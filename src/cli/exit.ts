/** Ends a command with an exit code after it has printed its own report: nothing more is printed. */
export class ExitWith extends Error {
  override readonly name = "ExitWith";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}
