// Draws a report with the tools of page.js. A chart is drawn as wide as it is shown, so its
// letters stay readable; `moveTo` marks one step in all of them at once.

const HEIGHT = 210;
const LATE = Number.MAX_SAFE_INTEGER; // nearest to it is the last step
const EDGE = { top: 10, right: 12, bottom: 24, left: 52 }; // around the curves, for the labels

const report = given;
const charts = []; // { draw, mark } of each

// ---- small tools

const scale = (low, high, from, to) => (value) =>
  from + ((value - low) / (high - low || 1)) * (to - from);
const whole = (number) => number.toLocaleString("en-US");

function short(number) {
  if (number === null) return "-";
  const size = Math.abs(number);
  if (size && (size < 1e-3 || size >= 1e6)) return number.toExponential(1).replace(".0e", "e");
  return Number(number.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

// Round numbers from low to high, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low || 1) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5].find((times) => times * unit >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

// 1, 2 and 5 times the powers of ten from low to high, or only the powers when those are many.
function logTicks(low, high) {
  const powers = ticks(Math.floor(Math.log10(low)), Math.log10(high), 5).filter(Number.isInteger);
  const times = high / low > 1000 ? [1] : [1, 2, 5];
  const all = powers.flatMap((power) => times.map((one) => one * 10 ** power));
  const found = all.filter((tick) => tick >= low && tick <= high);
  return found.length > 2 ? found : ticks(low, high, 4);
}

function nearest(list, value) {
  const distance = (i) => Math.abs(list[i] - value);
  return list.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
}

// ---- scores: a band from low to high and a line at the value, for each model

function drawScores() {
  at("scores").replaceChildren(...report.scores.map(metric));
  at("remarks").replaceChildren(...report.remarks.map((text) => make("li", {}, text)));
  const signatures = report.scores.flatMap((one) => one.signatures);
  at("signatures").replaceChildren(...signatures.map((text) => make("li", {}, text)));
}

function metric({ title, better, rows }) {
  const ends = rows.filter((row) => row.value !== null).flatMap((row) => [row.low, row.high]);
  if (!ends.length) ends.push(0, 1); // no model has it: there is nothing to place
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const margin = (most - least) * 0.06 || 1;
  const low = least < 0 ? least - margin : Math.max(least - margin, 0);
  const place = scale(low, most + margin, 0, 100); // percent of the width
  const axis = make("div", { class: "axis", "aria-hidden": "true" });
  for (const tick of ticks(low, most + margin, 5)) {
    const label = make("span", {}, short(tick));
    label.style.left = `${place(tick)}%`;
    axis.append(label);
  }
  return make("div", { class: "metric" },
    make("h3", {}, title, " ", make("span", { class: "soft" }, better && `(${better})`)),
    ...rows.map((row, i) => interval(row, i === 0, place)), axis);
}

function interval({ name, value, low, high }, ours, place) {
  const track = make("div", { class: "track", "aria-hidden": "true" });
  const number = make("span", { class: "number" }, "-");
  if (value !== null) {
    const [band, middle] = [make("i", { class: "band" }), make("i", { class: "middle" })];
    band.style.left = `${place(low)}%`;
    band.style.width = `${place(high) - place(low)}%`;
    middle.style.left = `${place(value)}%`;
    track.append(band, middle);
    const range = ` (${low.toFixed(2)} to ${high.toFixed(2)})`;
    number.replaceChildren(make("strong", {}, value.toFixed(2)), range);
  }
  const kind = ours ? "interval ours" : "interval";
  return make("div", { class: kind }, make("bdi", { class: "who" }, name), track, number);
}

// ---- curves

function chart({ title, note, lines, bends }) {
  const steps = lines[0].steps; // the densest curve comes first: the cursor stops at its points
  const svg = shape("svg", {
    role: "slider", tabindex: 0, "aria-label": title, "aria-describedby": "how",
    "aria-valuemin": steps[0], "aria-valuemax": steps.at(-1),
  });
  const marks = shape("g", { class: "cursor" });
  const where = make("span", { class: "number soft" });
  const values = lines.map(() => make("span", { class: "number" }));
  const keys = lines.map((line, i) =>
    make("span", { class: `key ${line.kind}` }, make("i"), line.name, " ", values[i]));
  let x, y; // from a step and from a value to pixels

  function draw() {
    const width = svg.clientWidth || 600;
    [x, y] = axes(lines, width, bends && at("logarithmic").checked);
    fill(svg, { viewBox: `0 0 ${width} ${HEIGHT}` }).replaceChildren(
      ...y.ticks.map((tick) => row(tick, y(tick), width)),
      ...x.ticks.map((tick) => column(tick, x(tick))),
      ...(report.kept === null ? [] : [upright("kept", x(report.kept))]),
      ...lines.map((line) => curve(line, x, y)),
      marks,
    );
  }

  function mark(step, active) {
    const found = lines.map((line) => nearest(line.steps, step));
    const own = steps[found[0]];
    where.textContent = `step ${whole(own)}`;
    lines.forEach((line, i) => {
      const other = line.steps[found[i]] === own ? "" : ` at ${whole(line.steps[found[i]])}`;
      values[i].textContent = short(line.values[found[i]]) + other;
    });
    const dots = lines.map((line, i) =>
      dot(line.kind, x(line.steps[found[i]]), y(line.values[found[i]]), 4));
    marks.replaceChildren(...(active ? [upright("rule", x(own)), ...dots] : []));
    const said = lines.map((line, i) => `${line.name} ${values[i].textContent}`);
    fill(svg, { "aria-valuenow": own, "aria-valuetext": `step ${own}: ${said.join(", ")}` });
  }

  listen(svg, steps, (event) => {
    const box = svg.getBoundingClientRect();
    const pixel = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    return steps[nearest(steps.map(x), pixel)];
  });
  charts.push({ draw, mark });
  return make("figure", {},
    make("figcaption", {}, make("h3", {}, title), where),
    make("div", { class: "keys" }, ...keys), svg,
    ...(note ? [make("p", { class: "how" }, note)] : []));
}

// The two scales of a chart, each with its `ticks`.
function axes(lines, width, bent) {
  const last = Math.max(...lines.map((line) => line.steps.at(-1)));
  const x = scale(0, last, EDGE.left, width - EDGE.right);
  x.ticks = ticks(0, last, width / 80).filter(Number.isInteger);

  const values = lines.flatMap((line) => line.values);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const log = bent && low > 0;
  const bend = log ? Math.log10 : (value) => value;
  const floor = !log && low >= 0 && low < high / 2 ? 0 : low; // show zero where it is near
  const margin = (bend(high) - bend(floor)) * 0.05 || Math.abs(bend(high)) / 2 || 0.5;
  const bottom = bend(floor) - (floor === 0 ? 0 : margin);
  const top = bend(high) + margin;
  const flat = scale(bottom, top, HEIGHT - EDGE.bottom, EDGE.top);
  const y = (value) => flat(bend(value));
  y.ticks = log ? logTicks(10 ** bottom, 10 ** top) : ticks(bottom, top, 4);
  return [x, y];
}

const upright = (kind, x) =>
  shape("path", { class: kind, d: `M${x} ${EDGE.top}V${HEIGHT - EDGE.bottom}` });
const dot = (kind, cx, cy, r) => shape("circle", { class: kind, cx, cy, r });

function row(tick, y, width) {
  return shape("g", { class: "tick" },
    shape("path", { d: `M${EDGE.left} ${y}H${width - EDGE.right}` }),
    shape("text", { x: EDGE.left - 6, y: y + 4, "text-anchor": "end" }, short(tick)));
}

function column(tick, x) {
  return shape("text", { x, y: HEIGHT - 6, "text-anchor": "middle" }, whole(tick));
}

function curve({ kind, steps, values }, x, y) {
  const points = steps.map((step, i) => [x(step).toFixed(1), y(values[i]).toFixed(1)]);
  const dotted = points.length === 1 || (kind === "dots" && points.length <= 60);
  const d = `M${points.map((point) => point.join(" ")).join("L")}`;
  return shape("g", { class: kind },
    shape("path", { d }), ...(dotted ? points : []).map(([cx, cy]) => dot(kind, cx, cy, 3)));
}

// ---- the cursor: one step, marked in every chart

const cursor = { step: LATE, active: false };

function moveTo(step, active = true) {
  Object.assign(cursor, { step, active });
  for (const one of charts) one.mark(step, active);
}

function listen(svg, steps, stepAt) {
  for (const when of ["pointermove", "pointerdown"]) {
    svg.addEventListener(when, (event) => moveTo(stepAt(event)));
  }
  svg.addEventListener("focus", () => moveTo(cursor.step));
  svg.addEventListener("keydown", (event) => {
    const here = nearest(steps, cursor.step);
    const far = Math.ceil(steps.length / 10);
    const to = {
      ArrowLeft: here - 1, ArrowDown: here - 1, ArrowRight: here + 1, ArrowUp: here + 1,
      PageDown: here - far, PageUp: here + far, Home: 0, End: steps.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    moveTo(steps[clamp(to, 0, steps.length - 1)]);
  });
}

// Nobody points: the keys show the last values, unless the keyboard holds a place.
function rest(event) {
  const focused = event.type === "focusout" ? event.relatedTarget : document.activeElement;
  if (!at("charts").contains(focused)) moveTo(LATE, false);
}

function drawCharts() {
  for (const one of charts) one.draw();
  moveTo(cursor.step, cursor.active);
}

// ---- tables

function table(head, rows) {
  const cells = (tag, row) => row.map((cell) => make(tag, {}, ...[cell].flat()));
  const body = make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells("td", row))));
  return make("table", {}, make("thead", {}, make("tr", {}, ...cells("th", head))), body);
}

function pairs(rows) {
  const line = ([key, value]) => [make("dt", {}, key), make("dd", {}, make("bdi", {}, value))];
  return make("dl", {}, ...rows.flatMap(line));
}

function drawSamples() {
  const row = ({ input, output, wanted, score, in_training, unknown }) => {
    const seen = in_training ? [make("span", { class: "chip" }, "seen")] : [];
    const odd = unknown?.length ? [` never met: ${unknown.join(" ")}`] : [];
    const said = [input, output, wanted.join(" / ")].map((text) => make("bdi", {}, text));
    return [...said, score?.toFixed(2) ?? "-", [...seen, ...odd]];
  };
  at("samples").replaceChildren(
    table(["input", "output", "wanted", "log-probability", ""], report.samples.map(row)));
}

function drawValidations() {
  const watched = report.charts.flatMap(({ title, lines }) =>
    lines.filter((line) => line.kind === "dots").map((line) => ({ ...line, title })));
  at("checks").hidden = !watched.length;
  const steps = [...new Set(watched.flatMap((line) => line.steps))];
  const value = (line, step) => short(line.values[line.steps.indexOf(step)] ?? null);
  at("validations").replaceChildren(table(
    ["step", ...watched.map((line) => line.title.replace("Validation: ", ""))],
    steps.map((step) => [whole(step), ...watched.map((line) => value(line, step))])));
}

function drawLabels() {
  const { head, rows, remarks } = report.labels;
  at("labels").hidden = !rows.length && !report.judgements;
  if (rows.length) at("labels-table").append(table(head, rows));
  at("labels-remarks").replaceChildren(...remarks.map((text) => make("li", {}, `${text}.`)));
  if (!report.judgements) return;
  const alt = "What is taken for what, and whether probabilities can be believed";
  at("judgements").append(make("img", { src: report.judgements, alt }));
}

function drawSettings() {
  at("settings").replaceChildren(...report.settings.map(({ title, rows }) =>
    make("div", {}, make("h3", {}, title), pairs(rows))));
}

// ---- begin

document.title = `${report.name}: report`;
for (const id of ["name", "sentence", "scored", "command"]) at(id).textContent = report[id];
drawScores();
at("charts").append(...report.charts.map(chart));
if (!charts.length) at("charts").append("The log of this training holds no steps.");
if (report.kept !== null) {
  at("kept").textContent =
    `The dashed line is at step ${whole(report.kept)}, whose weights the run holds.`;
}
drawCharts();
drawLabels();
drawValidations();
at("curves").hidden = report.at_once; // no steps, no curves
drawSamples();
at("data").append(pairs(report.data));
at("environment").append(pairs(report.environment));
drawSettings();

at("logarithmic").addEventListener("change", drawCharts);
for (const when of ["pointerleave", "focusout"]) at("charts").addEventListener(when, rest);
let room = at("charts").clientWidth;
new ResizeObserver(() => {
  if (at("charts").clientWidth === room) return;
  room = at("charts").clientWidth;
  drawCharts();
}).observe(at("charts"));
