// Draws charts with Plotly. A figure comes whole, as JSON. A timeline is mounted twice: once with its blocks (bytes, sent
// when they change) and once with what else there is to know (JSON); a closer look is drawn at once, here, and Python
// hears of it afterwards.

const arrivals = new Map(); // name of blocks → {blocks: promise, arrive: its resolve function, keepers: elements}
const views = new Map(); // name of a view → {range, sent, charts}: timelines that share one window of time
const mounted = new WeakMap(); // element of a mounted component → what is kept for it
let library;
const SHORTEST_DRAG_PX = 5;

export default function (component) {
  if (component.data instanceof Uint8Array) return keepBlocks(component);
  if (component.data.only === "library") return void load(component.data.library).catch(() => {}); // charts will say so
  return show(component);
}

function arrival(name) {
  if (!arrivals.has(name)) {
    let arrive;
    const blocks = new Promise(resolve => (arrive = resolve));
    arrivals.set(name, {blocks, arrive, keepers: new Set()});
  }
  return arrivals.get(name);
}

function keepBlocks({data, parentElement}) {
  const blocks = unpack(data);
  if (mounted.get(parentElement) !== blocks.name) forgetBlocks(parentElement);
  mounted.set(parentElement, blocks.name);
  const {arrive, keepers} = arrival(blocks.name);
  keepers.add(parentElement);
  arrive(blocks);
  return () => forgetBlocks(parentElement);
}

/** Blocks are kept as long as one element keeps them; two timelines may show the same. */
function forgetBlocks(parent) {
  const name = mounted.get(parent);
  const keepers = arrivals.get(name)?.keepers;
  keepers?.delete(parent);
  if (keepers?.size === 0) arrivals.delete(name);
}

async function show({data, parentElement, setTriggerValue}) {
  const chart = mounted.get(parentElement) ?? create(parentElement);
  chart.wanted = data;
  chart.send = setTriggerValue;
  chart.frame.setAttribute("aria-label", data.alt);
  chart.frame.classList.toggle("chart-zoomable", Boolean(data.look));
  if (data.look) join(chart, data);
  try {
    chart.plotly = await load(data.library);
  } catch (error) {
    setTriggerValue("failed", String(error));
    return;
  }
  const blocks = data.look && (await arrival(data.blocks).blocks);
  // Newer data came meanwhile, and draws itself.
  if (chart.wanted !== data) return;
  Object.assign(chart, {data, blocks, look: data.look && JSON.parse(data.look)});
  draw(chart);
  return () => leave(chart);
}

function load(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(address, document.baseURI);
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("The drawing library cannot be loaded."));
    document.head.append(script);
  });
  return library;
}

function create(parent) {
  const frame = document.createElement("div");
  frame.className = "chart-frame";
  frame.setAttribute("role", "figure");
  const element = document.createElement("div");
  frame.append(element);
  parent.append(frame);
  const chart = {frame, element};
  mounted.set(parent, chart);
  chart.resizing = new ResizeObserver(() => chart.data && draw(chart));
  chart.resizing.observe(frame);
  letZoom(chart);
  return chart;
}

function join(chart, data) {
  if (!views.has(data.view)) views.set(data.view, {range: null, sent: 0, charts: new Set()});
  if (chart.view !== views.get(data.view)) {
    chart.view?.charts.delete(chart);
    chart.view = views.get(data.view);
    chart.view.charts.add(chart);
  }
  // What Python says before it has heard of the latest closer look is out of date.
  if (data.heard === null || data.heard >= chart.view.sent) showRange(chart.view, data.range);
}

function leave(chart) {
  chart.resizing.disconnect();
  chart.view?.charts.delete(chart);
  chart.plotly.purge(chart.element);
}

/** Let all charts of a view show a range. */
function showRange(view, range) {
  if (String(view.range) === String(range)) return;
  view.range = range;
  for (const chart of view.charts) if (chart.data) draw(chart);
}

function zoom(chart, range) {
  chart.view.sent = Math.max(Date.now(), chart.view.sent + 1);
  const sent = chart.view.sent;
  showRange(chart.view, range);
  // After the next frame: what the reader waits for comes first.
  requestAnimationFrame(() => setTimeout(() => chart.send("zoom", {range, sent})));
}

function draw(chart) {
  const {data, element, frame} = chart;
  const width = frame.clientWidth;
  const range = chart.look && clipped(chart.view.range, chart.look.end);
  const asked = [data.blocks, data.look ?? data.figure, JSON.stringify(data.config), width, range].join("\n");
  if (!width || asked === chart.asked) return;
  chart.asked = asked;
  const {data: traces, layout} = chart.look ? timeline(chart, range, width) : JSON.parse(data.figure);
  chart.plotly.react(element, traces, {...layout, width}, data.config);
}

function timeline({look, blocks}, range, width) {
  const {layout} = look;
  return {
    data: tracesIn(blocks, look, range, width - layout.margin.l - layout.margin.r),
    layout: {...layout, dragmode: false, xaxis: {...layout.xaxis, range, fixedrange: true}},
  };
}

/** Drag across: a closer look. Double click: the whole step. */
function letZoom(chart) {
  const {frame} = chart;
  const box = document.createElement("div");
  box.className = "chart-box";
  let drag = null;
  const plotAt = ({clientX, clientY}) => {
    const area = chart.look && chart.element.querySelector(".nsewdrag")?.getBoundingClientRect();
    const hit = area && clientX >= area.left && clientX <= area.right && clientY >= area.top && clientY <= area.bottom;
    return hit ? area : null;
  };
  const end = () => {
    drag = null;
    box.remove();
  };
  const reach = event => {
    const to = Math.min(Math.max(event.clientX, drag.area.left), drag.area.right);
    return [Math.min(drag.from, to), Math.max(drag.from, to)];
  };
  frame.addEventListener("pointerdown", event => {
    const area = event.button ? null : plotAt(event);
    if (!area) return;
    drag = {area, from: event.clientX};
    frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointermove", event => {
    if (!drag) return;
    const outer = frame.getBoundingClientRect();
    const [left, right] = reach(event);
    box.style.inset = `${drag.area.top - outer.top}px auto auto ${left - outer.left}px`;
    box.style.width = `${right - left}px`;
    box.style.height = `${drag.area.height}px`;
    frame.append(box);
  });
  frame.addEventListener("pointerup", event => {
    if (!drag) return;
    const {area} = drag;
    const [left, right] = reach(event);
    end();
    if (right - left < SHORTEST_DRAG_PX) return;
    const [first, last] = clipped(chart.view.range, chart.look.end);
    zoom(chart, [left, right].map(px => first + ((px - area.left) / area.width) * (last - first)));
  });
  frame.addEventListener("pointercancel", end);
  frame.addEventListener("dblclick", event => {
    if (chart.view?.range && plotAt(event)) zoom(chart, null);
  });
}
