/** A refusal as Stripe words it. */
export class StripeRefusal extends Error {
  override readonly name = "StripeRefusal";
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whether the call had started its work, so that its result is remembered under its key. */
  readonly hadBegun: boolean;

  constructor(status: number, message: string, fields: Readonly<Record<string, unknown>> = {}, hadBegun = false) {
    super(message);
    this.status = status;
    this.fields = { type: "invalid_request_error", ...fields };
    this.hadBegun = hadBegun;
  }
}

/** In the path it is 404, in a parameter 400. */
export function missing(what: string, id: string, param = "id"): StripeRefusal {
  return new StripeRefusal(param === "id" ? 404 : 400, `No such ${what}: '${id}'`, { code: "resource_missing", param });
}
