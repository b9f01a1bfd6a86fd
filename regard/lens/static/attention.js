// Draws a picture with the tools of page.js. What is chosen lives in `state`; `view` is what
// follows from it; each draw function makes one part of the page, each mark function moves the
// marks on it.

const MEAN = 0; // the "head" that is the mean of all heads; real ones count from 1
const SMALLEST = 16; // pixels of a cell at least, so that labels do not overlap
const LARGEST = 60;
const LONGEST = 14; // letters of a token beside the map; the line below it has the whole token

const picture = given;
const names = [...new Set(picture.maps.map((map) => map.name))];
const whole = picture.maps.every((map) => map.whole); // no attention: nothing to choose from
// What is no attention is spread over many tokens, so its colours end at the largest.
const state = { name: "", layer: 0, head: MEAN, row: 0, column: 0, stretch: whole };
let view; // { map, weights, peak, cells }: weights is (T, S), cells the drawn rectangles
let side = LARGEST; // pixels of a cell

// ---- small tools

const largest = (list) => list.reduce((best, value) => Math.max(best, value), 0);
const peakOf = (weights) => (state.stretch && largest(weights.map(largest))) || 1;
const strongest = (row) => view.weights[row].indexOf(largest(view.weights[row]));
const next = (list, item, back) => list.at((list.indexOf(item) + (back ? -1 : 1)) % list.length);

const mapsOf = (name) => picture.maps.filter((map) => map.name === name);
const headsOf = (map) => (map.heads.length > 1 ? [MEAN, ...map.heads] : map.heads);
const headName = (map, head) =>
  head === MEAN ? `mean of ${map.heads.length} heads` : `head ${head}`;

const percent = (weight) => `${(100 * weight).toFixed(2)} %`;
const roughly = (weight) =>
  weight > 0 && weight < 0.005 ? "<1%" : `${Math.round(100 * weight)}%`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const themed = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function shorten(token) {
  const letters = Array.from(token);
  return letters.length > LONGEST ? letters.slice(0, LONGEST - 1).join("") + "…" : token;
}

function weightsOf(map, head) {
  if (head !== MEAN) return map.weights[map.heads.indexOf(head)];
  const sum = (row, column) => map.weights.reduce((total, one) => total + one[row][column], 0);
  return map.rows.map((_, r) => map.columns.map((_, c) => sum(r, c) / map.heads.length));
}

// ---- choosing

function choose(change) {
  const fresh = "name" in change && change.name !== state.name;
  Object.assign(state, change);
  const maps = mapsOf(state.name);
  const map = maps.find((one) => one.layer === state.layer) ?? maps.at(-1);
  const heads = headsOf(map);
  state.layer = map.layer;
  state.head = heads.includes(state.head) ? state.head : heads[0];
  const weights = weightsOf(map, state.head);
  view = { map, weights, peak: peakOf(weights), cells: [] };

  drawControls(maps, heads);
  drawMap();
  drawTokens();
  drawOverview(maps);
  if (at("numbers").open) drawTable();
  if (fresh) moveTo(0, strongest(0));
  else moveTo(state.row, state.column);
}

function moveTo(row, column) {
  state.row = clamp(row, 0, view.map.rows.length - 1);
  state.column = clamp(column, 0, view.map.columns.length - 1);
  markMap();
  markTokens();
  drawReading();
}

function drawControls(maps, heads) {
  const options = (id, values, label) => {
    at(id).replaceChildren(...values.map((value) => make("option", { value }, label(value))));
    at(id).value = state[id];
  };
  options("name", names, (name) => capital(mapsOf(name)[0].title));
  options("layer", maps.map((map) => map.layer), (layer) => `layer ${layer}`);
  options("head", heads, (head) => headName(view.map, head));
  at("stretch").checked = state.stretch;
  at("peak").textContent = state.stretch ? view.peak.toFixed(2) : "1";
  const place = view.map.whole ? [] : [`layer ${state.layer}`, headName(view.map, state.head)];
  at("map-title").textContent = [capital(view.map.title), ...place].join(", ");
  at("meaning").textContent = view.map.words.how;
  for (const [place, word] of [["down", "rows"], ["across", "columns"]]) {
    for (const one of document.getElementsByClassName(place)) {
      one.textContent = one.tagName === "H3" ? capital(view.map.words[word]) : view.map.words[word];
    }
  }
}

function drawReading() {
  const { rows, columns } = view.map;
  const weight = view.weights[state.row][state.column];
  const token = (list, i) => [
    make("bdi", { class: "token" }, list[i]), ` (${i + 1} of ${list.length})`,
  ];
  at("reading").replaceChildren(
    ...token(rows, state.row), ` ${view.map.words.link} `, ...token(columns, state.column), ": ",
    make("strong", {}, percent(weight)),
  );
}

// ---- the large map: cells in one drawing, labels in two that stay while it scrolls

const ruler = document.createElement("canvas").getContext("2d"); // measures text without layout
const frame = (kind) => shape("rect", { class: kind, "aria-hidden": "true" });
const marks = { row: frame("band"), column: frame("band"), cell: frame("cursor") };

function widthsOf(tokens, font) {
  ruler.font = `700 ${font}px ${getComputedStyle(at("rows")).fontFamily}`;
  return tokens.map((token) => Math.ceil(ruler.measureText(shorten(token)).width));
}

function drawMap() {
  const { rows, columns } = view.map;
  const left = largest(widthsOf(rows, 14)) + 12;
  const free = at("map").clientWidth - left;
  side = clamp(Math.floor(free / columns.length), SMALLEST, LARGEST);
  const font = clamp(Math.floor(side * 0.6), 11, 14);
  const widths = widthsOf(columns, font);
  const upright = (i) => widths[i] <= side - 4; // a token wider than its column is turned
  const top = 12 + Math.max(font, ...widths.filter((_, i) => !upright(i)));

  drawLabels(at("columns"), columns, columns.length * side, top, font, (middle, i) =>
    upright(i)
      ? { x: middle, y: top - font / 2 - 6, "text-anchor": "middle" }
      : { transform: `translate(${middle} ${top - 6}) rotate(-90)` });
  drawLabels(at("rows"), rows, left, rows.length * side, font, (middle) =>
    ({ x: left - 8, y: middle, "text-anchor": "end" }));
  drawCells();
  // Scrolling to a cell must bring it out from under the labels.
  at("map").style.scrollPadding = `${top + side}px ${side}px ${side}px ${left + side}px`;
}

function drawLabels(svg, tokens, width, height, font, place) {
  const label = (token, i) => shape("text", place((i + 0.5) * side, i), shorten(token));
  fill(svg, { width, height, "font-size": font }).replaceChildren(...tokens.map(label));
}

function drawCells() {
  const { map, weights, peak } = view;
  const [height, width] = [map.rows.length * side, map.columns.length * side];
  const cell = (weight, r, c) => shape("rect", {
    role: "gridcell", x: c * side, y: r * side, width: side, height: side,
    "fill-opacity": (weight / peak).toFixed(3),
  });
  const rule = (d) => shape("path", { class: "rule", d, "aria-hidden": "true" });
  view.cells = weights.map((row, r) => row.map((weight, c) => cell(weight, r, c)));
  fill(at("cells"), { width, height }).replaceChildren(
    ...view.cells.map((cells) => shape("g", { role: "row" }, ...cells)),
    ...map.rows.map((_, r) => rule(`M0 ${r * side}H${width}`)),
    ...map.columns.map((_, c) => rule(`M${c * side} 0V${height}`)),
    marks.row, marks.column, marks.cell,
  );
}

function markMap() {
  const { row, column } = state;
  const { map, cells, weights } = view;
  const [x, y] = [column * side, row * side];
  fill(marks.row, { x: 0, y, width: map.columns.length * side, height: side });
  fill(marks.column, { x, y: 0, width: side, height: map.rows.length * side });
  fill(marks.cell, { x: x + 1.5, y: y + 1.5, width: side - 3, height: side - 3 });
  at("rows").childNodes.forEach((label, i) => label.classList.toggle("marked", i === row));
  at("columns").childNodes.forEach((label, i) => label.classList.toggle("marked", i === column));

  const id = `cell-${row}-${column}`;
  const share = percent(weights[row][column]);
  const label = `${map.rows[row]} ${map.words.link} ${map.columns[column]}: ${share}`;
  fill(cells[row][column], { id, "aria-label": label });
  at("cells").setAttribute("aria-activedescendant", id);
}

// ---- token by token

function drawTokens() {
  at("queries").replaceChildren(...view.map.rows.map((token, row) => {
    const button = make("button", { type: "button", role: "radio", title: token }, token);
    const pick = () => row === state.row || moveTo(row, strongest(row));
    for (const when of ["focus", "pointerenter", "click"]) button.addEventListener(when, pick);
    return button;
  }));
  at("keys").replaceChildren(...view.map.columns.map((token) => {
    const key = make("span", { class: "key", title: token }, token);
    return make("li", {}, key, make("span", { class: "share" }));
  }));
}

function markTokens() {
  const { row, column } = state;
  const flip = Number(themed("--flip"));
  at("queries").childNodes.forEach((button, i) =>
    fill(button, { "aria-checked": i === row, tabindex: i === row ? 0 : -1 }));
  at("keys").childNodes.forEach((item, i) => {
    const strength = view.weights[row][i] / view.peak;
    const [key, share] = item.childNodes;
    item.classList.toggle("marked", i === column);
    key.classList.toggle("strong", strength > flip);
    key.style.setProperty("--strength", strength);
    share.textContent = roughly(view.weights[row][i]);
  });
  reveal(at("queries"), row);
  reveal(at("keys"), column);
}

function reveal(box, i) {
  const item = box.childNodes[i];
  const below = item.offsetTop - box.scrollTop;
  const seen = below >= 0 && below + item.offsetHeight <= box.clientHeight;
  // Never under a pointer: it would then point at another token, and so on.
  if (!seen && !box.matches(":hover")) box.scrollTop = item.offsetTop - box.clientHeight / 2;
}

// ---- every layer and head, small

function drawOverview(maps) {
  const ink = parseInt(themed("--ink").slice(1), 16);
  const focused = document.activeElement.dataset.pick; // redrawn, yet the keyboard keeps its place
  at("overview").replaceChildren(...maps.flatMap((map) => [
    make("h3", {}, map.whole ? "The whole network" : `Layer ${map.layer}`),
    make("div", { class: "heads" }, ...headsOf(map).map((head) => thumbnail(map, head, ink))),
  ]));
  if (focused) at("overview").querySelector(`[data-pick="${focused}"]`)?.focus();
}

function thumbnail(map, head, ink) {
  const button = make("button", {
    type: "button",
    "data-pick": `${map.layer}-${head}`,
    "aria-label": `layer ${map.layer}, ${headName(map, head)}`,
    "aria-pressed": map.layer === state.layer && head === state.head,
  });
  button.append(miniature(weightsOf(map, head), ink), head === MEAN ? "mean" : `head ${head}`);
  button.addEventListener("click", () => choose({ layer: map.layer, head }));
  return button;
}

function miniature(weights, ink) {
  const [height, width] = [weights.length, weights[0].length];
  const canvas = make("canvas", { width, height, "aria-hidden": "true" });
  canvas.classList.toggle("coarse", Math.max(width, height) < 50);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const peak = peakOf(weights);
  weights.flat().forEach((weight, i) =>
    image.data.set([ink >> 16, (ink >> 8) & 255, ink & 255, (255 * weight) / peak], 4 * i));
  context.putImageData(image, 0, 0);
  return canvas;
}

// ---- the numbers, made when asked for

function drawTable() {
  const { map, weights } = view;
  const row = (token, r) => make("tr", {},
    make("th", { scope: "row" }, token),
    ...weights[r].map((weight) => make("td", {}, weight.toFixed(4))));
  const columns = map.columns.map((token) => make("th", { scope: "col" }, token));
  at("table").replaceChildren(make("table", {},
    make("caption", {}, `${at("map-title").textContent}. Rows: ${map.words.rows}; columns: ${map.words.columns}.`),
    make("thead", {}, make("tr", {}, make("td"), ...columns)),
    make("tbody", {}, ...map.rows.map(row))));
}

// ---- keys and pointers

at("cells").addEventListener("keydown", (event) => {
  const { row, column } = state;
  const far = event.ctrlKey || event.metaKey; // to the corner, not only along the row
  const move = {
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    Home: [far ? 0 : row, 0],
    End: [far ? Infinity : row, Infinity],
  }[event.key];
  if (!move) return;
  event.preventDefault();
  moveTo(...move);
  view.cells[state.row][state.column].scrollIntoView({ block: "nearest", inline: "nearest" });
});

at("queries").addEventListener("keydown", (event) => {
  const { row } = state;
  const last = view.map.rows.length - 1;
  const to = {
    ArrowLeft: row - 1, ArrowUp: row - 1, ArrowRight: row + 1, ArrowDown: row + 1,
    Home: 0, End: last,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  at("queries").childNodes[clamp(to, 0, last)].focus();
});

for (const when of ["pointermove", "pointerdown"]) {
  at("cells").addEventListener(when, (event) => {
    const box = at("cells").getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / side);
    const column = Math.floor((event.clientX - box.left) / side);
    if (row !== state.row || column !== state.column) moveTo(row, column);
  });
}

const shortcuts = {
  a: (back) => choose({ name: next(names, state.name, back) }),
  l: (back) => choose({ layer: next(mapsOf(state.name), view.map, back).layer }),
  h: (back) => choose({ head: next(headsOf(view.map), state.head, back) }),
  c: () => choose({ stretch: !state.stretch }),
};

document.addEventListener("keydown", (event) => {
  const shortcut = shortcuts[event.key.toLowerCase()];
  const taken = event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select");
  if (shortcut && !taken && at("letters").checked) shortcut(event.shiftKey);
});

at("name").addEventListener("change", () => choose({ name: at("name").value }));
at("layer").addEventListener("change", () => choose({ layer: Number(at("layer").value) }));
at("head").addEventListener("change", () => choose({ head: Number(at("head").value) }));
at("stretch").addEventListener("change", () => choose({ stretch: at("stretch").checked }));
at("numbers").addEventListener("toggle", () => at("numbers").open && drawTable());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => choose({}));

// ---- begin

at("source").textContent = picture.source;
at("output").textContent = picture.output;
at("heading").classList.toggle("long", picture.source.length + picture.output.length > 90);
document.title = `${picture.source} → ${picture.output}`;
for (const id of ["names", "layers", "heads", "every"]) at(id).hidden = whole;
if (whole) at("about").textContent = "What the answer comes from";
choose({ name: names.includes("cross") ? "cross" : names[0] });

let room = at("map").clientWidth;
new ResizeObserver(() => {
  if (at("map").clientWidth === room) return;
  room = at("map").clientWidth;
  drawMap();
  markMap();
}).observe(at("map"));
