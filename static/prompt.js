/* The prompt of the battle on the screen: whether it is cut, a button for all of it, whether its end has been seen,
   and one line of it pinned to the top once it has scrolled away. What it finds out stands in attributes of the
   prompt: data-cut (longer than its box), data-whole (opened), data-at-end (its end is in view), data-read (was). */
(() => {
  "use strict";

  const desk = document.getElementById("battle-desk");
  const pin = document.getElementById("pin");
  if (!desk || !pin) return;
  const line = pin.querySelector(".line");
  const pinned = pin.querySelector(".prose");
  const bar = document.getElementById("vote-bar");
  let prompt = null;

  function measure() {
    if (!prompt?.open || prompt.hasAttribute("data-whole")) return;
    const { scrollHeight, clientHeight } = prompt.querySelector(".prose");
    const isCut = scrollHeight > clientHeight + 1;
    prompt.toggleAttribute("data-cut", isCut);
    prompt.querySelector(".whole").hidden = !isCut;
  }

  const size = new ResizeObserver(measure);

  const ends = new IntersectionObserver(
    (entries) => entries.filter(({ target }) => target.isConnected).forEach(({ target, isIntersecting }) => {
      if (isIntersecting) prompt?.setAttribute("data-read", "");
      target.closest(".prompt, #pin").toggleAttribute("data-at-end", isIntersecting);
    }),
    // What lies under the bar isn't seen.
    { rootMargin: `0px 0px -${bar?.offsetHeight ?? 0}px 0px` },
  );

  const passing = new IntersectionObserver(([...entries]) => {
    const { target, isIntersecting, boundingClientRect } = entries.at(-1);
    if (target === prompt) showPin(!isIntersecting && boundingClientRect.bottom <= 0);
  });

  function showPin(isAway) {
    pin.hidden = !isAway;
    if (!isAway) pin.open = false;
  }

  /* Another battle, or none any more. */
  function begin() {
    const next = desk.querySelector("#stage .prompt");
    if (next === prompt) return;
    [size, ends, passing].forEach((observer) => observer.disconnect());
    prompt = next;
    showPin(false);
    if (!prompt) return;
    const prose = prompt.querySelector(".prose");
    pinned.replaceChildren(...prose.cloneNode(true).childNodes);
    line.textContent = prose.textContent.trim().replace(/\s+/g, " ").slice(0, 200);
    measure();
    size.observe(prose);
    ends.observe(prose.querySelector(".end"));
    ends.observe(pinned.querySelector(".end"));
    passing.observe(prompt);
  }

  desk.addEventListener("click", (event) => {
    const button = event.target.closest(".whole");
    if (!button) return;
    const isWhole = prompt.toggleAttribute("data-whole");
    button.setAttribute("aria-expanded", isWhole);
    if (!isWhole && prompt.getBoundingClientRect().top < 0) prompt.scrollIntoView({ block: "start" });
  });

  document.addEventListener("pointerdown", (event) => { if (!pin.contains(event.target)) pin.open = false; });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !pin.open) return;
    pin.open = false;
    if (pin.contains(document.activeElement)) pin.querySelector("summary").focus();
  });

  new MutationObserver(begin).observe(desk, { childList: true, subtree: true });
  begin();
})();
