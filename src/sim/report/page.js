// Values at the pointer. Without this script the page shows everything but that.
for (const figure of document.querySelectorAll("figure.lines")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const plot = figure.querySelector(".plot");
  const tip = figure.querySelector(".tip");
  const decode = (text) => { const t = document.createElement("textarea"); t.innerHTML = text; return t.value; };
  const hide = () => { tip.hidden = true; for (const c of plot.querySelectorAll(".cursor")) c.style.visibility = "hidden"; };
  const show = (event) => {
    const svg = event.target.closest("svg");
    if (!svg) return hide();
    const box = svg.getBoundingClientRect();
    const cursor = svg.querySelector(".cursor");
    const scale = box.width / svg.viewBox.baseVal.width;
    const left = Number(cursor.dataset.left), right = Number(cursor.dataset.right);
    const part = Math.min(Math.max(((event.clientX - box.left) / scale - left) / (right - left), 0), 1);
    const wanted = data.x[0] + part * (data.x[1] - data.x[0]);
    let at = null;
    const rows = [];
    for (const series of data.series) {
      let best = null;
      for (const point of series.points) if (!best || Math.abs(point[0] - wanted) < Math.abs(best[0] - wanted)) best = point;
      if (!best) continue;
      at = best[0];
      rows.push([series.name, best[1]]);
    }
    if (at === null) return hide();
    const x = left + (at - data.x[0]) / (data.x[1] - data.x[0]) * (right - left);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.style.visibility = "visible";
    const table = document.createElement("table");
    rows.sort((a, b) => b[1] - a[1]);
    for (const cells of [[decode(data.unit), at], ...rows]) {
      const row = table.insertRow();
      row.insertCell().textContent = typeof cells[0] === "string" ? decode(cells[0]) : cells[0];
      row.insertCell().textContent = cells[1];
    }
    tip.replaceChildren(table);
    tip.hidden = false;
    const side = x * scale > box.width / 2 ? x * scale - tip.offsetWidth - 12 : x * scale + 12;
    tip.style.left = Math.max(side, 0) + "px";
  };
  plot.addEventListener("pointermove", show);
  plot.addEventListener("pointerdown", show);
  plot.addEventListener("pointerleave", hide);
}
