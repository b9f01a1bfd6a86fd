// The index of the course: a card for each chapter.

const drawn = (picture) => make("img", { src: picture.data, alt: picture.caption });

function card(chapter) {
  const [first, ...more] = chapter.pictures;
  return make(
    "a",
    { class: "card chapter", href: chapter.link },
    drawn(first),
    make("div", { class: "more" }, ...more.map(drawn)),
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
