// The studio starts here: tabs, theme, search, and updates from the service.
import { byId, go, moveTo, onMove, readAddress, show, notify, where } from "./basics.js";
import { isDark, onSchemeChange } from "./colours.js";
import { askForToken, edit, pressEditKey, tellMoves } from "./edit.js";
import { graph, loadGraph, redrawGraph, startGraph } from "./graph_view.js";
import { showNode, showNothing } from "./panel.js";
import { completeNames } from "./search.js";
import { ask, askNow, forgetAnswers, hasToken, isSnapshot, keepToken, listenToEvents, onState } from "./server.js";
import { startSharing } from "./share.js";
import { redrawSigma2, startSigma2 } from "./sigma2_view.js";
import { redrawStream, startStream } from "./stream_view.js";
import { showTable, startTable } from "./table.js";

const VIEWS = ["graph", "sigma2", "stream", "table"];

function showView() {
  for (const view of VIEWS) {
    const isOpen = view === where.view;
    byId(`view-${view}`).hidden = !isOpen;
    byId(`tab-${view}`).setAttribute("aria-selected", String(isOpen));
    byId(`tab-${view}`).tabIndex = isOpen ? 0 : -1;
  }
}

function startTabs() {
  if (!VIEWS.includes(where.view)) where.view = "graph";
  VIEWS.forEach((view, i) => {
    const tab = byId(`tab-${view}`);
    tab.addEventListener("click", () => go({ view }));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = VIEWS[(i + step + VIEWS.length) % VIEWS.length];
      go({ view: next });
      byId(`tab-${next}`).focus();
      event.preventDefault();
    });
  });
  onMove((names) => { if (names.has("view")) showView(); });
  showView();
}

function showTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  redrawGraph();
  redrawSigma2();
  redrawStream();
}

function startTheme() {
  byId("theme").addEventListener("click", () => go({ theme: isDark() ? "light" : "dark" }));
  onMove((names) => { if (names.has("theme")) showTheme(); });
  onSchemeChange(showTheme);
  showTheme();
}

// A new state: its numbers replace the old ones, and moved predictions are reported.
let isLoading = false;
let waits = false;
async function takeState(state) {
  if (!graph.data || state.state === graph.data.state) return;
  if (isLoading) { waits = true; return; }
  isLoading = true;
  try {
    forgetAnswers();
    await loadGraph(true);
    tellMoves();
    await showTable();
  } catch (error) {
    notify(error.message, true);
  } finally {
    isLoading = false;
    if (waits) { waits = false; takeState({ state: -1 }); }
  }
}

// The service accepts requests before it has learned its first state.
async function waitUntilLearned() {
  if (isSnapshot) return;
  let health;
  while ((health = await askNow("health")).status === "starting") {
    notify("The model is being prepared …");
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  byId("status").classList.remove("seen");
  if (health.token_for === "all" && !hasToken()) await askForToken();
}

async function askAbout() {
  for (;;) {
    try {
      return await ask("studio/api/about");
    } catch (error) {
      if (error.status !== 401) throw error;
      notify("The token is wrong.", true);
      await askForToken();
    }
  }
}

// A service may start empty, and learn its graph later.
async function waitForGraph() {
  for (;;) {
    try {
      return await ask("studio/api/graph");
    } catch (error) {
      if (error.status !== 200) throw error;
      notify(error.message);
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
  }
}

async function start() {
  const given = readAddress(document.body.dataset.view ?? "");
  if (given.has("token")) {
    keepToken(given.get("token"));
    given.delete("token");
    history.replaceState(null, "", given.size ? `#${given}` : location.pathname);
  }
  startTheme();
  startTabs();
  startSharing();
  await waitUntilLearned();
  const about = await askAbout();
  edit.needsToken = about.token_for !== "nothing";
  byId("title").textContent = show(about.title);
  document.title = `${show(about.title)} · gradraker studio`;
  await waitForGraph();
  await startGraph({ showNode, showNothing });
  completeNames(byId("search"), byId("matches"), (name) => go({ node: name }));
  await startTable();
  startStream(about);
  onState(takeState);
  listenToEvents(() => notify("The connection to the service is lost; trying again …", true));
  document.addEventListener("keydown", pressEditKey);
  addEventListener("hashchange", () => moveTo(location.hash.slice(1)));
  addEventListener("resize", () => { redrawSigma2(); redrawStream(); });
  document.documentElement.dataset.ready = isSnapshot ? "snapshot" : "live";
  await startSigma2();
}

start().catch((error) => notify(error.message, true));
