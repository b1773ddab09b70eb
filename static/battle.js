/* The battle page without a reload: keys, the next battle painted at once, a queue that survives a lost connection.
   Every act is a plain form post that also works without this file; here it waits in a queue until the server has
   answered. A vote keeps its idempotency key, so sending it again is safe. */
(() => {
  "use strict";

  const desk = document.getElementById("battle-desk");
  if (!desk) return;
  const say = desk.dataset;
  const form = document.getElementById("ballot");
  const flagForm = document.getElementById("flag-form");
  const announce = document.getElementById("announce");
  const word = document.getElementById("word");
  const narrow = window.matchMedia("(max-width: 48rem)");
  const SETTLE_MS = 300; // a double click is one vote
  const TRY_AGAIN_MS = [1000, 2000, 4000, 8000, 15000];

  const part = (id) => document.getElementById(id);
  const current = () => desk.querySelector("#stage > article.battle");
  const url = (act, id) => say[act].replace(say.nobody, id);

  /* --- what is kept in the browser ------------------------------------------------------------------------- */

  const store = {
    read(name, otherwise) {
      try { return JSON.parse(localStorage.getItem(name)) ?? otherwise; } catch { return otherwise; }
    },
    write(name, value) {
      try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* private mode: memory must do */ }
    },
  };
  const QUEUE = `tiltyard.queue:${location.pathname}`;
  const LETTERS = "tiltyard.letters";
  let queue = store.read(QUEUE, []);
  let letters = store.read(LETTERS, true);

  function keep(change) {
    queue = change(store.read(QUEUE, queue));
    store.write(QUEUE, queue);
  }

  /* --- time on the screen, and what has been seen ----------------------------------------------------------- */

  let shownMs = 0;
  let visibleSince = null;
  let paintedAt = 0;

  function clock(running) {
    const now = performance.now();
    if (visibleSince !== null) shownMs += now - visibleSince;
    visibleSince = running ? now : null;
  }

  // A pane that only peeks in above the bar, or is about to leave below the prompt, isn't seen.
  const EDGE = { top: 48, bottom: 200 };
  const seen = new WeakSet();
  const watcher = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => seen.add(entry.target)),
    { rootMargin: `-${EDGE.top}px 0px -${EDGE.bottom}px 0px` },
  );

  function isInView(pane) {
    const { top, bottom } = pane.getBoundingClientRect();
    return top < innerHeight - EDGE.bottom && bottom > EDGE.top;
  }

  function unseen() {
    if (!narrow.matches) return null;
    const prompt = current().querySelector(".prompt");
    if (prompt.matches("[data-cut]:not([data-read])")) return prompt;
    // The watcher may be a frame late.
    return [...current().querySelectorAll(".pane")].find((pane) => !seen.has(pane) && !isInView(pane)) ?? null;
  }

  /* --- painting --------------------------------------------------------------------------------------------- */

  let ahead = [...desk.querySelectorAll("#battle > template")].map(article);
  let lastVoted = null;

  function article(template) {
    return document.importNode(template.content.querySelector("article.battle"), true);
  }

  function aim() {
    const id = current()?.dataset.battle;
    if (!id) return;
    for (const button of desk.querySelectorAll("[data-act=vote], [data-act=skip]")) {
      button.setAttribute("formaction", url(button.dataset.act, id));
    }
    flagForm.action = url("flag", id);
    form.elements.key.value = current().dataset.key;
  }

  function begin() {
    watcher.disconnect();
    current()?.querySelectorAll(".pane").forEach((pane) => watcher.observe(pane));
    shownMs = 0;
    visibleSince = null;
    clock(!document.hidden);
    paintedAt = performance.now();
  }

  function paint(next) {
    part("stage").replaceChildren(next);
    part("stage").removeAttribute("aria-busy");
    aim();
    begin();
    if (!word.classList.contains("bad")) word.hidden = true;
    window.scrollTo(0, 0);
    next.querySelector("h2")?.focus({ preventScroll: true });
  }

  function advance() {
    const next = ahead.shift();
    if (next) paint(next);
    else part("stage").setAttribute("aria-busy", "true");
    announce.textContent = next ? say.sayNext : say.sayWaiting;
  }

  /* The server's word on what is open: keep what is on the screen if it is still first, else paint what is. */
  function absorb(html) {
    const answer = new DOMParser().parseFromString(html, "text/html").getElementById("battle");
    if (!answer) return false;
    const sent = [...answer.querySelectorAll("#stage > article.battle"), ...[...answer.querySelectorAll(":scope > template")].map(article)];
    const known = new Map([...sent, current(), ...ahead].filter(Boolean).map((one) => [one.dataset.battle, one]));
    const order = answer.dataset.order.split(" ").filter(Boolean);
    if (order.some((id) => !known.has(id))) return false;
    part("progress").textContent = answer.dataset.progress;
    const notice = answer.querySelector("#notice").textContent.trim();
    answer.querySelector("#notice").replaceChildren();
    if (order.length) show(answer, order.map((id) => known.get(id)));
    else finish(answer);
    if (notice) tell(notice);
    return true;
  }

  function show(answer, battles) {
    if (!part("vote-bar").querySelector(".votes")) part("vote-bar").replaceWith(answer.querySelector("#vote-bar"));
    else part("recorded").replaceWith(answer.querySelector("#recorded"));
    ahead = battles.slice(1);
    if (current() === battles[0]) part("stage").removeAttribute("aria-busy");
    else paint(battles[0]);
    announce.textContent = recordedWords();
  }

  /* "Recorded: B." and the names, where they are shown; not the button. */
  function recordedWords() {
    return [...part("recorded").querySelectorAll(".words > span:not(.no-undo)")].map((line) => line.textContent.trim()).join(" ");
  }

  function finish(answer) {
    ahead = [];
    part("battle").replaceWith(document.importNode(answer, true));
    announce.textContent = "";
    part("stage").querySelector("h2")?.focus();
  }

  /* --- the queue -------------------------------------------------------------------------------------------- */

  let sending = false;

  function enqueue(act) {
    keep((acts) => [...acts, act]);
    if (!act.keepsLine) part("recorded").replaceChildren();
    send();
  }

  async function post(act) {
    const held = [current(), ...ahead].filter(Boolean).map((one) => one.dataset.battle).join(" ");
    const response = await fetch(act.url, {
      method: "POST",
      headers: { "HX-Request": "true", "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
      body: new URLSearchParams(Object.entries({ ...act.body, held }).flatMap(([name, value]) => [value].flat().map((one) => [name, one]))),
      signal: AbortSignal.timeout(20000),
    });
    if (response.status >= 500 || response.status === 429) throw new Error(`status ${response.status}`);
    return { status: response.status, html: await response.text() };
  }

  async function send() {
    if (sending) return;
    sending = true;
    for (let failures = 0; queue.length; ) {
      const act = queue[0];
      let answer;
      try {
        answer = await post(act);
      } catch {
        lost(say.sayOffline);
        await pause(TRY_AGAIN_MS[Math.min(failures++, TRY_AGAIN_MS.length - 1)]);
        continue;
      }
      failures = 0;
      settled();
      if (take(act, answer)) return;
    }
    sending = false;
  }

  /* The server has answered; true when the page is about to be loaded anew. */
  function take(act, { status, html }) {
    const isRefused = status === 403 || status === 404;
    if (isRefused && !act.refused) {
      // The page may be older than the session: a fresh one has the right token.
      keep((acts) => acts.map((one) => (one.id === act.id ? { ...one, refused: true } : one)));
      location.reload();
      return true;
    }
    keep((acts) => acts.filter((one) => one.id !== act.id));
    if (isRefused) lost(say.sayRefused);
    else if (!queue.length && !absorb(html)) refresh();
    return false;
  }

  function pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      window.addEventListener("online", () => { clearTimeout(timer); resolve(); }, { once: true });
    });
  }

  async function refresh() {
    const response = await fetch(location.href, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!response?.ok || !absorb(await response.text())) location.reload();
  }

  /* A line above the bar: bad news stays until it is over, others go by themselves. */
  function tell(words, bad = false) {
    word.hidden = false;
    word.classList.toggle("bad", bad);
    word.textContent = words;
    lift();
    if (!bad) setTimeout(() => { if (word.textContent === words) word.hidden = true; }, 8000);
  }

  /* The bar is as tall as its words need: the line stands on it. */
  function lift() {
    if (!word.hidden) word.style.bottom = `${part("vote-bar").offsetHeight}px`;
  }

  const lost = (words) => tell(words, true);

  function settled() {
    if (word.classList.contains("bad")) tell(say.saySent);
  }

  /* --- acts ------------------------------------------------------------------------------------------------- */

  const isReady = () => current() && !part("stage").hasAttribute("aria-busy") && performance.now() - paintedAt > SETTLE_MS;
  const newId = () => Math.random().toString(36).slice(2);

  function vote(outcome) {
    if (!isReady()) return;
    const hidden = unseen();
    if (hidden) {
      lead(hidden);
      return;
    }
    clock(!document.hidden);
    const { battle, key } = current().dataset;
    const place = `${narrow.matches ? "narrow" : "wide"}-${document.documentElement.dir === "rtl" ? "rtl" : "ltr"}`;
    const layout = current().dataset.text === "plain" ? `${place}-plain` : place;
    const body = { outcome, key, layout, dwell_ms: Math.round(shownMs) };
    lastVoted = battle;
    advance();
    enqueue({ id: newId(), url: url("vote", battle), battle, leaves: true, body });
    Object.assign(part("recorded").dataset, { battle, reasons: "", comment: "" });
  }

  /* To what hasn't been looked at. */
  function lead(hidden) {
    const isPrompt = hidden.matches(".prompt");
    tell(isPrompt ? say.saySeePrompt : hidden.matches(".pane-a") ? say.saySeeA : say.saySeeB);
    if (isPrompt) {
      hidden.open = true;
      hidden.querySelector(".whole[aria-expanded=false]")?.click();
    }
    hidden.scrollIntoView({ block: "start" });
  }

  function skip() {
    if (!isReady()) return;
    const { battle } = current().dataset;
    advance();
    enqueue({ id: newId(), url: url("skip", battle), battle, leaves: true, body: {} });
  }

  function undo() {
    if (say.sayNoUndo) {
      tell(say.sayNoUndo);
      return;
    }
    const button = part("recorded").querySelector("[data-act=undo]");
    const id = queue.length ? lastVoted : button?.getAttribute("formaction").split("/").at(-3);
    if (!id) return;
    lastVoted = null;
    delete part("recorded").dataset.battle;
    part("stage").setAttribute("aria-busy", "true");
    announce.textContent = say.sayWaiting;
    enqueue({ id: newId(), url: url("undo", id), battle: id, body: {} });
  }

  function flag() {
    const { battle } = current()?.dataset ?? {};
    part("flag").hidePopover();
    if (battle) enqueue({ id: newId(), url: url("flag", battle), battle, body: { text: flagForm.elements.text.value } });
    flagForm.reset();
  }

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button?.dataset.act) return;
    event.preventDefault();
    ({ vote: () => vote(button.value), skip, undo })[button.dataset.act]();
  });
  flagForm.addEventListener("submit", (event) => {
    event.preventDefault();
    flag();
  });
  /* Reasons for the last vote, from reasons.js: they wait in the same queue, behind the vote. */
  desk.addEventListener("explain", ({ detail: { battle, ...body } }) => {
    enqueue({ id: newId(), url: url("reasons", battle), battle, keepsLine: true, body });
  });
  desk.addEventListener("tell", ({ detail }) => tell(detail));

  /* --- keys ------------------------------------------------------------------------------------------------- */

  const open = (id) => () => part(id).showPopover();
  const hand = (name, detail) => () => desk.dispatchEvent(new CustomEvent(name, { detail }));
  const LETTER_KEYS = {
    a: () => vote("model_a"), b: () => vote("model_b"), t: () => vote("tie"), x: () => vote("both_bad"),
    s: skip, z: undo, f: open("flag"), g: open("guide"), w: open("why"), "?": open("keys"), "؟": open("keys"),
    e: hand("whole"), l: hand("linked"), p: hand("plain"),
  };
  for (let digit = 1; digit <= 7; digit++) LETTER_KEYS[digit] = hand("reason", digit);
  // The arrow points at the side, wherever the page's direction has put it.
  const mirrored = document.documentElement.dir === "rtl";
  const ARROW_KEYS = {
    ArrowLeft: () => vote(mirrored ? "model_b" : "model_a"),
    ArrowRight: () => vote(mirrored ? "model_a" : "model_b"),
  };

  function letter(event) {
    if (event.key in LETTER_KEYS) return event.key;
    if (/^Digit[1-7]$/.test(event.code)) return event.code.at(-1);
    // On a keyboard of another script the key that prints A on Latin ones still is A.
    return /^[\x20-\x7e]$/.test(event.key) ? event.key.toLowerCase() : event.code.replace("Key", "").toLowerCase();
  }

  function scrollsSideways(element) {
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      if (box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
    }
    return false;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.repeat || event.isComposing || event.keyCode === 229) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    // A field in a dialog that was just closed keeps the focus for a moment; it isn't typed into any more.
    if (event.target.closest("input, textarea, select, [contenteditable]")?.checkVisibility()) return;
    if (document.querySelector("dialog[open], :popover-open")) return;
    const arrow = ARROW_KEYS[event.key];
    const act = arrow ?? (letters ? LETTER_KEYS[letter(event)] : undefined);
    if (!act || (arrow && scrollsSideways(event.target))) return;
    if (event.shiftKey && !/^[?؟1-7]$/.test(event.key)) return;
    event.preventDefault();
    act();
  });

  const box = part("letters");
  function showLetters() {
    box.checked = letters;
    document.body.classList.toggle("letters-off", !letters);
  }
  box.closest(".letters").hidden = false;
  box.addEventListener("change", () => {
    letters = box.checked;
    store.write(LETTERS, letters);
    showLetters();
    announce.textContent = letters ? say.sayLettersOn : say.sayLettersOff;
  });

  /* --- start ------------------------------------------------------------------------------------------------ */

  document.addEventListener("visibilitychange", () => clock(!document.hidden));
  window.addEventListener("resize", lift);
  showLetters();
  begin();
  if (queue.length) {
    // Votes of the last visit that the server hasn't confirmed: their battles aren't shown again.
    const unsent = new Set(queue.filter((act) => act.leaves).map((act) => act.battle));
    ahead = ahead.filter((one) => !unsent.has(one.dataset.battle));
    if (unsent.has(current()?.dataset.battle)) advance();
    send();
  }
})();
