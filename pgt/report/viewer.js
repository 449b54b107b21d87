// Controls around a picture: fields, slices, sliders, the pointer and the keyboard.

class Viewer extends Picture {
  constructor(root, spec, layers, name) {
    super(spec, layers, name);
    this.root = root;
    this.controls = element('div', { class: 'controls' });
    this.readout = element('p', { class: 'readout', 'aria-live': 'polite' });
    this.root.replaceChildren(this.controls, this.map, this.profile, this.readout);
    this.buildControls();
    this.svg.addEventListener('pointermove', (event) => this.point(event));
    this.svg.addEventListener('pointerdown', (event) => this.point(event, true));
    this.svg.addEventListener('pointerleave', () => this.leave());
    this.svg.addEventListener('blur', () => this.leave());
    this.svg.addEventListener('keydown', (event) => this.walk(event));
    new ResizeObserver(() => this.resize()).observe(this.root);
  }

  resize() {
    this.layOut(this.root.clientWidth);
    this.update();
  }

  update() {
    this.draw();
    this.leave();
  }

  buildControls() {
    clearInterval(this.timer);
    this.timer = null;
    this.controls.replaceChildren();
    this.select('Show', this.layers.map((layer) => layer.name), this.layers.indexOf(this.layer), (k) => {
      this.layer = this.layers[k];
      this.update();
    });
    if (this.space.length > 2) {
      const normal = this.space.find((k) => !this.plane.includes(k));
      this.sliceList = this.select('Slice across', this.space.map((k) => this.axes[k].name), this.space.indexOf(normal), (k) => {
        this.choosePlane(this.space[k]);
        this.buildControls();
        this.resize();
        this.sliceList.focus(); // a new one has taken the place of the one in use
      });
    }
    if (this.layers.some((layer) => layer.readings)) {
      const box = element('input', { type: 'checkbox' });
      box.checked = this.showSensors;
      box.addEventListener('change', () => { this.showSensors = box.checked; this.update(); });
      this.controls.append(element('label', { class: 'check' }, box, ' sensors'));
    }
    for (const k of this.sliderAxes) this.slider(k);
  }

  select(text, names, chosen, act) {
    const list = element('select', {}, ...names.map((name) => element('option', {}, name)));
    list.selectedIndex = chosen;
    list.addEventListener('change', () => act(list.selectedIndex));
    const control = element('label', {}, text + ' ', list);
    if (names.length > 1) this.controls.append(control);
    return list;
  }

  slider(k) {
    const axis = this.axes[k];
    const range = element('input', { type: 'range', min: 0, max: this.sizes[k] - 1, step: 1, 'data-axis': axis.name });
    const shown = element('output');
    const show = () => {
      shown.textContent = named(axis, axis.places[this.index[k]]);
      range.setAttribute('aria-valuetext', shown.textContent);
      range.value = this.index[k];
    };
    range.addEventListener('input', () => { this.index[k] = Number(range.value); show(); this.update(); });
    show();
    const row = element('div', { class: 'slider' }, element('label', {}, axis.name + ' ', range), shown);
    this.moved = { ...this.moved, [k]: show };
    if (axis.name === 't') row.append(this.player(k, show));
    this.controls.append(row);
  }

  player(k, show) {
    const button = element('button', { type: 'button', 'aria-pressed': 'false' }, 'Play');
    button.addEventListener('click', () => {
      if (this.timer) { clearInterval(this.timer); this.timer = null; } else {
        this.timer = setInterval(() => { this.index[k] = (this.index[k] + 1) % this.sizes[k]; show(); this.update(); }, 120);
      }
      button.textContent = this.timer ? 'Pause' : 'Play';
      button.setAttribute('aria-pressed', String(Boolean(this.timer)));
    });
    return button;
  }

  point(event, pressed = false) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const place = this.frame.values(x, y);
    const inside = this.plane.every((k, n) => place[n] >= this.bounds(k)[0] && place[n] <= this.bounds(k)[1]);
    if (!inside) { this.leave(); return; }
    if (pressed && this.profiled !== null) {
      this.index[this.profiled] = this.nearestIndex(this.profiled, place[0]);
      this.moved[this.profiled]();
      this.update();
    }
    this.tell(this.plane.map((k, n) => this.nearestIndex(k, place[n])));
  }

  walk(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const from = this.told || this.plane.map((k) => Math.floor(this.sizes[k] / 2));
    this.tell(this.plane.map((k, n) => Math.max(0, Math.min(this.sizes[k] - 1, from[n] + step[n]))));
  }

  // Mark a grid point and say its value.
  tell(indices) {
    this.told = indices;
    const at = this.plane.map((k, n) => this.axes[k].places[indices[n]]);
    const full = this.index.map((i, k) => (this.plane.includes(k) ? indices[this.plane.indexOf(k)] : i));
    const value = this.value(this.layer, full);
    const unit = Number.isNaN(value) || !this.layer.unit ? '' : ` ${this.layer.unit}`;
    this.readout.textContent = `${this.plane.map((k, n) => named(this.axes[k], at[n])).join(', ')}: ${this.layer.name} = ${number(value, 4)}${unit}`;
    const [x, y] = [this.frame.x(at[0]), this.frame.y(at[1])];
    this.cursor.replaceChildren(shape('path', { class: 'cursor', d: `M${x - 9} ${y}h18M${x} ${y - 9}v18` }));
  }

  leave() {
    this.told = null;
    this.cursor.replaceChildren();
    this.readout.textContent = this.caption();
  }
}

async function show(root) {
  const spec = payload.viewers[root.dataset.viewer];
  if (!spec) {
    root.textContent = 'The data of the maps could not be made.';
    return;
  }
  if (!spec.axes.length) {
    root.textContent = 'The grid is a single point: there is nothing to draw.';
    return;
  }
  const sizes = spec.axes.map((axis) => axis.places.length);
  const layers = await Promise.all(spec.layers.map(async (layer) => ({ ...layer, codes: await codes(layer.codes, sizes) })));
  new Viewer(root, spec, layers, root.dataset.viewer);
}

for (const root of document.querySelectorAll('[data-viewer]')) {
  if (typeof DecompressionStream === 'undefined') root.textContent = 'This browser is too old for the maps: use one from 2023 or later.';
  else show(root);
}

// On paper nothing can be unfolded.
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
