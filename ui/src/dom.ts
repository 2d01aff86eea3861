// Elements. Text goes into text nodes alone, so that nothing an object says is ever markup.

export type Child = Node | string | number | null | undefined | false;
export interface Props {
  [attribute: string]: string | number | boolean | ((event: Event) => void) | undefined;
}

// What would change the order or the look of the text around it is shown as its code.
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function fill(element: Element, props: Props, children: Child[]): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : printable(String(value)));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(printable(String(child))));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, props, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, props, children);
  return element;
}

// Puts `content` in the place of what `into` has. Whatever has the focus, is open or was scrolled, by its data-key, stays so.
export function show(into: Element, ...content: Child[]): void {
  const focused = into.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
  const open = new Set<string>();
  for (const details of into.querySelectorAll("details[open][data-key]")) open.add(details.getAttribute("data-key")!);
  const scrolled = new Map<string, [number, number]>();
  for (const one of into.querySelectorAll("[data-key]")) {
    if (one.scrollTop || one.scrollLeft) scrolled.set(one.getAttribute("data-key")!, [one.scrollTop, one.scrollLeft]);
  }
  into.replaceChildren();
  fill(into, {}, content);
  for (const details of into.querySelectorAll("details[data-key]")) {
    if (open.has(details.getAttribute("data-key")!)) details.setAttribute("open", "");
  }
  if (scrolled.size > 0) {
    for (const one of into.querySelectorAll("[data-key]")) {
      const place = scrolled.get(one.getAttribute("data-key")!);
      if (place) [one.scrollTop, one.scrollLeft] = place;
    }
  }
  if (!focused) return;
  for (const element of into.querySelectorAll<HTMLElement | SVGElement>("[data-key]")) {
    if (element.getAttribute("data-key") === focused) return element.focus({ preventScroll: true });
  }
}

export function table(caption: string, heads: string[], rows: Child[][]): HTMLElement {
  const head = h("tr", {}, ...heads.map((one) => h("th", { scope: "col" }, one)));
  const body = rows.map((row) =>
    h("tr", {}, ...row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", { "data-head": heads[i] ?? "" }, cell)))),
  );
  // A wide one is scrolled by keyboard, too.
  return h(
    "div",
    { class: "wide", tabindex: 0, "data-key": `wide ${caption}`, role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, ...body)),
  );
}
