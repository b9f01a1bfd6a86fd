// What every page of ours draws with: elements are made by createElement and filled by text nodes,
// so no token, name or sample, however odd, can become markup.

const SVG = "http://www.w3.org/2000/svg";
const at = (id) => document.getElementById(id);
const given = JSON.parse(at("given").textContent);

const make = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

function fill(element, attributes = {}, children = []) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children); // a string becomes a text node
  return element;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

