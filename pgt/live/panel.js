// One picture with its axes, its colours and the sensors on top. It knows where a pointer is, nothing more.
'use strict';

const LEFT = 58;
const GRAB = 16; // pixels around a sensor within which a pointer takes it

class Panel {
  constructor(name, title, axes) {
    Object.assign(this, { name, axes });
    this.canvas = element('canvas', { 'aria-hidden': 'true' });
    this.svg = shape('svg', { role: 'group', tabindex: '0', 'aria-label': `${name}: arrow keys move a sensor, n takes the next, d drops it` });
    this.map = element('div', { class: 'map' }, this.canvas, this.svg);
    this.title = element('h2', {}, title);
    this.root = element('section', { class: 'panel', id: name }, this.title, this.map);
    this.back = shape('g');
    this.dots = shape('g');
    this.svg.append(this.back, this.dots);
  }

  // Equal lengths look equal where both axes are of space.
  layOut() {
    this.width = Math.max(260, Math.min(this.root.clientWidth || 400, 700));
    const inner = this.width - LEFT - 16;
    const [a, u] = this.axes.map((axis) => [axis.low, axis.high]);
    const ratio = this.axes[0].name === 't' ? 0.8 : (u[1] - u[0]) / (a[1] - a[0]);
    const height = Math.max(90, Math.min(inner * ratio, 460));
    this.frame = new Frame(LEFT, 10, Math.min(inner, Math.max(height / ratio, 120)), height, a, u);
    this.height = 10 + height + 100;
    this.svg.setAttribute('viewBox', `0 0 ${this.width} ${this.height}`);
    Object.assign(this.map.style, { aspectRatio: `${this.width} / ${this.height}`, maxWidth: `${this.width}px` });
    Object.assign(this.canvas.style, {
      left: `${(100 * this.frame.left) / this.width}%`, top: `${(100 * this.frame.top) / this.height}%`,
      width: `${(100 * this.frame.width) / this.width}%`, height: `${(100 * this.frame.height) / this.height}%`,
    });
    this.barred = null;
  }

  // layer: values [up, across], first row below; their range, colours and name.
  draw(layer) {
    const [ny, nx] = layer.shape;
    const image = new ImageData(nx, ny);
    for (let pixel = 0; pixel < nx * ny; pixel++) {
      const value = layer.values[(ny - 1 - Math.floor(pixel / nx)) * nx + (pixel % nx)];
      if (Number.isFinite(value)) image.data.set([...colourOf(layer, layer.colours, value), 255], 4 * pixel);
    }
    const small = element('canvas', { width: nx, height: ny });
    small.getContext('2d').putImageData(image, 0, 0);
    this.canvas.width = 2 * this.frame.width; // sharp on fine screens
    this.canvas.height = 2 * this.frame.height;
    const context = this.canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    // Nodes are the centres of pixels: the first and last lie on the edges of the picture.
    context.drawImage(small, 0.5, 0.5, nx - 1, ny - 1, 0, 0, this.canvas.width, this.canvas.height);
    this.drawAxes(layer);
  }

  drawAxes(layer) {
    const scale = `${layer.low} ${layer.high} ${layer.name}`;
    if (scale === this.barred) return;
    this.barred = scale;
    const { frame } = this;
    const bar = colourBar(layer, layer.colours, frame.left, frame.top + frame.height + 46, frame.width, `bar-${this.name}`);
    this.back.replaceChildren(frame.axes(label(this.axes[0]), label(this.axes[1]), false), bar);
  }

  place(sensors, chosen) {
    this.dots.replaceChildren(...sensors.map(({ at, off }, k) => {
      const dot = marker(this.frame.x(at[0]), this.frame.y(at[1]), false, off ? 'none' : 'white');
      dot.classList.toggle('off', off);
      dot.classList.toggle('chosen', k === chosen);
      return dot;
    }));
  }

  // Where a pointer is, in coordinates of the picture; on its edge where it is beyond.
  at(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.width / box.width;
    const found = this.frame.values((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    return found.map((value, k) => Math.max(this.axes[k].low, Math.min(this.axes[k].high, value)));
  }

  nearest(event, sensors) {
    const [x, y] = this.at(event);
    const far = ({ at }) => Math.hypot(this.frame.x(at[0]) - this.frame.x(x), this.frame.y(at[1]) - this.frame.y(y));
    const best = sensors.reduce((b, sensor, k) => (b < 0 || far(sensor) < far(sensors[b]) ? k : b), -1);
    return best >= 0 && far(sensors[best]) <= GRAB ? best : -1;
  }
}
