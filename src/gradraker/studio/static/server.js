// Requests to the server, or to the answers in a snapshot.
import { byId } from "./basics.js";

const holder = byId("answers");
const held = holder ? JSON.parse(holder.textContent) : null;
export const isSnapshot = held !== null;

const TOKEN = "gradraker-token";
export function keepToken(token) {
  if (token) sessionStorage.setItem(TOKEN, token);
}
export const hasToken = () => !isSnapshot && sessionStorage.getItem(TOKEN) !== null;
export const withToken = () => (hasToken() ? { Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}` } : {});

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function fetchJson(path, { headers = {}, ...options } = {}) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", headers: { ...headers, ...withToken() }, ...options });
  } catch {
    throw new Refused("the server does not answer", 0);
  }
  if (answer.status === 401) sessionStorage.removeItem(TOKEN); // it is wrong
  const found = await answer.json();
  if (!answer.ok) throw new Refused(found.error ?? "the server refused", answer.status);
  return checkAnswer(found);
}

// If the model cannot compute something, the answer holds the reason.
function checkAnswer(found) {
  if (typeof found.problem === "string") throw new Refused(found.problem, 200);
  return found;
}

function findHeld(path) {
  if (Object.hasOwn(held, path)) return checkAnswer(held[path]);
  throw new Refused("this is not in the snapshot; open the studio for it", 404);
}

// Answers of one state are cached until the next state.
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

// Facts that change all the time are not cached.
export function askNow(path) {
  if (isSnapshot) return new Promise((resolve) => resolve(findHeld(path)));
  return fetchJson(path);
}

export function post(path, body) {
  if (isSnapshot) return Promise.reject(new Refused("a snapshot cannot be changed", 405));
  const headers = { "Content-Type": "application/json" };
  return fetchJson(path, { method: "POST", headers, body: JSON.stringify(body) });
}

export const nodePath = (name) => `studio/api/node?node=${encodeName(name)}`;

// Like Python's quote: letters and digits unchanged, all else as bytes, also lone surrogates.
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

// With fetch, since an EventSource cannot send a token.
export async function listenToEvents(onTrouble) {
  while (!isSnapshot) {
    try {
      const answer = await fetch("events", { cache: "no-store", headers: withToken() });
      if (answer.ok) await readEvents(answer.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      // retried below
    }
    onTrouble();
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

async function readEvents(reader) {
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const [, data] of parts.map((part) => part.match(/^data: (.*)$/m)).filter(Boolean)) {
      const state = JSON.parse(data);
      for (const listen of listeners) listen(state);
    }
  }
}
