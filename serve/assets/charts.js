"use strict";
// Drawing. Everything that comes from a client is inserted as text (textContent), never as HTML.
const byId = (id) => document.getElementById(id);

function make(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined && text !== null) node.textContent = text;
  return node;
}

function draw(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function digits(number) {
  if (!isNumber(number)) return "–";
  if (Number.isInteger(number)) return number.toLocaleString("en");
  const size = Math.abs(number);
  return size >= 1000 ? Math.round(number).toLocaleString("en") : size >= 100 ? number.toFixed(1) : Number(number.toPrecision(3)).toString();
}

const signed = (number) => (isNumber(number) && number > 0 ? "+" : "") + digits(number);
const percent = (part, whole) => (whole > 0 ? digits(100 * part / whole) + "%" : "–");

// A cell: text, a number (set to the right), or a node.
function cell(value, heading) {
  const node = make(heading ? "th" : "td", typeof value === "number" ? "number" : "");
  if (heading) node.scope = "row";
  if (value instanceof Node) node.append(value); else node.textContent = typeof value === "number" ? digits(value) : value;
  return node;
}

// heads: [[title, is a number?], ...]; rows: lists of cells, the first of which names the row.
function fillTable(table, heads, rows) {
  const head = make("thead"), body = make("tbody"), line = make("tr");
  for (const [title, number] of heads) {
    const node = make("th", number ? "number" : "", title);
    node.scope = "col";
    line.append(node);
  }
  head.append(line);
  for (const row of rows) {
    const tr = make("tr");
    row.forEach((value, index) => {
      const node = cell(value, index === 0);
      if (value instanceof SVGElement) node.className = "bars";
      else if (heads[index] && heads[index][1]) node.className = "number";
      tr.append(node);
    });
    if (row.length < heads.length) { // one that has only something to say
      tr.lastChild.colSpan = heads.length - row.length + 1;
      tr.lastChild.className = "";
    }
    body.append(tr);
  }
  table.replaceChildren(head, body);
}

// A bar of a table's row: the number stands beside it.
function bar(value, most) {
  const svg = draw("svg", { viewBox: "0 0 200 14", preserveAspectRatio: "none", "aria-hidden": "true" });
  const width = isNumber(value) && most > 0 ? Math.max(0, Math.min(200, 200 * value / most)) : 0;
  svg.append(draw("rect", { class: "fill", x: 0, y: 1, width: width.toFixed(1), height: 12 }));
  return svg;
}

// An interval on a line with 0, for a difference.
function interval(low, value, high) {
  const svg = draw("svg", { viewBox: "0 0 200 14", preserveAspectRatio: "none", "aria-hidden": "true" });
  if (!isNumber(low) || !isNumber(high)) return svg;
  const reach = 1.15 * Math.max(Math.abs(low), Math.abs(high), 1e-12);
  const at = (number) => 100 + 100 * number / reach;
  svg.append(draw("line", { class: "zero", x1: 100, x2: 100, y1: 0, y2: 14 }));
  svg.append(draw("line", { class: "bar", x1: at(low), x2: at(high), y1: 7, y2: 7 }));
  svg.append(draw("line", { class: "dot", x1: at(value), x2: at(value), y1: 2, y2: 12 }));
  return svg;
}

const FRAME = { height: 200, left: 52, right: 10, top: 10, bottom: 26 };

// As wide as it is shown, so that letters have their size on any screen.
function widthOf(svg) {
  return Math.max(240, Math.round(svg.clientWidth) || 600);
}

function axes(svg, low, high, labels, count) {
  const { height, left, right, top, bottom } = FRAME, width = widthOf(svg);
  svg.setAttribute("viewBox", "0 0 " + width + " " + height);
  const y = (value) => height - bottom - (height - top - bottom) * (value - low) / (high - low);
  const x = (index) => left + (width - left - right) * (index + 0.5) / count;
  svg.replaceChildren();
  for (const value of [low, (low + high) / 2, high]) {
    svg.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    const label = draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" });
    label.textContent = digits(value);
    svg.append(label);
  }
  const step = Math.max(1, Math.ceil(count / Math.floor((width - left) / 75)));
  for (let index = count - 1; index >= 0; index -= step) {
    const label = draw("text", { x: x(index), y: height - 7, "text-anchor": count > 1 && index === count - 1 ? "end" : "middle" });
    label.textContent = labels[index];
    svg.append(label);
  }
  return { x, y };
}

// series: [[class, name, [value or null, ...]], ...]: a gap is a gap.
function lineChart(svg, labels, series) {
  const values = series.flatMap(([, , points]) => points).filter(isNumber);
  let low = values.length ? Math.min(0, ...values) : 0, high = values.length ? Math.max(...values) : 1;
  if (high <= low) high = low + 1;
  const { x, y } = axes(svg, low, high, labels, labels.length);
  for (const [name, title, points] of series) {
    let path = "", pen = "M";
    points.forEach((value, index) => {
      if (!isNumber(value)) { pen = "M"; return; }
      path += pen + x(index).toFixed(1) + " " + y(value).toFixed(1);
      pen = "L";
      const dot = draw("circle", { class: "point " + name, cx: x(index).toFixed(1), cy: y(value).toFixed(1), r: 2.5 });
      const note = draw("title", {});
      note.textContent = title + ", " + labels[index] + ": " + digits(value);
      dot.append(note);
      svg.append(dot);
    });
    if (path) svg.append(draw("path", { class: "line " + name, d: path }));
  }
}

function barChart(svg, labels, values) {
  const high = Math.max(1, ...values.filter(isNumber));
  const { x, y } = axes(svg, 0, high, labels, labels.length);
  const width = 0.8 * (widthOf(svg) - FRAME.left - FRAME.right) / labels.length;
  values.forEach((value, index) => {
    if (!isNumber(value)) return;
    const rect = draw("rect", { class: "fill", x: (x(index) - width / 2).toFixed(1), y: y(value).toFixed(1), width: width.toFixed(1), height: Math.max(0, y(0) - y(value)).toFixed(1) });
    const note = draw("title", {});
    note.textContent = labels[index] + ": " + digits(value);
    rect.append(note);
    svg.append(rect);
  });
}

function armRow(arm, low, high) {
  const row = make("div", "arm");
  const id = make("span", "id", String(arm.id));
  id.title = String(arm.id);
  row.append(id, make("span", "why", digits(arm.estimate) + " ± " + digits(arm.width)));
  const svg = draw("svg", { viewBox: "0 0 200 12", preserveAspectRatio: "none", "aria-hidden": "true" });
  if (isNumber(arm.estimate) && high > low) {
    const at = (value) => 4 + 192 * (value - low) / (high - low);
    const width = isNumber(arm.width) ? arm.width : 0;
    svg.append(draw("line", { class: "bar", x1: at(arm.estimate - width), x2: at(arm.estimate + width), y1: 6, y2: 6 }));
    svg.append(draw("line", { class: "dot", x1: at(arm.estimate), x2: at(arm.estimate), y1: 1, y2: 11 }));
  }
  row.append(svg);
  return row;
}

// Slates share one scale.
function armRows(slates) {
  const arms = slates.flat().filter((arm) => isNumber(arm.estimate));
  const low = Math.min(...arms.map((arm) => arm.estimate - (arm.width || 0)));
  const high = Math.max(...arms.map((arm) => arm.estimate + (arm.width || 0)));
  return slates.map((slate) => slate.map((arm) => armRow(arm, low, high)));
}
