/* Why the last vote went as it did: by digit at once, or in a window with a comment. What has been said stands in
   the line of the last vote, which the server renews; each act sends all of it, so a lost or doubled one does no
   harm. battle.js keeps the queue. */
(() => {
  "use strict";

  const desk = document.getElementById("battle-desk");
  const form = document.getElementById("why-form");
  const dialog = document.getElementById("why");
  if (!desk || !form) return;
  const say = desk.dataset;
  const announce = document.getElementById("announce");
  const boxes = [...form.querySelectorAll("[name=reasons]")];

  const last = () => document.getElementById("recorded").dataset;
  const given = () => new Set((last().reasons ?? "").split(" ").filter(Boolean));
  const label = (box) => box.closest("label").querySelector("span").textContent;
  const hand = (name, detail) => desk.dispatchEvent(new CustomEvent(name, { detail }));

  function explain(reasons, comment) {
    const { battle } = last();
    Object.assign(last(), { reasons: reasons.join(" "), comment });
    const words = boxes.filter((box) => reasons.includes(box.value)).map(label).join(", ");
    announce.textContent = words ? `${say.sayReasons} ${words}` : say.sayNoReasons;
    hand("explain", { battle, reasons, comment });
  }

  desk.addEventListener("reason", ({ detail: number }) => {
    if (!last().battle) {
      hand("tell", say.sayNoVote);
      return;
    }
    const { value } = boxes[number - 1];
    const reasons = given();
    if (!reasons.delete(value)) reasons.add(value);
    explain(boxes.map((box) => box.value).filter((one) => reasons.has(one)), last().comment ?? "");
  });

  dialog.addEventListener("beforetoggle", ({ newState }) => {
    if (newState !== "open") return;
    const reasons = given();
    boxes.forEach((box) => { box.checked = reasons.has(box.value); });
    form.elements.comment.value = last().comment ?? "";
    form.querySelector(".primary").disabled = !last().battle;
  });
  dialog.addEventListener("toggle", ({ newState }) => { if (newState === "open") boxes[0].focus(); });

  // In the window a digit ticks its box, and doesn't close it.
  dialog.addEventListener("keydown", (event) => {
    const box = /^[1-7]$/.test(event.key) && event.target.name !== "comment" ? boxes[event.key - 1] : null;
    if (!box || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    box.click();
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.hidePopover();
    if (!last().battle) return;
    explain(boxes.filter((box) => box.checked).map((box) => box.value), form.elements.comment.value.trim());
  });
})();
