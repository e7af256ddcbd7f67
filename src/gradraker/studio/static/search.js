// Fields that complete the names of nodes, by mouse and by keyboard.
import { make, show } from "./basics.js";
import { graph } from "./graph_view.js";
import { askNow, isSnapshot } from "./server.js";

const MOST = 12;

async function findNodes(text) {
  const wanted = text.toLocaleLowerCase();
  if (graph.data.is_large && !isSnapshot) return (await askNow(`studio/api/search?text=${encodeURIComponent(text)}`)).nodes;
  const begins = [];
  const contains = [];
  for (const name of graph.data.names) {
    const folded = name.toLocaleLowerCase();
    if (folded.startsWith(wanted)) begins.push(name);
    else if (contains.length < MOST && folded.includes(wanted)) contains.push(name);
    if (begins.length >= MOST) break;
  }
  return [...begins, ...contains].slice(0, MOST);
}

let count = 0;
// `choose` gets the name; the field keeps it if `keeps`, else it is cleared.
export function completeNames(input, list, choose, { keeps = false } = {}) {
  const prefix = `match-${count++}`;
  let names = [];
  let active = -1;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    active = -1;
  };
  const take = (name) => {
    input.value = keeps ? name : "";
    input.dataset.node = name;
    close();
    choose(name);
  };
  const mark = (next) => {
    active = next;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    if (active >= 0) input.setAttribute("aria-activedescendant", `${prefix}-${active}`);
  };
  input.addEventListener("input", async () => {
    const text = input.value;
    delete input.dataset.node;
    if (!text.trim()) return close();
    const found = await findNodes(text);
    if (input.value !== text) return undefined;
    names = found;
    list.replaceChildren(...(names.length
      ? names.map((name, i) => make("li", { role: "option", id: `${prefix}-${i}`, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); take(name); } }, make("bdi", {}, show(name))))
      : [make("li", { role: "option", "aria-disabled": "true", class: "none" }, "No node has this name")]));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    return mark(names.length ? 0 : -1);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && !list.hidden) mark(Math.min(names.length - 1, active + 1));
    else if (event.key === "ArrowUp" && !list.hidden) mark(Math.max(0, active - 1));
    else if (event.key === "Enter" && !list.hidden && active >= 0) take(names[active]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  input.addEventListener("blur", () => setTimeout(close, 100));
}

// A field with its own list, for forms.
export function makeNameField(id, label, choose = () => {}) {
  const input = make("input", { id, role: "combobox", "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false" });
  const list = make("ul", { id: `${id}-list`, role: "listbox", "aria-label": label, hidden: true });
  completeNames(input, list, choose, { keeps: true });
  return { input, field: make("div", { class: "field search" }, make("label", { for: id }, label), input, list) };
}
