/**
 * The cookie that leads a browser back from Stripe to its customer's page: Stripe never gets the link, so the browser keeps it.
 *
 * One cookie for each checkout, sent only to the address that Stripe returns to. `Lax`, because coming back is a navigation
 * from another site.
 */

export interface Return {
  /** The token of the customer's link. */
  readonly token: string;
  /** The address of the wizard's last step, for a customer who came from there. */
  readonly wizard?: { readonly workspaceId: string; readonly token: string } | undefined;
}

const maxAgeSeconds = 86_400;
const shape = /^([A-Za-z0-9_-]{64})(?:\.([a-z0-9][a-z0-9-]{0,62})\.([A-Za-z0-9_-]{64}))?$/;

function nameOf(publicUrl: string): string {
  return publicUrl.startsWith("https:") ? "__Secure-headroom_pay" : "headroom_pay";
}

export function returnCookie(publicUrl: string, checkoutId: string, { token, wizard }: Return): string {
  const value = wizard === undefined ? token : `${token}.${wizard.workspaceId}.${wizard.token}`;
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  return `${nameOf(publicUrl)}=${value}; Path=/paid/${checkoutId}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The content of the cookie; undefined if there is none, or if it is not ours. */
export function readReturn(request: Request, publicUrl: string): Return | undefined {
  const name = `${nameOf(publicUrl)}=`;
  const values = (request.headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .map((pair) => pair.slice(name.length));
  const [, token, workspaceId, wizardToken] = shape.exec(values.length === 1 ? (values[0] ?? "") : "") ?? [];
  if (token === undefined) return undefined;
  if (workspaceId === undefined || wizardToken === undefined) return { token };
  return { token, wizard: { workspaceId, token: wizardToken } };
}
