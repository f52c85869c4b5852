// Chromium prints every hatched block as a picture of the whole chart: hundreds make a PDF of many megabytes.
// On paper, blocks of a trace with the same hatching are one path; on the screen they are as they were.
(() => {
  const changed = [];
  addEventListener("beforeprint", () => {
    for (const trace of document.querySelectorAll(".js-plotly-plot .barlayer .trace")) {
      const firsts = new Map();
      for (const block of trace.querySelectorAll('path[style*="url"]')) {
        const { fill } = block.style, path = block.getAttribute("d");
        changed.push([block, path, fill]);
        const first = firsts.get(fill);
        if (first) {
          first.setAttribute("d", first.getAttribute("d") + path);
          block.style.fill = "none";
        } else {
          firsts.set(fill, block);
        }
      }
    }
  });
  addEventListener("afterprint", () => {
    for (const [block, path, fill] of changed.splice(0)) {
      block.setAttribute("d", path);
      block.style.fill = fill;
    }
  });
})();
