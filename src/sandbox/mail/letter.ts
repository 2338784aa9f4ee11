/** The HTML of a mail as a separate page. It is untrusted: it may run nothing, load nothing, and links may only open a new page. */

export function letterResponse(html: string): Response {
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups allow-popups-to-escape-sandbox; base-uri 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}
