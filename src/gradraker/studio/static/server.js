// Questions to the server, or to the answers that a snapshot holds.
import { byId } from "./basics.js";

const holder = byId("answers");
const held = holder ? JSON.parse(holder.textContent) : null;
export const isSnapshot = held !== null;

const TOKEN = "gradraker-token";
export function keepToken(token) {
  if (token) sessionStorage.setItem(TOKEN, token);
}
export const hasToken = () => !isSnapshot && sessionStorage.getItem(TOKEN) !== null;

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function fetchJson(path, options) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", ...options });
  } catch {
    throw new Refused("the server does not answer", 0);
  }
  const found = await answer.json();
  if (!answer.ok) throw new Refused(found.error ?? "the server refused", answer.status);
  return checkAnswer(found);
}

// What a model cannot say is an answer with a reason.
function checkAnswer(found) {
  if (typeof found.problem === "string") throw new Refused(found.problem, 200);
  return found;
}

function findHeld(path) {
  if (Object.hasOwn(held, path)) return checkAnswer(held[path]);
  throw new Refused("this snapshot does not hold that; open the studio for it", 404);
}

// Answers of one state are kept until the next one comes.
let kept = new Map();
export function forgetAnswers() {
  kept = new Map();
}

export function ask(path) {
  if (isSnapshot) return new Promise((resolve) => resolve(findHeld(path)));
  if (!kept.has(path)) {
    const answer = fetchJson(path);
    const own = kept;
    kept.set(path, answer);
    answer.catch(() => own.delete(path));
    if (kept.size > 500) kept.delete(kept.keys().next().value);
  }
  return kept.get(path);
}

// Facts that change all the time are not kept.
export function askNow(path) {
  if (isSnapshot) return new Promise((resolve) => resolve(findHeld(path)));
  return fetchJson(path);
}

export function post(path, body, { isChange = false } = {}) {
  if (isSnapshot) return Promise.reject(new Refused("a snapshot can be looked at, not changed", 405));
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem(TOKEN);
  if (isChange && token) headers.Authorization = `Bearer ${token}`;
  return fetchJson(path, { method: "POST", headers, body: JSON.stringify(body) });
}

export const nodePath = (name) => `studio/api/node?node=${encodeName(name)}`;

// As Python's quote: letters and digits as they are, all else as bytes; also halves of letters.
export function encodeName(name) {
  const bytes = new TextEncoder().encode(name);
  const isWhole = new TextDecoder().decode(bytes) === name;
  if (!isWhole) return Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
  return encodeURIComponent(name).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

const listeners = [];
export function onState(listen) {
  listeners.push(listen);
}

export function listenToEvents(onTrouble) {
  if (isSnapshot) return;
  const events = new EventSource("events");
  events.addEventListener("state", (event) => {
    const state = JSON.parse(event.data);
    for (const listen of listeners) listen(state);
  });
  events.addEventListener("error", onTrouble);
}
