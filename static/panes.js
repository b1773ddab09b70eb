/* The two responses of the battle on the screen: cut at the same height, shown whole together, scrolled together and
   shown as plain text if the rater likes it so. All likes are kept in this browser; the last in a cookie, so that the
   server sends the texts in the right form. The other form lies in a template beside each. */
(() => {
  "use strict";

  const desk = document.getElementById("battle-desk");
  if (!desk) return;
  const WHOLE = "tiltyard.whole";
  const LINKED = "tiltyard.linked";
  const PLAIN = "tiltyard_text=plain";
  const UNDER_A_TEXT = 60; // pixels: the button, with the space around it
  const YEAR = 365 * 24 * 60 * 60; // seconds
  const announce = document.getElementById("announce");
  const likes = { [WHOLE]: read(WHOLE), [LINKED]: read(LINKED) };
  const setTo = new WeakMap();
  const plainButton = () => desk.querySelector(".plain"); // another one with another part of the page
  const room = new CSSStyleSheet();
  document.adoptedStyleSheets.push(room);
  let isPlain = document.cookie.split("; ").includes(PLAIN);
  let article = null;

  function read(name) {
    try { return localStorage.getItem(name) === "true"; } catch { return false; }
  }

  function like(name, value) {
    likes[name] = value;
    try { localStorage.setItem(name, value); } catch { /* private mode: for this page then */ }
    show();
    measure();
  }

  const texts = () => (article ? [...article.querySelectorAll(".pane > .prose")] : []);
  const isCut = (text) => text.scrollHeight > text.clientHeight + 1;
  const scrolls = (text) => isCut(text) && getComputedStyle(text).overflowY === "auto";

  function show() {
    if (!article) return;
    article.toggleAttribute("data-whole-panes", likes[WHOLE]);
    article.querySelectorAll(".whole-panes").forEach((button) => button.setAttribute("aria-expanded", likes[WHOLE]));
    article.querySelector(".linked").setAttribute("aria-pressed", likes[LINKED]);
    article.querySelector(".together").hidden = texts().filter(scrolls).length < 2;
    for (const text of texts()) {
      if (scrolls(text)) text.tabIndex = 0;
      else text.removeAttribute("tabindex");
    }
  }

  /* So tall that the button below a cut text stands above the bar while the prompt is in view. */
  function fit() {
    const bar = document.getElementById("vote-bar");
    if (!article || !bar || article.querySelector(".prompt").hasAttribute("data-whole")) return;
    const [text] = texts();
    const top = text.getBoundingClientRect().top + window.scrollY;
    const height = Math.floor(window.innerHeight - bar.offsetHeight - top - UNDER_A_TEXT);
    room.replaceSync(`:root { --room: ${height}px; }`);
  }

  /* Whether a text is cut can only be seen while it may be. */
  function measure() {
    if (article && !article.hasAttribute("data-whole-panes")) {
      for (const text of texts()) {
        text.parentElement.toggleAttribute("data-cut", isCut(text));
        text.parentElement.querySelector(".whole-panes").hidden = !isCut(text);
      }
    }
    show();
  }

  function toggleWhole() {
    if (!article?.querySelector(".pane[data-cut]")) return;
    like(WHOLE, !likes[WHOLE]);
    const panes = article.querySelector(".panes");
    if (!likes[WHOLE] && panes.getBoundingClientRect().top < 0) panes.scrollIntoView({ block: "start" });
  }

  function toggleLinked() {
    if (!article || article.querySelector(".together").hidden) return;
    like(LINKED, !likes[LINKED]);
    if (announce) announce.textContent = likes[LINKED] ? desk.dataset.sayLinked : desk.dataset.sayUnlinked;
  }

  /* Both run from their first line to their last at once, however long each is. */
  function follow({ target }) {
    if (!likes[LINKED] || setTo.get(target) === Math.round(target.scrollTop)) return;
    const other = texts().find((text) => text !== target);
    if (!texts().includes(target) || !other) return;
    const share = target.scrollTop / Math.max(target.scrollHeight - target.clientHeight, 1);
    other.scrollTop = share * (other.scrollHeight - other.clientHeight);
    setTo.set(other, Math.round(other.scrollTop));
    setTo.delete(target);
  }

  /* Both texts in the form that the rater likes, whichever they came in. */
  function dress() {
    const form = isPlain ? "plain" : "formatted";
    plainButton()?.setAttribute("aria-pressed", isPlain);
    if (!article || article.dataset.text === form) return;
    for (const text of texts()) {
      const other = text.parentElement.querySelector(":scope > template");
      if (!other) return; // the campaign has them in one form alone
      const shown = document.createDocumentFragment();
      shown.append(...text.childNodes);
      text.append(other.content);
      other.content.append(shown);
      text.classList.toggle("as-written", isPlain);
    }
    article.dataset.text = form;
  }

  function togglePlain() {
    if (!article || !plainButton()) return;
    isPlain = !isPlain;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `${PLAIN}; Path=/; SameSite=Lax; Max-Age=${isPlain ? YEAR : 0}${secure}`;
    dress();
    measure();
    if (announce) announce.textContent = isPlain ? desk.dataset.sayPlain : desk.dataset.sayFormatted;
  }

  const size = new ResizeObserver(measure);
  const around = new ResizeObserver(fit); // the texts' own boxes tell in turn that they changed

  /* Another battle, or none any more. */
  function begin() {
    const next = desk.querySelector("#stage > article.battle");
    if (next === article) return;
    [size, around].forEach((observer) => observer.disconnect());
    article = next;
    dress();
    fit();
    measure();
    [article?.querySelector(".prompt"), document.getElementById("vote-bar")].forEach((box) => box && around.observe(box));
    // The text's own box: it grows no more once it is cut, but it changes with the window.
    texts().forEach((text) => { size.observe(text); text.addEventListener("scroll", follow, { passive: true }); });
  }

  desk.addEventListener("click", (event) => {
    if (event.target.closest(".whole-panes")) toggleWhole();
    if (event.target.closest(".linked")) toggleLinked();
    if (event.target.closest(".plain")) {
      event.preventDefault(); // without this file the button sends a form
      togglePlain();
    }
  });
  desk.addEventListener("whole", toggleWhole);
  desk.addEventListener("linked", toggleLinked);
  desk.addEventListener("plain", togglePlain);
  plainButton()?.parentElement.removeAttribute("hidden");
  window.addEventListener("resize", fit);
  new MutationObserver(begin).observe(desk, { childList: true, subtree: true });
  begin();
})();
