/* A button beside a text that is shown once copies it. Without this script there is no button, and the text is marked
   and copied by hand. */
(() => {
  "use strict";

  async function copy(field) {
    field.select();
    if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
    else if (!document.execCommand("copy")) throw new Error("not copied"); // over plain http
  }

  for (const button of document.querySelectorAll("[data-copies]")) {
    const field = document.getElementById(button.dataset.copies);
    const done = button.querySelector("[data-copied]");
    if (!field) continue;
    button.hidden = false;
    button.addEventListener("click", () => {
      copy(field).then(() => { done.hidden = false; }, () => field.focus());
    });
  }
})();
