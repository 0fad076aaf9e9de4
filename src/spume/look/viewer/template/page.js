"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const canvas = element("view");
const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
const state = { run: 0, frame: 0, playing: false, shown: -1, yaw: 0, pitch: 0, distance: 1, target: [0, 0, 0],
  angle: Math.PI / 6 };

const VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
layout(location = 2) in float value;
uniform mat4 world, camera;
uniform vec3 lower, extent;
uniform float pointSize, discrete;
uniform sampler2D colors;
uniform vec3 plain;
uniform vec2 look; // opacity and roughness of what is plain
out vec4 tint;
out vec3 facing;
out float roughness;
void main() {
  vec4 at = world * vec4(lower + extent * place, 1.0);
  gl_Position = camera * at;
  gl_PointSize = clamp(pointSize / gl_Position.w, 1.0, 128.0);
  facing = mat3(world) * normal;
  float u = discrete > 0.5 ? (floor(value * 255.0 + 0.5) + 0.5) / 256.0 : value * 255.0 / 256.0 + 0.5 / 256.0;
  tint = plain.x < 0.0 ? texture(colors, vec2(u, 0.25)) : vec4(plain, look.x);
  roughness = plain.x < 0.0 ? texture(colors, vec2(u, 0.75)).r : look.y;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 tint;
in vec3 facing;
in float roughness;
uniform float points;
uniform vec3 lamp, viewer;
out vec4 color;
void main() {
  float light = 1.0, shine = 0.0, opacity = tint.a;
  if (points > 0.5) {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float r = dot(at, at);
    if (r > 1.0) discard;
    light = 0.55 + 0.45 * sqrt(1.0 - r);
    opacity = 1.0;
  } else if (dot(facing, facing) > 0.01) {
    vec3 normal = normalize(facing);
    light = 0.62 + 0.38 * dot(normal, lamp);
    // Blinn's highlight, whose exponent is about 2/α² with α = roughness²; clear bodies reflect more at their rims
    float exponent = min(2.0 / pow(max(roughness, 0.3), 4.0), 120.0);
    shine = 0.6 * (1.0 - roughness) * pow(max(dot(normal, normalize(lamp + viewer)), 0.0), exponent);
    float rim = pow(1.0 - abs(dot(normal, viewer)), 3.0);
    opacity = mix(tint.a, 1.0, 0.7 * rim * step(tint.a, 0.999));
  }
  color = vec4(tint.rgb * light + shine, clamp(opacity + shine, 0.0, 1.0));
}`;

function program() {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  return made;
}

async function bytes(text) {
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Frames are unpacked when they are first shown, and the last few are kept.
const unpacked = new Map();
async function geometry(run, show, number) {
  const key = `${run}/${show}/${number}`;
  if (!unpacked.has(key)) {
    const populations = data.runs[run].shows[show].frames[number];
    unpacked.set(key, await Promise.all(populations.map(async (packed) => ({ packed, raw: await bytes(packed.bytes) }))));
    if (unpacked.size > 120) unpacked.delete(unpacked.keys().next().value);
  }
  return unpacked.get(key);
}

function buffer(target, content) {
  const made = gl.createBuffer();
  gl.bindBuffer(target, made);
  gl.bufferData(target, content, gl.DYNAMIC_DRAW);
  return made;
}

function upload(raw, packed, color) {
  const part = (name) => { const [start, end] = packed.parts[name]; return raw.slice(start, end); };
  const mesh = { vao: gl.createVertexArray(), count: packed.vertices, indexed: 0, buffers: [] };
  gl.bindVertexArray(mesh.vao);
  const attribute = (index, content, size, type, stride) => {
    mesh.buffers.push(buffer(gl.ARRAY_BUFFER, content));
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, size, type, true, stride, 0);
  };
  attribute(0, part("places"), 3, gl.UNSIGNED_SHORT, 8);
  if (packed.parts.normals) attribute(1, part("normals"), 3, gl.BYTE, 4);
  if (color !== null) attribute(2, part("value " + color), 1, gl.UNSIGNED_BYTE, 1);
  if (packed.parts.triangles) {
    const content = part("triangles");
    mesh.indexed = content.byteLength / 4;
    mesh.buffers.push(buffer(gl.ELEMENT_ARRAY_BUFFER, content));
  }
  gl.bindVertexArray(null);
  return mesh;
}

function release(mesh) {
  if (!mesh) return;
  mesh.buffers.forEach((each) => gl.deleteBuffer(each));
  gl.deleteVertexArray(mesh.vao);
}

// Matrices are in column order, as WebGL takes them.
const multiply = (a, b) => Array.from({ length: 16 }, (_, k) => {
  let sum = 0;
  for (let j = 0; j < 4; j++) sum += a[(k % 4) + 4 * j] * b[4 * Math.floor(k / 4) + j];
  return sum;
});
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (a) => a.map((each) => each / Math.hypot(...a));
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

function basis() {
  const up = data.runs[state.run].up;
  const ahead = Math.abs(up[2]) > 0.5 ? [0, -1, 0] : [0, 0, 1];
  const side = cross(up, ahead);
  const [c, s, cp, sp] = [Math.cos(state.yaw), Math.sin(state.yaw), Math.cos(state.pitch), Math.sin(state.pitch)];
  const back = [0, 1, 2].map((k) => cp * (c * ahead[k] + s * side[k]) + sp * up[k]);
  const right = unit(cross(up, back));
  return { right, above: cross(back, right), back };
}

function cameraMatrix(aspect) {
  const { right, above, back } = basis();
  const eye = state.target.map((each, k) => each + state.distance * back[k]);
  const view = [right[0], above[0], back[0], 0, right[1], above[1], back[1], 0, right[2], above[2], back[2], 0,
    -dot(right, eye), -dot(above, eye), -dot(back, eye), 1];
  const f = 1 / Math.tan(state.angle / 2);
  const near = 0.01 * state.distance, far = 40 * state.distance;
  const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) / (near - far), -1, 0, 0, 2 * near * far / (near - far), 0];
  return multiply(lens, view);
}

const shader = program();
const uniform = (name) => gl.getUniformLocation(shader, name);
const places = Object.fromEntries(["world", "camera", "lower", "extent", "pointSize", "discrete", "colors", "plain",
  "look", "points", "lamp", "viewer"].map((name) => [name, uniform(name)]));
let populations = [];
let solids = [];
let ground = null;

// A row of colours with their opacities and one of roughnesses, by the number of a material or a step of a scale.
function texture(colors, looks) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  const rows = new Uint8Array(2 * 256 * 4);
  for (let k = 0; k < 256; k++) {
    const index = Math.min(k, colors.length - 1);
    const { opacity, roughness } = looks ? looks[index] : { opacity: 1, roughness: 1 };
    rows.set([...colors[index], Math.round(255 * opacity)], 4 * k);
    rows.set([Math.round(255 * roughness), 0, 0, 255], 4 * (256 + k));
  }
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE, rows);
  for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, key, gl.NEAREST);
  for (const key of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, key, gl.CLAMP_TO_EDGE);
  return made;
}
const mapTexture = texture(data.map);
let materialTexture = null;

// The camera of the pictures, as angles about the target.
function lookFrom(run) {
  const { eye, target, angle } = run.view;
  const away = eye.map((each, k) => each - target[k]);
  const ahead = Math.abs(run.up[2]) > 0.5 ? [0, -1, 0] : [0, 0, 1];
  state.target = target.slice();
  state.distance = Math.hypot(...away) || 1;
  state.pitch = Math.asin(Math.max(-1, Math.min(1, dot(away, run.up) / state.distance)));
  state.yaw = Math.atan2(dot(away, cross(run.up, ahead)), dot(away, ahead));
  state.angle = (angle * Math.PI) / 180;
}

async function enterRun(index) {
  state.run = index;
  const run = data.runs[index];
  element("title").textContent = run.title;
  const fill = (id, names) => {
    element(id).replaceChildren(...names.map((name) => new Option(name, name)));
  };
  fill("show", Object.keys(run.shows));
  fill("color", run.names);
  fill("plot", Object.keys(run.series).filter((name) => name !== "time"));
  element("frame").max = run.times.length - 1;
  state.frame = Math.min(state.frame, run.times.length - 1);
  state.target = run.lower.map((low, k) => (low + run.upper[k]) / 2);
  state.distance = 2.2 * Math.hypot(...run.lower.map((low, k) => run.upper[k] - low)) + 1e-9;
  state.yaw = 0;
  state.pitch = 0;
  state.angle = Math.PI / 6;
  if (run.view) lookFrom(run);
  materialTexture = texture(run.colors, run.looks);
  solids.forEach((each) => release(each.mesh));
  solids = [];
  for (const solid of run.solids) solids.push({ mesh: upload(await bytes(solid.bytes), solid, null), solid });
  release(ground);
  ground = run.ground ? upload(await bytes(run.ground.bytes), run.ground, null) : null;
  await showFrame();
  drawChart();
}

async function showFrame() {
  const run = data.runs[state.run];
  const show = element("show").value;
  const color = element("color").value;
  const unpackedFrame = await geometry(state.run, show, state.frame);
  populations.forEach(release);
  populations = unpackedFrame.map(({ raw, packed }) => {
    // A population without the quantity keeps the colours of its materials, or a plain one.
    const own = [color, "material"].find((name) => packed.parts["value " + name]) ?? null;
    return { ...upload(raw, packed, own), packed, own };
  });
  state.shown = state.frame;
  element("frame").value = state.frame;
  element("time").textContent = `frame ${run.numbers[state.frame]}, t = ${run.times[state.frame].toFixed(3)} s`;
  const [low, high] = run.limits[color];
  element("limits").textContent = color === "material" ? run.materials.join(", ") : `${low.toPrecision(3)} to ${high.toPrecision(3)}`;
  drawBar(color === "material" ? run.colors : data.map);
  draw();
}

function drawPart(mesh, packed, world, options) {
  gl.uniformMatrix4fv(places.world, false, world);
  gl.uniform3fv(places.lower, packed.lower);
  gl.uniform3fv(places.extent, packed.extent);
  gl.uniform3fv(places.plain, options.plain);
  gl.uniform2f(places.look, options.opacity ?? 1, options.roughness ?? 1);
  gl.uniform1f(places.points, mesh.indexed ? 0 : 1);
  gl.bindVertexArray(mesh.vao);
  const once = () => {
    if (mesh.indexed) gl.drawElements(gl.TRIANGLES, mesh.indexed, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(gl.POINTS, 0, mesh.count);
  };
  if (options.clear && mesh.indexed) { // the nearest layer alone: first its depth, then its colour
    gl.colorMask(false, false, false, false);
    once();
    gl.colorMask(true, true, true, true);
    gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
  }
  once();
  gl.disable(gl.BLEND);
  gl.depthFunc(gl.LESS);
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.max(1, canvas.clientWidth * ratio), Math.max(1, canvas.clientHeight * ratio)];
  if (canvas.width !== Math.round(width) || canvas.height !== Math.round(height)) {
    canvas.width = Math.round(width);
    canvas.height = Math.round(height);
  }
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(0.722, 0.761, 0.796, 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST);
  if (!populations.length) return;
  const run = data.runs[state.run];
  gl.useProgram(shader);
  gl.uniformMatrix4fv(places.camera, false, cameraMatrix(canvas.width / canvas.height));
  const { right, above, back } = basis();
  gl.uniform3fv(places.lamp, unit([0, 1, 2].map((k) => run.up[k] + 0.5 * back[k] - 0.5 * right[k])));
  gl.uniform3fv(places.viewer, back);
  const isClear = (each) => each.own === "material" && run.looks.some((look) => look.opacity < 1);
  const parts = [];
  for (const each of populations) {
    const material = each.own === "material";
    const own = each.packed.plain ?? run.colors[0].map((part) => part / 255);
    const plain = each.own === null ? own : [-1, 0, 0];
    parts.push({ mesh: each, packed: each.packed, world: IDENTITY, plain, material, clear: isClear(each) });
  }
  if (element("obstacles").checked) {
    for (const { mesh, solid } of solids) {
      const { color, opacity, roughness } = solid;
      parts.push({ mesh, packed: solid, world: solid.places[state.frame], plain: color, opacity, roughness, clear: opacity < 1 });
    }
    if (ground) parts.push({ mesh: ground, packed: run.ground, world: IDENTITY, plain: run.ground.color, clear: false });
  }
  parts.sort((one, two) => one.clear - two.clear); // what is clear is drawn over what is behind it
  for (const part of parts) {
    const size = (part.packed.pointSize ?? 0) * element("size").value;
    gl.uniform1f(places.pointSize, size * canvas.height / Math.tan(state.angle / 2) / 2);
    gl.uniform1f(places.discrete, part.material ? 1 : 0);
    gl.bindTexture(gl.TEXTURE_2D, part.material ? materialTexture : mapTexture);
    drawPart(part.mesh, part.packed, part.world, part);
  }
  gl.bindVertexArray(null);
}

function drawBar(colors) {
  const pen = element("bar").getContext("2d");
  const [width, height] = [pen.canvas.width, pen.canvas.height];
  colors.forEach((color, k) => {
    pen.fillStyle = `rgb(${color})`;
    pen.fillRect(k * width / colors.length, 0, width / colors.length + 1, height);
  });
}

function drawChart() {
  const run = data.runs[state.run];
  const pen = element("chart").getContext("2d");
  const { width, height } = pen.canvas;
  pen.clearRect(0, 0, width, height);
  const values = run.series[element("plot").value];
  if (!values) return;
  const numbers = values.filter((each) => each !== null);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const times = run.series.time;
  const [first, last] = [times[0], times[times.length - 1]];
  const x = (time) => 8 + (width - 16) * (last > first ? (time - first) / (last - first) : 0.5);
  const y = (value) => height - 24 - (height - 52) * (high > low ? (value - low) / (high - low) : 0.5);
  pen.strokeStyle = "#3a6ea5";
  pen.lineWidth = 3;
  pen.beginPath();
  times.forEach((time, k) => { if (values[k] !== null) pen.lineTo(x(time), y(values[k])); });
  pen.stroke();
  pen.strokeStyle = "#c0504d";
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x(run.times[state.frame]), 20);
  pen.lineTo(x(run.times[state.frame]), height - 20);
  pen.stroke();
  pen.fillStyle = "#20262e";
  pen.font = "20px system-ui, sans-serif";
  pen.fillText(high.toPrecision(4), 8, 18);
  pen.fillText(low.toPrecision(4), 8, height - 4);
}

async function goTo(number) {
  const count = data.runs[state.run].times.length;
  state.frame = (number + count) % count;
  await showFrame();
  drawChart();
}

function setPlaying(on) {
  state.playing = on;
  element("play").textContent = on ? "Pause" : "Play";
  if (on) advance();
}

async function advance() {
  if (!state.playing) return;
  const began = performance.now();
  await goTo(state.frame + 1);
  const wait = 1000 / data.runs[state.run].rate - (performance.now() - began);
  setTimeout(advance, Math.max(0, wait));
}

element("run").append(...data.runs.map((run, k) => new Option(run.name, k)));
element("run-row").hidden = data.runs.length < 2;
element("run").addEventListener("change", (event) => enterRun(Number(event.target.value)));
element("play").addEventListener("click", () => setPlaying(!state.playing));
element("frame").addEventListener("input", (event) => goTo(Number(event.target.value)));
for (const id of ["show", "color"]) element(id).addEventListener("change", showFrame);
for (const id of ["size", "obstacles"]) element(id).addEventListener("input", draw);
element("plot").addEventListener("change", drawChart);
window.addEventListener("resize", draw);
window.addEventListener("keydown", (event) => {
  if (event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
  if (event.key === " ") { setPlaying(!state.playing); event.preventDefault(); }
  if (event.key === "ArrowRight") goTo(state.frame + 1);
  if (event.key === "ArrowLeft") goTo(state.frame - 1);
});
canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
canvas.addEventListener("pointermove", (event) => {
  if (!event.buttons) return;
  if (event.shiftKey || event.buttons === 2 || data.runs[state.run].flat) {
    const { right, above } = basis();
    const scale = 2 * state.distance * Math.tan(state.angle / 2) / canvas.clientHeight;
    state.target = state.target.map((each, k) => each - scale * (event.movementX * right[k] - event.movementY * above[k]));
  } else {
    state.yaw -= 0.008 * event.movementX;
    state.pitch = Math.max(-1.5, Math.min(1.5, state.pitch + 0.008 * event.movementY));
  }
  draw();
});
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("wheel", (event) => {
  state.distance *= Math.exp(0.001 * event.deltaY);
  event.preventDefault();
  draw();
}, { passive: false });
enterRun(0).then(() => { document.body.dataset.ready = "yes"; });
