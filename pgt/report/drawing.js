// Small tools: elements, numbers, ticks, colours. Text only ever enters as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function shape(tag, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return node;
}

function bytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

// Undoes what the writer did: deflate, and differences along the last two axes.
async function codes(base64, sizes) {
  const packed = new Blob([bytes(base64)]).stream().pipeThrough(new DecompressionStream('deflate'));
  const found = new Uint16Array(await new Response(packed).arrayBuffer());
  const across = sizes.at(-1) || 1;
  const whole = across * (sizes.at(-2) || 1);
  for (let k = 0; k < found.length; k++) if (k % across) found[k] += found[k - 1];
  if (sizes.length > 1) for (let k = 0; k < found.length; k++) if (k % whole >= across) found[k] += found[k - across];
  return found;
}

const floats = (base64) => new Float32Array(bytes(base64).buffer);
const doubles = (base64) => new Float64Array(bytes(base64).buffer);

// How many digits tell numbers between two bounds apart: more where they are far from zero.
function digitsBetween(low, high) {
  const ratio = Math.max(Math.abs(low), Math.abs(high)) / Math.abs(high - low);
  return Number.isFinite(ratio) && ratio > 1 ? Math.min(3 + Math.floor(Math.log10(ratio)), 12) : 3;
}

function number(value, digits = 3) {
  if (!Number.isFinite(value)) return 'no value';
  if (Math.abs(value) < 1e-12) return '0';
  const power = Math.floor(Math.log10(Math.abs(value)));
  if (power >= -3 && power < Math.max(5, digits)) return String(Number(value.toPrecision(digits))).replace('-', '−');
  const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
  const raised = exponent.replace('+', '').replace(/./g, (c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c] || '⁻');
  return `${String(Number(mantissa)).replace('-', '−')} × 10${raised}`;
}

const digitsOf = (axis) => digitsBetween(axis.places[0], axis.places.at(-1));
const named = (axis, value) => `${axis.name} = ${number(value, digitsOf(axis))}${axis.unit ? ' ' + axis.unit : ''}`;
const label = (thing) => (thing.unit ? `${thing.name} [${thing.unit}]` : thing.name);

// Round positions between two bounds: about as many as asked for, three at least.
function ticks(low, high, count) {
  const rough = (high - low) / count;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= 0.99 * rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found.length < 3 && count < 9 ? ticks(low, high, count + 1) : found;
}

// Red, green, blue of a value; the ends of the map beyond its range.
function colourOf(layer, colours, value) {
  const share = (value - layer.low) / (layer.high - layer.low);
  const k = 3 * Math.max(0, Math.min(255, Math.round(255 * share)));
  return [colours[k], colours[k + 1], colours[k + 2]];
}

// A rectangle of the drawing in which two ranges of values are laid out.
class Frame {
  constructor(left, top, width, height, across, up) {
    Object.assign(this, { left, top, width, height, across, up });
  }
  x(value) { return this.left + ((value - this.across[0]) / (this.across[1] - this.across[0])) * this.width; }
  y(value) { return this.top + (1 - (value - this.up[0]) / (this.up[1] - this.up[0])) * this.height; }
  values(x, y) {
    const share = [(x - this.left) / this.width, 1 - (y - this.top) / this.height];
    return [this.across, this.up].map(([low, high], k) => low + share[k] * (high - low));
  }
  // A path through points, with gaps where there is no value.
  line(places, values) {
    const drawn = (i) => Number.isFinite(values[i]);
    return values.map((v, i) => (drawn(i) ? `${i && drawn(i - 1) ? 'L' : 'M'}${this.x(places[i])} ${this.y(v)}` : '')).join('');
  }
  band(places, above, below) {
    if (![...above, ...below].every(Number.isFinite)) return '';
    const back = this.line([...places].reverse(), [...below].reverse());
    return `${this.line(places, above)}${back.replace('M', 'L')}Z`;
  }
  axes(acrossLabel, upLabel, grid) {
    const group = shape('g');
    const bottom = this.top + this.height;
    for (const value of ticks(...this.across, Math.max(2, this.width / 90))) {
      const x = this.x(value);
      group.append(shape('path', { class: grid ? 'grid' : 'tick', d: `M${x} ${bottom + 4}V${grid ? this.top : bottom}` }));
      group.append(shape('text', { x, y: bottom + 17, 'text-anchor': 'middle' }, number(value, digitsBetween(...this.across))));
    }
    for (const value of ticks(...this.up, Math.max(2, this.height / 50))) {
      const y = this.y(value);
      const end = grid ? this.left + this.width : this.left;
      group.append(shape('path', { class: grid ? 'grid' : 'tick', d: `M${this.left - 4} ${y}H${end}` }));
      group.append(shape('text', { x: this.left - 8, y: y + 4, 'text-anchor': 'end' }, number(value, digitsBetween(...this.up))));
    }
    const middle = this.top + this.height / 2;
    group.append(shape('text', { class: 'label', x: this.left + this.width / 2, y: bottom + 34, 'text-anchor': 'middle' }, acrossLabel));
    group.append(shape('text', { class: 'label', transform: `translate(${this.left - 51} ${middle}) rotate(-90)`, 'text-anchor': 'middle' }, upLabel));
    return group;
  }
}

function colourBar(layer, colours, left, top, width, id) {
  const group = shape('g');
  const gradient = shape('linearGradient', { id });
  for (let k = 0; k <= 32; k++) {
    const at = 3 * Math.min(255, 8 * k);
    gradient.append(shape('stop', { offset: k / 32, 'stop-color': `rgb(${colours[at]},${colours[at + 1]},${colours[at + 2]})` }));
  }
  const bar = shape('rect', { x: left, y: top, width, height: 12, rx: 2, fill: `url(#${id})` });
  group.append(gradient, bar);
  for (const value of ticks(layer.low, layer.high, Math.max(3, width / 90))) {
    const x = left + ((value - layer.low) / (layer.high - layer.low)) * width;
    group.append(shape('path', { class: 'tick', d: `M${x} ${top + 12}v4` }));
    group.append(shape('text', { x, y: top + 28, 'text-anchor': 'middle' }, number(value, digitsBetween(layer.low, layer.high))));
  }
  const text = label(layer) + (layer.clipped ? ' (colours end at 99.5 % of the values)' : '');
  group.append(shape('text', { class: 'label', x: left + width / 2, y: top + 45, 'text-anchor': 'middle' }, text));
  return group;
}

// A circle for a fitted reading, a diamond for one that was held out; a halo keeps dark ones visible.
function marker(x, y, held, fill) {
  const outline = held ? { d: `M${x} ${y - 6}l6 6l-6 6l-6 -6Z` } : { cx: x, cy: y, r: 4 };
  const group = shape('g', { class: held ? 'sensor held' : 'sensor', fill });
  for (const kind of ['halo', 'edge']) group.append(shape(held ? 'path' : 'circle', { class: kind, ...outline }));
  return group;
}
