// What a timeline shows in a window of time. The counterpart of gantt_figure in Python: all colours, sizes and words
// come from there (the "look"), and a test compares the traces of both.

/** Blocks packed by `packed_blocks` in Python: `{name, count, stage: Uint16Array, …, start: Float64Array, …}`. */
export function unpack(bytes) {
  const buffer = bytes.slice().buffer;
  const headerLength = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, headerLength)));
  const aligned = offset => Math.ceil(offset / 8) * 8;
  const blocks = {name: header.name, count: header.count};
  let offset = aligned(8 + headerLength);
  for (const [column, type] of header.columns) {
    blocks[column] = new globalThis[`${type}Array`](buffer, offset, header.count);
    offset = aligned(offset + blocks[column].byteLength);
  }
  return blocks;
}

/** The part of a window that lies inside the step; the whole step for none. */
export function clipped(range, end) {
  if (!range) return [0, end];
  const first = Math.max(0, range[0]);
  const last = Math.min(end, range[1]);
  return first < last ? [first, last] : [0, end];
}

/** Plotly traces of a window, for a plot that is `widthPx` wide. */
export function tracesIn(blocks, look, range, widthPx) {
  const visible = [];
  for (let i = 0; i < blocks.count; i++)
    if (blocks.end[i] > range[0] && blocks.start[i] < range[1]) visible.push(i);
  const traces =
    visible.length > look.max_blocks
      ? [...binTraces(blocks, visible, look, range), borders(look, range)]
      : [...barTraces(blocks, visible, look, range, widthPx), ...labelTrace(blocks, visible, look, range, widthPx)];
  return [...traces, ...look.lines];
}

function byActivity(blocks, visible, look) {
  const groups = new Map(look.activities.map(activity => [`${activity.kind} ${activity.chunk}`, []]));
  for (const i of visible) groups.get(`${blocks.kind[i]} ${blocks.chunk[i]}`).push(i);
  return look.activities.map((activity, a) => [activity, [...groups.values()][a]]).filter(([, own]) => own.length);
}

const middleOf = (blocks, i, look) => blocks.stage[i] + look.half_shifts[blocks.half[i]];
const heightOf = (blocks, i, look, alone) => (blocks.half[i] ? look.half_height : alone);

function barTraces(blocks, visible, look, range, widthPx) {
  const timePerPx = (range[1] - range[0]) / widthPx;
  return byActivity(blocks, visible, look).map(([activity, own]) => {
    const start = own.map(i => Math.max(blocks.start[i], range[0]));
    return {
      ...activity.bar,
      base: start,
      x: own.map((i, n) => {
        const length = Math.min(blocks.end[i], range[1]) - start[n];
        return length - Math.min(look.hairline_share * length, look.hairline_px * timePerPx);
      }),
      y: own.map(i => middleOf(blocks, i, look)),
      width: own.every(i => !blocks.half[i]) ? activity.height : own.map(i => heightOf(blocks, i, look, activity.height)),
      customdata: own.map(i => [
        blocks.stage[i], blocks.micro_batch[i], blocks.start[i], blocks.end[i], blocks.end[i] - blocks.start[i],
        blocks.split[i],
      ]),
      hovertext: own.map(i => look.phases[blocks.phase[i]]),
    };
  });
}

function labelTrace(blocks, visible, look, range, widthPx) {
  const pxPerTime = widthPx / (range[1] - range[0]);
  const activities = new Map(look.activities.map(activity => [`${activity.kind} ${activity.chunk}`, activity]));
  const labels = {x: [], y: [], text: [], size: [], color: []};
  for (const i of visible) {
    const start = Math.max(blocks.start[i], range[0]);
    const end = Math.min(blocks.end[i], range[1]);
    const px = (end - start) * pxPerTime;
    if (visible.length > look.max_labelled && px < look.shortest_labelled_px) continue;
    const activity = activities.get(`${blocks.kind[i]} ${blocks.chunk[i]}`);
    const text = look.splits ? `${blocks.micro_batch[i]}.${blocks.split[i]}` : `${blocks.micro_batch[i]}`;
    const heightPx = heightOf(blocks, i, look, activity.height) * look.lane_px;
    const size = look.label_sizes.find(
      candidate =>
        text.length * look.digit_width * candidate + look.label_room * candidate <= px && candidate + 1 <= heightPx,
    );
    if (!size) continue;
    labels.x.push((start + end) / 2);
    labels.y.push(middleOf(blocks, i, look));
    labels.text.push(text);
    labels.size.push(size);
    labels.color.push(activity.label);
  }
  const {x, y, text, size, color} = labels;
  return x.length ? [{...look.labels, x, y, text, textfont: {size, color}}] : [];
}

function binTraces(blocks, visible, look, range) {
  const [bins, stages] = [look.num_bins, look.num_stages];
  const width = (range[1] - range[0]) / bins;
  const groups = byActivity(blocks, visible, look);
  const work = groups.map(([, own]) => workInBins(blocks, own, stages, bins, range[0], width));
  const z = groups.map(() => Array.from({length: stages}, () => new Array(bins).fill(null)));
  for (let cell = 0; cell < stages * bins; cell++) {
    const total = work.reduce((sum, of) => sum + of[cell], 0);
    // Overlapped work of two kinds at once fills the time once.
    const busy = Math.min(total / width, 1);
    let most = (1 - busy) * width;
    let busiest = -1;
    for (let a = 0; a < work.length; a++)
      if (work[a][cell] > most) {
        most = work[a][cell];
        busiest = a;
      }
    if (busiest >= 0) z[busiest][Math.floor(cell / bins)][cell % bins] = busy;
  }
  return groups.map(([activity], a) => ({...activity.bins, x0: range[0] + width / 2, dx: width, z: z[a]}));
}

/** Time that blocks spend in each bin, `[stage · bins + bin]`. */
function workInBins(blocks, own, stages, bins, origin, width) {
  const work = new Float64Array(stages * bins);
  for (const i of own) {
    const start = (blocks.start[i] - origin) / width;
    const end = (blocks.end[i] - origin) / width;
    const last = Math.min(Math.ceil(end), bins) - 1;
    for (let bin = Math.max(0, Math.floor(start)); bin <= last; bin++)
      work[blocks.stage[i] * bins + bin] += (Math.min(end, bin + 1) - Math.max(start, bin)) * width;
  }
  return work;
}

function borders(look, range) {
  const [whole, between] = [look.end, x => (x === null ? null : x ? range[1] : range[0])];
  return {...look.borders, x: Array.from({length: 3 * (look.num_stages - 1)}, (_, i) => between([0, whole, null][i % 3]))};
}
