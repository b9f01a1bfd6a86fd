// The index of the course: a card for each chapter.

function card(chapter) {
  return make(
    "a",
    { class: "card chapter", href: chapter.link },
    make("img", { src: chapter.picture.data, alt: chapter.picture.caption }),
    make("h3", {}, chapter.title),
    make("p", {}, chapter.idea),
    make("p", { class: chapter.ok ? "how" : "how wrong" }, chapter.numbers),
  );
}

document.title = "The course · Regard";
for (const section of given.sections) {
  at("sections").append(
    make("h2", { class: "section" }, section.title),
    make("div", { class: "chapters" }, ...section.chapters.map(card)),
  );
}
