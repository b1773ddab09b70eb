/* Columns of a board's table that a reader has hidden: remembered in this browser, for every board. */
const HIDDEN = "tiltyard.board.hidden";
const COLUMNS = ["overall", "hard", "style", "hard-move", "style-move", "votes"];
const table = document.getElementById("table");
const menu = document.querySelector(".board-columns");

function read() {
  try {
    const names = JSON.parse(localStorage.getItem(HIDDEN) ?? "[]");
    return new Set(COLUMNS.filter((name) => names.includes(name)));
  } catch {
    return new Set();
  }
}

function show(hidden) {
  if (hidden.size) table.dataset.hidden = [...hidden].join(" ");
  else delete table.dataset.hidden;
}

function keep(hidden) {
  try { localStorage.setItem(HIDDEN, JSON.stringify([...hidden])); } catch { /* private mode: for this page then */ }
  show(hidden);
}

if (table && menu) {
  const hidden = read();
  show(hidden);
  for (const name of COLUMNS) {
    const heading = table.querySelector(`thead .${name}`);
    if (!heading) continue; // a board that isn't there
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !hidden.has(name);
    box.addEventListener("change", () => {
      if (box.checked) hidden.delete(name);
      else hidden.add(name);
      keep(hidden);
    });
    label.append(box, " ", heading.textContent);
    menu.append(label);
  }
  menu.hidden = false;
}
