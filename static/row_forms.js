/* A form that stands in place of a table's row is left by Escape, as by the link in it that says so: unless something
   was typed, which only the link may throw away. */
(() => {
  "use strict";

  const isTyped = (field) => /^(textarea|text|search|url|number)$/.test(field.type) && field.value !== field.defaultValue;

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    const form = event.target.closest("tr form");
    const leave = form?.querySelector("[data-leaves]");
    if (!leave || [...form.elements].some(isTyped)) return;
    event.preventDefault();
    leave.click();
  });
})();
