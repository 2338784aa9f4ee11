/**
 * The one script of the stand-ins' pages. Every page works without it; with it, changes appear automatically.
 *
 * A region is not replaced while somebody types in it, unless its version shows that it now holds something else.
 */
export const script = `
const regions = () => [...document.querySelectorAll("[data-live]")];
const writing = (region) => region.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
const nearEnd = () => innerHeight + scrollY > document.documentElement.scrollHeight - 200;
let under = false, again = false;

function showModals() {
  for (const dialog of document.querySelectorAll("dialog.modal[open]:not([data-shown])")) {
    dialog.dataset.shown = "yes";
    dialog.close();
    dialog.showModal();
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); dialog.querySelector("[data-close]")?.click(); });
    (dialog.querySelector("[aria-invalid=true]") ?? dialog.querySelector("input:not([type=hidden]), textarea, select, button"))?.focus();
  }
  for (const shade of document.querySelectorAll(".shade")) shade.remove();
}

async function refresh() {
  if (under) { again = true; return; }
  under = true;
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!response.ok) return;
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    const atEnd = nearEnd();
    for (const region of regions()) {
      const fresh = next.getElementById(region.id);
      if (!fresh) continue;
      const another = fresh.dataset.version !== region.dataset.version;
      if (!another && (writing(region) || region.dataset.markup === fresh.innerHTML)) continue;
      const markup = fresh.innerHTML;
      region.dataset.version = fresh.dataset.version ?? "";
      region.replaceChildren(...fresh.childNodes);
      region.dataset.markup = markup;
    }
    showModals();
    if (atEnd && document.querySelector("[data-follow]")) scrollTo(0, document.documentElement.scrollHeight);
  } finally {
    under = false;
    if (again) { again = false; refresh(); }
  }
}

for (const region of regions()) region.dataset.markup = region.innerHTML;
showModals();
if (document.querySelector("[data-follow]")) scrollTo(0, document.documentElement.scrollHeight);
for (const select of document.querySelectorAll("select[data-submit]")) select.addEventListener("change", () => select.form.requestSubmit());
if (regions().length > 0) {
  const live = new EventSource("/_live");
  live.addEventListener("message", refresh);
  // Otherwise changes before the first event, or while the connection was lost, would be missed.
  live.addEventListener("open", refresh);
}
`;
