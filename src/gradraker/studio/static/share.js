// Save and share: a link, pictures, the table, and a snapshot in one file.
import { byId, describeView, download, notify, where } from "./basics.js";
import { getTheme } from "./colours.js";
import { drawSvg } from "./drawing.js";
import { getPicture, graph } from "./graph_view.js";
import { isSnapshot, withToken } from "./server.js";
import { saveCsv } from "./table.js";

const CHARTS = { sigma2: ["chart-curve", "chart-predictions", "chart-B", "chart-F"], stream: ["chart-stream"] };

// The picture of the current view as SVG.
function makePicture() {
  const charts = (CHARTS[where.view] ?? []).map(byId).filter(Boolean);
  if (!charts.length) {
    const { scene, view, selected } = getPicture();
    return drawSvg(scene, view, selected, graph.data.title);
  }
  const theme = getTheme();
  const sizes = charts.map((chart) => chart.viewBox.baseVal);
  const width = Math.max(...sizes.map((size) => size.width));
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  let top = 0;
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  svg.append(paper);
  charts.forEach((chart, i) => {
    const copy = chart.cloneNode(true);
    copy.removeAttribute("id");
    copy.setAttribute("y", top);
    copy.setAttribute("width", sizes[i].width);
    copy.setAttribute("height", sizes[i].height);
    svg.append(copy);
    top += sizes[i].height + 8;
  });
  for (const [name, value] of [["width", width], ["height", top], ["viewBox", `0 0 ${width} ${top}`]]) svg.setAttribute(name, value);
  for (const [name, value] of [["width", width], ["height", top], ["fill", theme.paper]]) paper.setAttribute(name, value);
  return svg;
}

const writeSvg = () => new XMLSerializer().serializeToString(makePicture());
const nameFile = (ending) => `gradraker-${where.view}.${ending}`;

function saveSvg() {
  download(writeSvg(), nameFile("svg"), "image/svg+xml");
  notify("The picture is saved.");
}

function savePng() {
  const address = URL.createObjectURL(new Blob([writeSvg()], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth * 2, image.naturalHeight * 2];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => {
      download(blob, nameFile("png"));
      notify("The picture is saved.");
    });
  };
  image.onerror = () => notify("The picture could not be drawn.", true);
  image.src = address;
}

async function copyLink() {
  const address = `${location.href.split("#")[0]}#${describeView()}`;
  try {
    await navigator.clipboard.writeText(address);
    notify("The link is copied.");
  } catch {
    prompt("The link to this view:", address);
  }
}

async function saveSnapshot() {
  notify("Making the snapshot …");
  if (isSnapshot) return notify("This is a snapshot already: copy its file.", true);
  const query = new URLSearchParams({ node: where.node, d: where.d, eta: where.eta, e: where.e, repeat: where.split });
  const answer = await fetch(`studio/api/snapshot?${query}`, { headers: withToken() });
  if (!answer.ok) return notify((await answer.json()).error, true);
  const page = await answer.text();
  const view = describeView().replace(/[^\w=&.,:%+-]/g, (sign) => encodeURIComponent(sign));
  download(page.replace('<body>', `<body data-view="${view.replaceAll("&", "&amp;")}">`), "gradraker-snapshot.html", "text/html");
  return notify("The snapshot is saved: it opens without a server.");
}

export function startSharing() {
  const actions = { "share-link": copyLink, "share-svg": saveSvg, "share-png": savePng, "share-csv": saveCsv, "share-file": saveSnapshot };
  for (const [id, action] of Object.entries(actions)) {
    byId(id).addEventListener("click", async () => {
      byId("share").open = false;
      try {
        await action();
      } catch (error) {
        notify(error.message, true);
      }
    });
  }
  if (isSnapshot) byId("share-file").hidden = true;
  document.addEventListener("click", (event) => { if (!byId("share").contains(event.target)) byId("share").open = false; });
  byId("share").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    byId("share").open = false;
    byId("share").querySelector("summary").focus();
  });
}
