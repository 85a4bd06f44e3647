// Values at the pointer. Without this script the page shows everything but that.
const time = (seconds) => {
  if (seconds < 60) return Number(seconds.toPrecision(3)) + " s";
  for (const [unit, small, size, part] of [["d", "h", 86400, 3600], ["h", "m", 3600, 60], ["m", "s", 60, 1]]) {
    if (seconds >= size) return Math.floor(seconds / size) + unit + String(Math.floor(seconds % size / part)).padStart(2, "0") + small;
  }
};
const decode = (text) => { const t = document.createElement("textarea"); t.innerHTML = text; return t.value; };
const fill = (tip, rows) => {
  const table = document.createElement("table");
  for (const cells of rows) {
    const row = table.insertRow();
    for (const cell of cells) row.insertCell().textContent = cell;
  }
  tip.replaceChildren(table);
  tip.hidden = false;
};
const put = (tip, x, width) => {
  const side = x > width / 2 ? x - tip.offsetWidth - 12 : x + 12;
  tip.style.left = Math.max(side, 0) + "px";
};
const watch = (plot, show, hide) => {
  plot.addEventListener("pointermove", show);
  plot.addEventListener("pointerdown", show);
  plot.addEventListener("pointerleave", hide);
};

for (const figure of document.querySelectorAll("figure.lines")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const plot = figure.querySelector(".plot");
  const tip = figure.querySelector(".tip");
  const scale = data.log ? Math.log : (x) => x;
  const low = scale(data.x[0]), high = scale(data.x[1]);
  const hide = () => { tip.hidden = true; for (const c of plot.querySelectorAll(".cursor")) c.style.visibility = "hidden"; };
  watch(plot, (event) => {
    const svg = event.target.closest("svg");
    if (!svg) return hide();
    const box = svg.getBoundingClientRect();
    const cursor = svg.querySelector(".cursor");
    const zoom = box.width / svg.viewBox.baseVal.width;
    const left = Number(cursor.dataset.left), right = Number(cursor.dataset.right);
    const part = Math.min(Math.max(((event.clientX - box.left) / zoom - left) / (right - left), 0), 1);
    const wanted = low + part * (high - low);
    const far = (point) => Math.abs(scale(point[0]) - wanted);
    let at = null;
    const rows = [];
    for (const series of data.series) {
      let best = null;
      for (const point of series.points) if (!best || far(point) < far(best)) best = point;
      if (!best) continue;
      at = best[0];
      rows.push([decode(series.name), best[1]]);
    }
    if (at === null) return hide();
    const x = left + (scale(at) - low) / (high - low) * (right - left);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.style.visibility = "visible";
    rows.sort((a, b) => b[1] - a[1]);
    fill(tip, [[decode(data.unit), data.seconds ? time(at) : at], ...rows]);
    put(tip, x * zoom, box.width);
  }, hide);
}

// A strip's values are read from its drawing: steps "HxVy" in a box of 1000 by 100.
for (const figure of document.querySelectorAll("figure.strips")) {
  const [low, high] = JSON.parse(figure.querySelector("script").textContent).x;
  const plot = figure.querySelector(".plot");
  const tip = figure.querySelector(".tip");
  const strips = [...plot.querySelectorAll(".strip")].map((strip) => {
    const path = strip.querySelector(".area");
    const steps = path ? [...path.getAttribute("d").matchAll(/H([\d.]+)V([\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]) : [];
    const svg = strip.querySelector("svg");
    return { svg, steps, name: strip.querySelector(".strip-name").firstChild.textContent, high: Number(svg.dataset.high) };
  });
  const hide = () => { tip.hidden = true; };
  watch(plot, (event) => {
    const box = strips[0].svg.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    if (part < 0 || part > 1) return hide();
    const rows = strips.map(({ steps, name, high }) => {
      let value = 0;
      for (const [x, y] of steps) if (x <= part * 1000) value = (100 - y) / 100 * high;
      return [name, Number(value.toPrecision(3)).toLocaleString("en")];
    });
    fill(tip, [["time", time(low + part * (high - low))], ...rows]);
    const outer = plot.getBoundingClientRect();
    put(tip, event.clientX - outer.left, outer.width);
  }, hide);
}
