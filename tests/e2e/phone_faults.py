"""What a phone must not do to a page: cut without a hint, and break words."""

from __future__ import annotations

CUT = """() => {
  const cut = [];
  for (const one of document.querySelectorAll("body *")) {
    const style = getComputedStyle(one);
    if (one.clientWidth < 2 || one.scrollWidth <= one.clientWidth + 1) continue;
    if (style.overflowX === "visible") continue;
    if (one.matches("input, select, textarea, pre[tabindex], .visually-hidden")) continue;
    const name = `${one.tagName}.${one.className}`, shade = getComputedStyle(one, "::after");
    if (one.tabIndex !== 0 || one.getAttribute("role") !== "region" || !one.getAttribute("aria-label"))
      cut.push(`${name} is cut, and no key reaches it by a name`);
    else if (shade.position !== "sticky" || !shade.backgroundImage.includes("gradient")
        || !(parseFloat(shade.width) >= 12))
      cut.push(`${name} is cut without a shade at its edge`);
  }
  return cut;
}"""

BROKEN = r"""() => {
  const broken = [], range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    // A digest, a path or a line of code has no words.
    const around = text.parentElement.closest("code, pre, script, style, title, .hash, .fingerprint, .long");
    if (around || !text.data.trim()) continue;
    for (const word of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      if (/^[0-9a-f]{16,}$/.test(word[0])) continue;
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const parts = [...range.getClientRects()].filter(box => box.width);
      if (new Set(parts.map(box => Math.round(box.top))).size > 1) broken.push(`“${word[0]}” is broken`);
    }
  }
  return broken;
}"""


def phone_faults(page) -> list[str]:
    return [*page.evaluate(CUT), *page.evaluate(BROKEN)]


# Without a hand on it a table hides what lies under the shade at its edge.
IN_SIGHT = """one => {
  const box = one.getBoundingClientRect(), shade = one.closest(".scroll") ? 16 : 0;
  return box.width > 0 && box.left >= 0 && box.right <= innerWidth - shade + 1;
}"""


def in_sight(page, selector: str) -> bool:
    """Is all of the first such thing between the page's edges, before anybody scrolls sideways?"""
    return page.locator(selector).first.evaluate(IN_SIGHT)


def comes_in_sight(page, selector: str) -> None:
    """Wait for it: what keys scroll glides, and is a pixel short of its end for a while."""
    page.wait_for_function(f"selector => ({IN_SIGHT})(document.querySelector(selector))", arg=selector)
