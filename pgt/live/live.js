// The page: what the user changes becomes a wish, the newest wish is sent, its answer is drawn.
'use strict';

const START = 24; // sensors
const STEPS = 1000; // of a slider
const $ = (id) => document.getElementById(id);
const percent = (share) => (share === null || share === undefined ? '–' : `${number(100 * share)} %`);
const fraction = (x) => x - Math.floor(x);

const state = { sensors: [], chosen: -1, noise: 0, coefficients: {}, seed: 0, dropped: 0, instant: null, field: null, third: 'error', follow: true };
let panels = [];
let setup, maps, answer;

// ------------------------------------------------------------------------------ asking

let busy = false;
let waiting = false;

// One wish at a time; while it is answered only the newest is remembered: the last move wins.
async function ask() {
  if (busy) { waiting = true; return; }
  busy = true;
  do {
    waiting = false;
    await once();
  } while (waiting);
  busy = false;
}

async function once() {
  const begun = performance.now();
  try {
    const reply = await fetch('answer', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(wish()) });
    const found = await reply.json();
    if (!reply.ok) { trouble(found.trouble); return; }
    trouble(null);
    answer = unpacked(found);
    draw();
    numbers(performance.now() - begun);
  } catch (error) {
    trouble(`The server does not answer (${error.message}); is pgt live still running?`);
  }
}

function wish() {
  const { noise, coefficients, seed, field, instant, sensors } = state;
  const common = { coefficients, field, ...(setup.instants ? { instant } : {}) };
  if (setup.streams) return common;
  const off = sensors.flatMap((sensor, k) => (sensor.off ? [k] : []));
  return { ...common, noise, seed, off, sensors: sensors.map((sensor) => sensor.at) };
}

function unpacked(found) {
  const grids = Object.fromEntries(['truth', 'values', 'low', 'high'].filter((name) => found[name]).map((name) => [name, floats(found[name])]));
  return { ...found, ...grids };
}

// ------------------------------------------------------------------------------ drawing

function draw() {
  if (setup.streams) {
    state.sensors = answer.sensors.map((at) => ({ at, off: false }));
    if (state.follow && answer.newest !== null && answer.newest !== state.instant) moveTo(answer.newest);
  }
  for (const panel of panels) panel.draw(layers[panel.name]());
  // Those of the truth: where few are simulated, the nearest ones.
  for (const [name, value] of Object.entries(answer.coefficients || {})) tell(`turn-${name}`, number(value));
  sensors();
}

function sensors() {
  for (const panel of panels) if (panel.frame) panel.place(state.sensors, state.chosen);
}

const layer = (name, values, [low, high], map) => ({ name, unit: '', values, shape: answer.shape, low, high: high > low ? high : low + 1, colours: maps[map] });

// The largest value, rounded up: colours hold still while a sensor is dragged.
function most(values) {
  const largest = values.reduce((a, b) => (b > a ? b : a), 0);
  if (!largest) return 0;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((m) => m * power).find((bound) => bound >= largest) || largest;
}

// Truth and reconstruction share their colours; a field of both signs has white at zero.
function ofField(values) {
  const [low, high] = answer.range;
  const bound = Math.max(-low, high);
  const signed = low < 0 && high > 0 && Math.min(-low, high) > 0.25 * bound;
  return layer(state.field, values, signed ? [-bound, bound] : [low, high], signed ? 'diverging' : 'sequential');
}

function ofBand() {
  const half = answer.high.map((value, k) => (value - answer.low[k]) / 2);
  return layer(`half of the ${number(100 * setup.level)} % band of ${state.field}`, half, [0, most(half)], 'spread');
}

function ofError() {
  const wrong = answer.values.map((value, k) => Math.abs(value - answer.truth[k]));
  return layer(`|error| of ${state.field}`, wrong, [0, most(wrong)], 'spread');
}

const layers = {
  truth: () => ofField(answer.truth),
  field: () => ofField(answer.values),
  third: () => (state.third === 'error' && !setup.streams ? ofError() : ofBand()),
};

function numbers(roundTrip) {
  const told = [
    ...(setup.streams ? [] : [['relative error', percent(answer.error), 'error']]),
    ['stated error', percent(answer.stated), 'stated'],
    ...(setup.streams ? [] : [['truth inside the band', percent(answer.held), 'held']]),
    ['readings', String(answer.readings), 'readings'],
    ['model', `${number(answer.milliseconds, 2)} ms`, 'model'],
    ['a move', `${Math.round(roundTrip)} ms`, 'move'],
  ];
  $('numbers').replaceChildren(...told.map(([name, value, id]) => element('span', {}, `${name} `, element('b', { id: `told-${id}` }, value))));
  $('numbers').dataset.answers = Number($('numbers').dataset.answers || 0) + 1;
  $('outside').hidden = !answer.outside.length;
  $('outside').replaceChildren(...answer.outside.map((sentence) => element('p', {}, sentence)));
}

function trouble(sentence) {
  $('trouble').hidden = !sentence;
  $('trouble').textContent = sentence || '';
}

// ------------------------------------------------------------------------------ sensors

function scatter(count, shift) {
  // Multiples of two irrational numbers: even at any count.
  state.sensors = Array.from({ length: count }, (_, k) => ({
    at: setup.axes.map(({ low, high }, n) => low + (high - low) * fraction(shift[n] + (k + 1) * [0.7548776662, 0.569840291][n])),
    off: false,
  }));
  state.chosen = -1;
  silence();
}

function change() { sensors(); ask(); }

function listen(panel) {
  panel.svg.addEventListener('pointerdown', (event) => {
    state.chosen = panel.nearest(event, state.sensors);
    if (state.chosen >= 0) panel.svg.setPointerCapture(event.pointerId);
    sensors();
  });
  panel.svg.addEventListener('pointermove', (event) => {
    if (state.chosen < 0 || !panel.svg.hasPointerCapture(event.pointerId)) {
      panel.svg.classList.toggle('near', panel.nearest(event, state.sensors) >= 0);
      return;
    }
    state.sensors[state.chosen].at = panel.at(event);
    change();
  });
  panel.svg.addEventListener('dblclick', (event) => {
    const near = panel.nearest(event, state.sensors);
    if (near >= 0) toggle(near);
    else if (state.sensors.length < setup.most.sensors) state.sensors.push({ at: panel.at(event), off: false });
    show('count', state.sensors.length, String(state.sensors.length));
    change();
  });
  panel.svg.addEventListener('keydown', (event) => { if (pressed(event.key)) event.preventDefault(); });
}

function toggle(k) { state.sensors[k].off = !state.sensors[k].off; }

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

function pressed(key) {
  const count = state.sensors.length;
  if (!count || !(key in ARROWS || 'nNdD'.includes(key))) return false;
  if (state.chosen < 0 || 'nN'.includes(key)) state.chosen = (state.chosen + 1) % count;
  const sensor = state.sensors[state.chosen];
  if ('dD'.includes(key)) toggle(state.chosen);
  if (key in ARROWS) {
    sensor.at = sensor.at.map((value, k) => {
      const { low, high } = setup.axes[k];
      return Math.max(low, Math.min(high, value + 0.02 * ARROWS[key][k] * (high - low)));
    });
  }
  change();
  return true;
}

// ------------------------------------------------------------------------------ controls

function slider(name, id, [min, max], at, said, moved) {
  const input = element('input', { type: 'range', min, max, value: at, id });
  const output = element('output', {}, said(at));
  input.addEventListener('input', () => {
    moved(Number(input.value));
    output.textContent = said(Number(input.value));
    ask();
  });
  $('controls').append(element('label', {}, name, input, output));
}

// Even in ratios where both bounds are positive.
function turn({ name, low, high, value }) {
  const ratio = low > 0;
  const valueAt = (k) => Math.max(low, Math.min(high, ratio ? low * (high / low) ** (k / STEPS) : low + ((high - low) * k) / STEPS));
  const share = ratio ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  state.coefficients[name] = value;
  slider(name, `turn-${name}`, [0, STEPS], Math.round(STEPS * share), (k) => number(valueAt(k)), (k) => { state.coefficients[name] = valueAt(k); });
}

function tell(id, text) {
  $(id).parentNode.querySelector('output').textContent = text;
}

function show(id, value, text) {
  $(id).value = value;
  tell(id, text);
}

function moveTo(instant) {
  state.instant = instant;
  show('instant', instant, number(setup.instants[instant]));
  waiting = true; // what was just drawn is that of another instant
}

function button(name, id, act) {
  const made = element('button', { type: 'button', id }, name);
  made.addEventListener('click', () => { act(); change(); });
  $('controls').append(made);
}

function choice(names, id, chosen, act) {
  const list = element('select', { id, 'aria-label': id }, ...names.map(([value, text]) => element('option', { value }, text)));
  list.value = chosen;
  list.addEventListener('change', () => act(list.value));
  return list;
}

// The same ones for the same share, spread over the picture.
function silence() {
  const count = Math.round(state.dropped * state.sensors.length);
  const order = state.sensors.map((_, k) => k).sort((a, b) => fraction(a * 0.6180339887) - fraction(b * 0.6180339887));
  order.forEach((k, n) => { state.sensors[k].off = n < count; });
  sensors();
}

function controls() {
  if (setup.fields.length > 1) {
    const list = choice(setup.fields.map((name) => [name, name]), 'field-name', state.field, (name) => { state.field = name; ask(); });
    $('controls').append(element('label', {}, 'field ', list));
  }
  setup.coefficients.forEach(turn);
  if (setup.instants) {
    const time = (k) => number(setup.instants[k]);
    slider('t', 'instant', [0, setup.instants.length - 1], state.instant, time, (k) => { state.instant = k; state.follow = false; });
  }
  if (setup.streams) {
    if (setup.instants) button('Follow the newest', 'follow', () => { state.follow = true; });
    return;
  }
  const share = (k) => `${k} %`;
  slider('sensors', 'count', [1, 200], START, String, (k) => scatter(k, [0, 0]));
  slider('noise', 'noise', [0, 50], 0, share, (k) => { state.noise = k / 100; });
  slider('dropped', 'dropped', [0, 90], 0, share, (k) => { state.dropped = k / 100; silence(); });
  button('Scatter', 'scatter', () => scatter(state.sensors.length, [Math.random(), Math.random()]));
  button('Another system', 'another', () => { state.seed += 1; });
}

// ------------------------------------------------------------------------------ arrivals

async function watch() {
  let seen = -1;
  for (;;) {
    try {
      const found = await (await fetch(`stream?seen=${seen}`)).json();
      if (found.lines > seen && found.readings) ask();
      seen = found.lines;
      arrived(found);
      if (found.ended) return;
    } catch (error) {
      trouble('The server does not answer; is pgt live still running?');
      await new Promise((done) => { setTimeout(done, 1000); });
    }
  }
}

function arrived(found) {
  const bad = found.bad ? ` ${found.bad} bad ${found.bad === 1 ? 'line' : 'lines'}, the last of them:` : '';
  const end = found.ended ? ' No more will come.' : '';
  const said = element('p', { id: 'said' }, `${found.readings} readings so far.${end}${bad}`);
  $('arrivals').hidden = false;
  $('arrivals').replaceChildren(said, element('ul', {}, ...found.named.map((sentence) => element('li', {}, sentence))));
  if (found.trouble) trouble(found.trouble);
}

// ------------------------------------------------------------------------------ beginning

const LEAD = {
  streams: 'The field follows the readings as they arrive.',
  drawn: 'Drag a sensor on any picture. Double-click one to drop it or take it back, an empty place to add one.',
};

function makePanels() {
  const third = choice([['error', 'Error'], ['band', 'Band']], 'third-layer', state.third, (value) => { state.third = value; draw(); });
  const both = [new Panel('field', 'Reconstruction', setup.axes), new Panel('third', setup.streams ? 'Band' : third, setup.axes)];
  panels = setup.streams ? both : [new Panel('truth', 'Truth', setup.axes), ...both];
  $('panels').append(...panels.map((panel) => panel.root));
  panels.forEach((panel) => panel.layOut());
  if (!setup.streams) panels.forEach(listen);
  addEventListener('resize', () => {
    panels.forEach((panel) => panel.layOut());
    if (answer) draw();
  });
}

async function begin() {
  setup = await (await fetch('setup')).json();
  maps = Object.fromEntries(Object.entries(setup.maps).map(([name, text]) => [name, bytes(text)]));
  state.field = setup.fields[0];
  if (setup.instants) state.instant = Math.floor(setup.instants.length / 2);
  $('lead').textContent = setup.streams ? LEAD.streams : LEAD.drawn;
  if (!setup.streams) scatter(START, [0, 0]);
  controls();
  makePanels();
  if (setup.streams) watch();
  else ask();
}

begin().catch((error) => trouble(`The page could not begin: ${error.message}`));
