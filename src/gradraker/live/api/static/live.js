"use strict";

const get = (id) => document.getElementById(id);
const format = (value) =>
  typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value ?? "–");

// The studio stores the token under the same name.
const TOKEN = "gradraker-token";
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname);
}
const withToken = () => {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { Authorization: `Bearer ${token}` } : {};
};

async function ask(path, { headers = {}, ...options } = {}) {
  const answer = await fetch(path, { cache: "no-store", headers: { ...headers, ...withToken() }, ...options });
  const found = await answer.json();
  if (answer.status === 401) askForToken();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

function askForToken() {
  sessionStorage.removeItem(TOKEN);
  get("token-form").hidden = false;
  get("status").textContent = "enter the token of the service";
}

function drawChart(windows, model, baseline) {
  const chart = get("chart");
  chart.replaceChildren();
  const most = Math.max(...windows.flatMap((one) => [one[model], one[baseline]]), 1e-12);
  const add = (name, attributes, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    chart.append(element);
  };
  for (const [name, kind] of [[baseline, "baseline"], [model, "model"]]) {
    const points = windows.map((one, i) => {
      const x = 50 + (540 * (i + 0.5)) / windows.length;
      return `${x.toFixed(1)},${(160 - (140 * one[name]) / most).toFixed(1)}`;
    });
    add("polyline", { points: points.join(" "), class: kind });
  }
  add("text", { x: 4, y: 24 }, format(most));
  add("text", { x: 4, y: 164 }, "0");
}

async function showErrors() {
  const found = await ask("errors");
  const isLabel = "accuracy" in found;
  const model = isLabel ? "accuracy" : "rmse";
  const baseline = isLabel ? "accuracy_of_most_common" : "rmse_of_mean";
  get("error-name").textContent = isLabel ? "Accuracy" : "RMSE";
  get("baseline-name").textContent = isLabel ? "By the most common" : "By the mean";
  get("baseline-key").textContent = isLabel ? "most common label" : "mean";
  if (!found.n) return;
  get("error").textContent = format(found[model]);
  get("baseline").textContent = format(found[baseline]);
  drawChart(found.over_time, model, baseline);
}

async function showLearned() {
  const { learned } = await ask("learned?last=12");
  const rows = learned.map((one) => {
    const row = document.createElement("tr");
    for (const value of [one.node, one.value, one.predicted]) {
      const cell = document.createElement("td");
      cell.textContent = format(value);
      row.append(cell);
    }
    return row;
  });
  get("learned").replaceChildren(...rows);
}

async function showState() {
  const state = await ask("state");
  for (const name of ["state", "pending", "nodes", "known"]) get(name).textContent = format(state[name]);
  get("status").textContent = state.trouble ? `trouble: ${state.trouble}` : "live";
}

let isBusy = false;
async function show() {
  if (isBusy) return;
  isBusy = true;
  try {
    await Promise.all([showState(), showErrors(), showLearned()]);
  } catch (error) {
    get("status").textContent = error.message;
  } finally {
    isBusy = false;
  }
}

get("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = { nodes: [get("node").value] };
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  try {
    const found = await ask("predict", options);
    const one = found.predictions[0];
    const known = one.known ? `, known value ${format(one.value)}` : "";
    get("answer").textContent = `${one.node}: ${format(one.prediction)}${known} (state ${found.state})`;
  } catch (error) {
    get("answer").textContent = error.message;
  }
});

get("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, get("token").value);
  get("token-form").hidden = true;
  show();
});

async function start() {
  const { token_for: tokenFor } = await ask("health");
  if (tokenFor === "all") {
    // Neither links nor an EventSource can send a token, so the page polls.
    for (const link of document.querySelectorAll("a[href=docs], a[href=metrics]")) link.replaceWith(link.textContent);
    if (!sessionStorage.getItem(TOKEN)) askForToken();
    setInterval(() => { if (get("token-form").hidden) show(); }, 2000);
  } else {
    const events = new EventSource("events");
    events.addEventListener("state", show);
    events.addEventListener("error", () => { get("status").textContent = "connection lost, trying again …"; });
  }
  if (get("token-form").hidden) show();
}

start().catch((error) => { get("status").textContent = error.message; });
