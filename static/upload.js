/* How far a file has been sent, a way to stop it, and a file that is too large refused before it is sent. Without this
   script the same form is sent by the browser. Where it led, the page goes: the server tells by Upload-Leads-To. */
(() => {
  "use strict";

  const MEGABYTE = 1024 * 1024;
  const megabytes = (bytes) => (bytes / MEGABYTE).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 });

  function attach(form) {
    const part = form.querySelector("[data-upload]");
    const { most, sent, checking, large, lost, cancelled } = part.dataset;
    const [line, bar, stop] = ["p", "progress", "button"].map((name) => part.querySelector(name));
    const field = form.querySelector("input[type=file]");
    const buttons = () => form.querySelectorAll("button:not([type=button])");
    let request = null;

    function say(words, isUnderWay) {
      line.textContent = words;
      part.hidden = !words;
      bar.hidden = stop.hidden = !isUnderWay;
      for (const button of buttons()) button.disabled = isUnderWay;
    }

    const isTooLarge = () => Number(most) > 0 && [...field.files].some((file) => file.size > Number(most));
    const end = (words) => { request = null; say(words, false); };

    function told(answer) {
      const to = answer.getResponseHeader("Upload-Leads-To");
      if (to) return location.assign(to);
      // The form again with what is wrong, or why nothing was taken.
      const page = new DOMParser().parseFromString(answer.responseText, "text/html");
      const main = page.querySelector("main");
      if (!main) return end(lost);
      document.title = page.title;
      document.querySelector("main").replaceWith(main);
      begin();
      main.focus();
    }

    field.addEventListener("change", () => say(isTooLarge() ? large : "", false));
    stop.addEventListener("click", () => request?.abort());
    form.addEventListener("submit", (event) => {
      if (event.defaultPrevented || !field.files.length) return;
      event.preventDefault();
      if (request) return;
      if (isTooLarge()) { say(large, false); return; }
      request = new XMLHttpRequest();
      request.upload.addEventListener("progress", ({ loaded, total }) => {
        bar.max = total;
        bar.value = loaded;
        line.textContent = loaded < total
          ? sent.replace("{n}", megabytes(loaded)).replace("{all}", megabytes(total))
          : checking;
        if (loaded >= total) bar.removeAttribute("value");
      });
      request.addEventListener("load", () => told(request));
      request.addEventListener("error", () => end(lost));
      request.addEventListener("abort", () => end(cancelled));
      const body = new FormData(form);
      request.open("POST", form.action);
      request.setRequestHeader("Upload-By", "script");
      bar.value = 0;
      say(sent.replace("{n}", "0").replace("{all}", megabytes(field.files[0].size)), true);
      request.send(body);
    });
  }

  function begin() {
    for (const form of document.querySelectorAll("form[enctype='multipart/form-data']")) {
      if (form.querySelector("[data-upload]")) attach(form);
    }
  }

  // A page that comes back from the browser's memory is as it was left: with a button that can't be pressed.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  begin();
})();
