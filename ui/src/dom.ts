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

// Puts `nodes` in the place of what `into` has, and leaves what is the same: a person may have selected it, or a screen reader
// may be there. A listener stays with an element that stays, so it knows nothing of what was shown when it was made.
function merge(into: Element, nodes: Node[]): void {
  const old = [...into.childNodes];
  nodes.forEach((node, i) => {
    const was = old[i];
    if (!was) into.append(node);
    else if (was.isEqualNode(node)) return;
    else if (was instanceof Element && was.cloneNode(false).isEqualNode(node.cloneNode(false))) merge(was, [...node.childNodes]);
    else was.replaceWith(node);
  });
  for (const one of old.slice(nodes.length)) one.remove();
}

// Puts `content` in the place of what `into` has. Whatever has the focus, was opened, closed or scrolled, by its data-key, stays so.
export function show(into: Element, ...content: Child[]): void {
  const focused = into.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
  const kept = new Map<string, boolean>(); // what is open, and what a person has closed
  for (const details of into.querySelectorAll<HTMLDetailsElement>("details[data-key]")) {
    if (details.open || details.hasAttribute("data-opens")) kept.set(details.getAttribute("data-key")!, details.open);
  }
  const scrolled = new Map<string, [number, number]>();
  for (const one of into.querySelectorAll("[data-key]")) {
    if (one.scrollTop || one.scrollLeft) scrolled.set(one.getAttribute("data-key")!, [one.scrollTop, one.scrollLeft]);
  }
  const made = document.createElement("div");
  fill(made, {}, content);
  for (const details of made.querySelectorAll<HTMLDetailsElement>("details[data-key]")) {
    details.open = kept.get(details.getAttribute("data-key")!) ?? details.open;
  }
  merge(into, [...made.childNodes]);
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
