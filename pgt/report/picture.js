// What a viewer draws: a map over two axes or a line over one, sensors on top; no controls.

const payload = JSON.parse(document.getElementById('payload').textContent);
const MAPS = Object.fromEntries(Object.entries(payload.maps).map(([name, text]) => [name, bytes(text)]));
const READINGS = Object.fromEntries(Object.entries(payload.readings).map(([name, r]) => [name, {
  points: Object.fromEntries(Object.entries(r.points).map(([axis, text]) => [axis, doubles(text)])),
  values: floats(r.values), held: bytes(r.held), note: r.note,
}]));
const WALLS = payload.walls.map((wall) => ({
  name: wall.name,
  points: Object.fromEntries(Object.entries(wall.points).map(([axis, text]) => [axis, Array.from(doubles(text))])),
}));
const MISSING = 4096;
const NEAR = 0.025; // of an axis: readings this close to a slice are drawn on it

class Picture {
  constructor(spec, layers, name) {
    Object.assign(this, { name, layers, axes: spec.axes, fixed: spec.fixed, note: spec.note });
    this.layer = this.layers[0];
    this.sizes = this.axes.map((axis) => axis.places.length);
    this.strides = this.sizes.map((_, k) => this.sizes.slice(k + 1).reduce((a, b) => a * b, 1));
    this.index = this.sizes.map((size) => Math.floor((size - 1) / 2));
    this.space = this.axes.map((_, k) => k).filter((k) => this.axes[k].name !== 't').reverse();
    this.choosePlane(this.space.length > 2 ? this.space[2] : null);
    this.showSensors = true;
    this.counted = [0, 0];
    this.canvas = element('canvas', { 'aria-hidden': 'true' });
    this.svg = shape('svg', { role: 'img', tabindex: '0' });
    this.cursor = shape('g');
    this.profile = shape('svg', { class: 'profile', role: 'img' });
    this.map = element('div', { class: 'map' }, this.canvas, this.svg);
  }

  // The drawn axes, horizontal first: time runs to the right, otherwise x does.
  choosePlane(normal) {
    const time = this.axes.findIndex((axis) => axis.name === 't');
    const space = this.space.filter((k) => k !== normal).slice(0, 2);
    this.plane = space.length === 2 ? space : [...(time >= 0 ? [time] : []), ...space];
    this.profiled = space.length === 1 && time >= 0 ? time : null; // x–t: slider on a drawn axis
    this.sliderAxes = this.axes.map((_, k) => k).filter((k) => !this.plane.includes(k) || k === this.profiled);
  }

  value(layer, index) {
    const code = layer.codes[index.reduce((sum, i, k) => sum + i * this.strides[k], 0)];
    return code === MISSING ? NaN : layer.least + layer.step * code;
  }

  nearestIndex(k, position) {
    const places = this.axes[k].places;
    let best = 0;
    places.forEach((place, i) => { if (Math.abs(place - position) < Math.abs(places[best] - position)) best = i; });
    return best;
  }

  bounds(k) { return [this.axes[k].places[0], this.axes[k].places.at(-1)]; }

  // Lay out anew for a width on the page.
  layOut(available) {
    this.width = Math.max(280, Math.min(available, 900));
    const inner = this.width - 64 - 18;
    if (this.plane.length === 2) {
      const [a, u] = this.plane.map((k) => this.bounds(k));
      const alike = this.profiled === null && this.axes[this.plane[0]].unit === this.axes[this.plane[1]].unit;
      const ratio = alike ? (u[1] - u[0]) / (a[1] - a[0]) : 0.5;
      const height = Math.min(Math.max(inner * ratio, Math.min(inner, 110)), Math.max(260, 0.62 * innerHeight));
      const width = alike ? Math.min(inner, Math.max(height / ratio, 120)) : inner;
      this.frame = new Frame(64 + (inner - width) / 2, 12, width, height, a, u);
    }
  }

  draw() {
    const flat = this.plane.length < 2;
    this.map.hidden = flat;
    this.profile.toggleAttribute('hidden', !flat && this.profiled === null);
    if (!flat) { this.drawMap(); this.drawAxes(); }
    if (flat || this.profiled !== null) this.drawProfile();
  }

  drawMap() {
    const [a, u] = this.plane;
    const [nx, ny] = [this.sizes[a], this.sizes[u]];
    const image = new ImageData(nx, ny);
    const colours = MAPS[this.layer.colours];
    const start = this.index.reduce((sum, i, k) => sum + (k === a || k === u ? 0 : i * this.strides[k]), 0);
    for (let pixel = 0; pixel < nx * ny; pixel++) {
      const [i, j] = [pixel % nx, ny - 1 - Math.floor(pixel / nx)];
      const code = this.layer.codes[start + i * this.strides[a] + j * this.strides[u]];
      if (code === MISSING) continue; // stays transparent
      const [red, green, blue] = colourOf(this.layer, colours, this.layer.least + this.layer.step * code);
      image.data.set([red, green, blue, 255], 4 * pixel);
    }
    const small = element('canvas', { width: nx, height: ny });
    small.getContext('2d').putImageData(image, 0, 0);
    const density = 2; // sharp on a phone and in print
    this.canvas.width = density * this.frame.width;
    this.canvas.height = density * this.frame.height;
    const context = this.canvas.getContext('2d');
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = 'high';
    // Grid points are the centres of pixels: the first and last lie on the edges of the map.
    context.drawImage(small, 0.5, 0.5, nx - 1, ny - 1, 0, 0, this.canvas.width, this.canvas.height);
  }

  drawAxes() {
    const { frame, layer } = this;
    const bottom = frame.top + frame.height;
    const height = bottom + 96;
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${height}`);
    // In shares of the drawing, so that the picture stays under its axes at any width, on paper too.
    Object.assign(this.map.style, { maxWidth: `${this.width}px`, aspectRatio: `${this.width} / ${height}` });
    Object.assign(this.canvas.style, {
      left: `${(100 * frame.left) / this.width}%`, top: `${(100 * frame.top) / height}%`,
      width: `${(100 * frame.width) / this.width}%`, height: `${(100 * frame.height) / height}%`,
    });
    const [a, u] = this.plane.map((k) => this.axes[k]);
    const bar = colourBar(layer, MAPS[layer.colours], frame.left, bottom + 46, frame.width, `bar-${this.name}`);
    this.cursor.replaceChildren();
    this.svg.replaceChildren(frame.axes(label(a), label(u), false), bar, this.walls(), this.sensors(), this.cursor);
    if (this.profiled !== null) {
      const x = frame.x(a.places[this.index[this.profiled]]);
      this.svg.append(shape('path', { class: 'now', d: `M${x} ${frame.top}V${bottom}` }));
    }
    this.svg.setAttribute('aria-label', `Map of ${layer.name} over ${a.name} and ${u.name}; arrow keys read values`);
  }

  // Rows of the layer's readings that lie on the present slice, or near it.
  visible(axesOfSlice) {
    const readings = READINGS[this.layer.readings];
    this.counted = [0, 0];
    if (!readings || !this.showSensors) return [];
    const rows = [...readings.values.keys()].filter((row) => axesOfSlice.every((k) => {
      const [low, high] = this.bounds(k);
      const place = readings.points[this.axes[k].name];
      return !place || Math.abs(place[row] - this.axes[k].places[this.index[k]]) <= NEAR * (high - low);
    }));
    rows.forEach((row) => { this.counted[readings.held[row]] += 1; });
    return rows;
  }

  // The walls of a shape, where the map lies in its plane.
  walls() {
    const group = shape('g');
    const [a, u] = this.plane.map((k) => this.axes[k].name);
    for (const wall of WALLS.filter(({ points }) => points[a] && points[u])) {
      const line = shape('path', { class: 'wall', d: this.frame.line(wall.points[a], wall.points[u]) });
      line.append(shape('title', {}, wall.name));
      group.append(line);
    }
    return group;
  }

  sensors() {
    const group = shape('g');
    const readings = READINGS[this.layer.readings];
    const colours = MAPS[this.layer.colours];
    const [a, u] = this.plane.map((k) => this.axes[k].name);
    for (const row of this.visible(this.sliderAxes.filter((k) => k !== this.profiled))) {
      const value = readings.values[row];
      const fill = this.layer.barOf ? 'white' : `rgb(${colourOf(this.layer, colours, value)})`;
      const place = [this.frame.x(readings.points[a][row]), this.frame.y(readings.points[u][row])];
      group.append(marker(...place, readings.held[row], fill));
    }
    return group;
  }

  // The layer along the last drawn axis, with its error bars and the readings near the slice.
  drawProfile() {
    const k = this.plane.at(-1);
    const axis = this.axes[k];
    const along = (layer) => axis.places.map((_, i) => this.value(layer, this.index.map((j, m) => (m === k ? i : j))));
    const line = along(this.layer);
    const bar = this.layers.find((layer) => layer.barOf === this.layer.name);
    const half = bar ? along(bar) : line.map(() => 0);
    const edges = [1, -1].map((sign) => line.map((value, i) => value + sign * half[i]));
    const counted = this.counted;
    const rows = this.layer.barOf ? [] : this.visible(this.sliderAxes);
    if (this.profiled !== null) this.counted = counted; // the map above shows more
    const readings = READINGS[this.layer.readings];
    const drawn = [this.layer.low, this.layer.high, ...edges.flat(), ...rows.map((row) => readings.values[row])].filter(Number.isFinite);
    const [low, high] = [drawn.reduce((a, b) => Math.min(a, b)), drawn.reduce((a, b) => Math.max(a, b))];
    const margin = 0.05 * (high - low);
    const frame = new Frame(64, 12, this.width - 82, 190, this.bounds(k), [low - margin, high + margin]);
    this.profile.setAttribute('viewBox', `0 0 ${this.width} 246`);
    this.profile.setAttribute('aria-label', `${this.layer.name} along ${axis.name}`);
    this.profile.replaceChildren(frame.axes(label(axis), label(this.layer), true));
    if (bar) this.profile.append(shape('path', { class: 'band s0', d: frame.band(axis.places, ...edges) }));
    this.profile.append(shape('path', { class: 'line s0', d: frame.line(axis.places, line) }));
    for (const row of rows) {
      const place = [frame.x(readings.points[axis.name][row]), frame.y(readings.values[row])];
      this.profile.append(marker(...place, readings.held[row], 'white'));
    }
  }

  // What is drawn, in words.
  caption() {
    const readings = READINGS[this.layer.readings];
    const parts = this.fixed.map((axis) => named(axis, axis.places[0]) + '.');
    if (readings && this.showSensors) {
      const near = this.sliderAxes.map((k) => named(this.axes[k], this.axes[k].places[this.index[k]])).join(', ');
      const which = this.profiled !== null ? `; beside the line those near ${near}` : near && ` near ${near}`;
      const held = this.counted[1] ? ` and ◇ ${this.counted[1]} held-out` : '';
      parts.push(`○ ${this.counted[0]} fitted${held} readings${which}, coloured by what they read. ${readings.note}`);
    }
    if (this.layer.readings && !readings) parts.push(`No sensor read ${this.layer.readings}: it is inferred.`);
    return [...parts, this.note].join(' ').trim();
  }
}
