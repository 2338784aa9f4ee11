/** An end that is not success although everything has been said: the command printed its report, only the code is left. */
export class ExitWith extends Error {
  override readonly name = "ExitWith";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}
