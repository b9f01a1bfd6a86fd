// A chapter of the course: words, pictures and numbers from the data element.

const words = (texts) => texts.map((text) => make("p", {}, text));

function table(head, rows, numeric) {
  const cells = (tag, row) =>
    row.map((cell, i) => make(tag, numeric.has(i) ? { class: "number" } : {}, cell));
  return make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...cells("th", head))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells("td", row)))),
  );
}

function picture(drawing) {
  return make(
    "figure",
    { class: "card" },
    make("img", { src: drawing.data, alt: drawing.caption }),
    make("figcaption", { class: "how" }, drawing.caption),
  );
}

function neighbour(found, text) {
  if (!found) return make("span", {});
  return make("a", { href: found.link }, text(found.idea));
}

document.title = `${given.title} · Regard`;
at("title").append(given.title);
at("idea").append(...words(given.idea));
at("drawings").append(...given.drawings.map(picture));
const numbers = given.numbers.map((n) => [n.name, n.value, n.expected, n.expected === "" ? "" : n.ok ? "✓" : "✗ not as expected"]);
at("numbers").append(table(["", "came out", "expected", ""], numbers, new Set([1, 2])));
for (const one of given.tables) {
  at("tables").append(make("h3", {}, one.title));
  const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": one.title });
  scroll.append(table(one.head, one.rows, new Set()));
  at("tables").append(scroll);
}
at("says").append(...words(given.says));
at("code").append(given.code);
at("command").append(given.command);
at("next").append(...given.next.map((text) => make("li", {}, text)));
for (const [question, answer] of given.questions) {
  at("questions").append(make("details", {}, make("summary", {}, question), make("p", {}, answer)));
}
at("around").append(
  neighbour(given.before, (idea) => `← ${idea}`),
  neighbour(given.after, (idea) => `${idea} →`),
);
